"""What iterators go over that are kept: how they are asked whether there is one more item, and give it.

Enters: what is iterated.  Leaves: the statements that begin, and a ``Kept``, which writes those of each step::

    it = enumerate(y)                count = 0;  place = 0
    i, v = next(it)        ->        if place < len(y): v = y[place];  place = place + 1;  i = count;  count = count + 1

``zip`` asks one after the other, as Python does: what stands before the one that is at its end has given an item.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.heap import Contents, Site
from srcgrad.infer.values import Array, At, Value, at, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Fall, If, Loop, Statement, Unreachable
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.syntax.globals import builtin, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True, eq=False)
class Kept:
    """An iterator: how it is asked whether there is one more item, how that is taken, what is done at its end."""

    asked: Callable[[gast.AST], tuple[list[Statement], Operand]]
    taken: Callable[[gast.AST, Version], list[Statement]]
    ended: Callable[[gast.AST], list[Statement]]
    item: Value
    runs: bool = False  # whether anything else is done when it is asked: what was given before may change


#: The statements that begin, and the iterator.
Found = tuple[list[Statement], Kept]


def over(made: Reduced, source: Operand, node: gast.AST) -> Found | None:
    """An iterator over what has places, or over a dict or what shows one."""
    value = made.value(source)
    item = item_of(made, value)
    if item is None:
        from srcgrad.specialise.dict_iterators import over_dict  # which is kept as others are

        return over_dict(made, source, node)
    begun, kept = _by_places(made, source, item, node, is_resized=not _is_fixed_in_length(made, value))
    return [*_checked(made, source, value, node), *begun], kept


def _checked(made: Reduced, source: Operand, value: Value, node: gast.AST) -> list[Statement]:
    """The check that data has places, of which nothing else is known."""
    if not any(map(is_data, value.atoms)):
        return []
    place = Literal(made.source_of(made.frame.owner).span(node).origin)
    check = Literal(Spelled(reference(of_runtime(runtime.require_places)), runtime.require_places))
    return [Assign((made.version("t", exact(None)),), ir.Call(check, (source, place)), node)]


def item_of(made: Reduced, value: Value) -> Value | None:
    """What an item of something may be that has places; None of anything else."""
    found = []
    for atom in value.atoms:
        match atom:
            case Array(rank=rank) if rank and atom.number is not None:
                view = Value(frozenset((Array(atom.site, atom.type_string, rank - 1),)))
                found.append(atom.number if rank == 1 else view)
            case At(site=site) if site.kind in (list, tuple) and not made.facts.is_seen(site):
                contents = made.facts.contents.get(site)
                if contents is None:
                    return None
                found.append(contents.items)
            case At(site=site) if site.kind is range:
                found.append(of(int))
            case At(site=site) if site == made.facts.data:
                found.append(union(at(site), Value(frozenset((Array(site),)))))
            case At(site=site) if is_data(atom) and (contents := made.facts.contents.get(site)) is not None:
                found.append(union(contents.items, Value(frozenset((Array(site),)))))
            case _:
                return None
    return None if value.is_any or not found else union(*found)


def _is_fixed_in_length(made: Reduced, value: Value) -> bool:
    return not any(isinstance(a, At) and (a.site.kind is list or is_data(a)) for a in value.atoms)


def _by_places(made: Reduced, source: Operand, item: Value, node: gast.AST, *, is_resized: bool) -> Found:
    place = made.new_cell("place")

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        here, count, more = (made.version("t", of(kind)) for kind in (int, int, bool))
        return [
            Assign((here,), ir.ReadCell(place), at_), Assign((count,), ir.Call(builtin_of(len), (source,)), at_),
            Assign((more,), ir.Compare("<", here, count), at_),
        ], more  # fmt: skip

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        here, again, after = (made.version("t", of(int)) for _ in range(3))
        return [
            Assign((here,), ir.ReadCell(place), at_), Assign((target,), ir.GetItem(source, here), at_),
            *advanced(made, place, at_),
        ]  # fmt: skip

    def ended(at_: gast.AST) -> list[Statement]:
        if not is_resized:
            return []
        return [Assign((), ir.WriteCell(place, Literal(sys.maxsize)), at_)]  # it stays so if the list grows

    return [Assign((), ir.WriteCell(place, Literal(0)), node)], Kept(asked, taken, ended, item)


def advanced(made: Reduced, place: ir.Cell, node: gast.AST) -> list[Statement]:
    before, after = made.version("t", of(int)), made.version("t", of(int))
    return [
        Assign((before,), ir.ReadCell(place), node), Assign((after,), ir.Operator("+", (before, Literal(1))), node),
        Assign((), ir.WriteCell(place, after), node),
    ]  # fmt: skip


def _backwards(made: Reduced, source: Operand, node: gast.AST) -> Found | None:
    """``reversed`` of what has places: a list that has become shorter meanwhile ends it."""
    item = item_of(made, made.value(source))
    if item is None:
        return None
    place = made.new_cell("place")
    count, first = made.version("t", of(int)), made.version("t", of(int))
    begun: list[Statement] = [
        Assign((count,), ir.Call(builtin_of(len), (source,)), node),
        Assign((first,), ir.Operator("-", (count, Literal(1))), node),
        Assign((), ir.WriteCell(place, first), node),
    ]  # fmt: skip

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        here, more = made.version("t", of(int)), made.version("t", of(bool))
        statements: list[Statement] = [Assign((here,), ir.ReadCell(place), at_)]
        return [*statements, Assign((more,), ir.Compare(">=", here, Literal(0)), at_)], more

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        here, after = made.version("t", of(int)), made.version("t", of(int))
        return [
            Assign((here,), ir.ReadCell(place), at_), Assign((target,), ir.GetItem(source, here), at_),
            Assign((after,), ir.Operator("-", (here, Literal(1))), at_), Assign((), ir.WriteCell(place, after), at_),
        ]  # fmt: skip

    return begun, Kept(asked, taken, lambda at_: [], item)


def of_others(made: Reduced, function: Any, call: ir.Call, node: gast.AST) -> Found | None:
    given, named = call.positional, dict(call.keywords)
    if function is reversed:
        return None if len(given) != 1 or named or given[0] in made.kept else _reversed(made, given[0], node)
    if function is enumerate:
        if len(given) > 2 or not named.keys() <= {"start"}:
            return None
        start = given[1] if len(given) == 2 else named.get("start", Literal(0))
        inner = iterator_of(made, given[0], node)
        return None if inner is None else _counted(made, inner, start, node)
    if named:
        return None
    several = iterators_of(made, given, node)
    return None if several is None else (several[0], _zipped(made, several[1], node))


def _reversed(made: Reduced, source: Operand, node: gast.AST) -> Found | None:
    value = made.value(source)
    return _backwards(made, source, node) if _is_fixed_in_length(made, value) else None


def iterators_of(
    made: Reduced, sources: Sequence[Operand], node: gast.AST
) -> tuple[list[Statement], list[Kept]] | None:
    """An iterator over each of several sources, begun in their order; None if one has none."""
    begun, parts = list[Statement](), list[Kept]()
    for source in sources:
        inner = iterator_of(made, source, node)
        if inner is None:
            return None
        begun += inner[0]
        parts.append(inner[1])
    return begun, parts


def iterator_of(made: Reduced, source: Operand, node: gast.AST) -> Found | None:
    """``iter(source)``."""
    return ([], made.kept[source]) if source in made.kept else over(made, source, node)


def _counted(made: Reduced, inner: Found, start: Operand, node: gast.AST) -> Found:
    """``enumerate``."""
    count, source = made.new_cell("count"), inner[1]
    item = tuple_value(made, node, (of(int), source.item))

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        number, part = made.version("t", of(int)), made.version("t", source.item)
        read = [*source.taken(at_, part), Assign((number,), ir.ReadCell(count), at_), *advanced(made, count, at_)]
        return [*read, tuple_of_parts(made, target, (number, part), at_)]

    begun = [*inner[0], Assign((), ir.WriteCell(count, start), node)]
    return begun, Kept(source.asked, taken, source.ended, item, source.runs)


def _zipped(made: Reduced, parts: Sequence[Kept], node: gast.AST) -> Kept:
    """``zip``: one is asked after the other, and those before the one that is at its end have given an item."""
    cells = [made.new_cell("part") for _ in parts[1:]]
    item = tuple_value(made, node, tuple(part.item for part in parts))

    def asked_from(number: int, at_: gast.AST) -> tuple[list[Statement], Operand]:
        part = parts[number]
        statements, more = part.asked(at_)
        if number == len(parts) - 1:  # which has come to its end where it was asked, and not where another one has
            return [*statements, If((), more, Block((), Fall()), Block(tuple(part.ended(at_)), Fall()), at_)], more
        given, is_whole = made.version("t", part.item), made.version("t", of(bool))
        others, last = asked_from(number + 1, at_)
        kept = Assign((), ir.WriteCell(cells[number], given), at_)
        body = Block((*part.taken(at_, given), kept, *others), Fall((last,)))
        orelse = Block(tuple(part.ended(at_)), Fall((Literal(False),)))
        return [*statements, If((is_whole,), more, body, orelse, at_)], is_whole

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        given = [made.version("t", part.item) for part in parts]
        read: list[Statement] = list(parts[-1].taken(at_, given[-1]))
        read += [Assign((one,), ir.ReadCell(cell), at_) for one, cell in zip(given, cells, strict=False)]
        return [*read, tuple_of_parts(made, target, tuple(given), at_)]

    return Kept(lambda at_: asked_from(0, at_), taken, lambda at_: [], item, any(part.runs for part in parts))


def tuple_value(made: Reduced, node: gast.AST, parts: tuple[Value, ...]) -> Value:
    """The value of a tuple that is made here."""
    site = Site(tuple, (node, made.namer.fresh("items")), made.frame.summaries[0].context)
    made.facts.contents[site] = Contents(single=False, parts=parts)
    return at(site)


def tuple_of_parts(made: Reduced, target: Version, parts: tuple[Operand, ...], node: gast.AST) -> Assign:
    made.displays[target] = parts
    if target.variable is None:
        made.tuples[target] = parts
    return Assign((target,), ir.Make("tuple", parts), node)


def builtin_of(function: Any) -> Literal:
    return Literal(Spelled(reference(builtin(function.__name__)), function))


def each(
    made: Reduced, kept: Kept, item: Version, put: list[Statement], node: gast.AST, *, is_over: bool
) -> Statement:
    """A loop over what is left; ``is_over``: which nothing else ends."""
    statements, more = kept.asked(node)
    loop = gast.copy_location(gast.While(gast.Constant(True, None), [], []), node)
    body = Block((*kept.taken(node, item), *put), Continue() if is_over else Unreachable())
    turn = If((), more, body, Block(tuple(kept.ended(node)), Break()), loop)
    return Loop((), (), (), Block((*statements, turn), Unreachable()), loop)
