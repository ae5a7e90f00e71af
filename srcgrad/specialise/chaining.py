"""Iterators over several others, one behind the other or side by side to the longest.

Enters: the iterators.  Leaves: a ``Kept``, which asks those that are not at their end::

    it = itertools.chain(y, z)         part = 0;  place = 0;  place2 = 0
    s = next(it)                       if part == 0:
                                           if place < len(y): item = y[place];  place = place + 1;  found = True
                               ->          else: part = 1
                                       if part == 1: ...
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.infer.values import of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.specialise.places import Found, Kept, iterators_of, tuple_of_parts, tuple_value

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: What makes an iterator of others, of which the models would need to keep several in a list.
CHAINING = (itertools.chain, itertools.chain.from_iterable, itertools.zip_longest)


def of_several(made: Reduced, function: Any, call: ir.Call, node: gast.AST) -> Found | None:
    named = dict(call.keywords)
    given = call.positional
    if function == itertools.chain.from_iterable and len(given) == 1 and not named:
        shown = given[0] if isinstance(given[0], Version) and given[0].variable is None else None
        is_alone = shown is not None and made.uses[shown] == 1  # so that nothing changes it
        function, given = itertools.chain, made.displays.get(given[0], ()) if is_alone else ()
    if named.keys() - {"fillvalue"} or named and function is itertools.chain or not given:
        return None
    several = iterators_of(made, given, node)
    if several is None:
        return None
    begun, parts = several
    first, kept = (
        _chained(made, parts, node) if function is itertools.chain
        else _longest(made, parts, named.get("fillvalue", Literal(None)), node)
    )  # fmt: skip
    return [*begun, *first], kept


def _chained(made: Reduced, parts: list[Kept], node: gast.AST) -> Found:
    """One behind the other: what has come to its end is not asked again."""
    part, item, found = made.new_cell("part"), made.new_cell("item"), made.new_cell("found")
    value = union(*(one.item for one in parts))

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        statements: list[Statement] = [Assign((), ir.WriteCell(found, Literal(False)), at_)]
        for number, one in enumerate(parts):
            here, is_here, given = made.version("t", of(int)), made.version("t", of(bool)), made.version("t", one.item)
            asking, more = one.asked(at_)
            taken = [*one.taken(at_, given), *_written((item, given), (found, Literal(True)), at=at_)]
            ended = [*one.ended(at_), *_written((part, Literal(number + 1)), at=at_)]
            turn = If((), more, Block(tuple(taken), Fall()), Block(tuple(ended), Fall()), at_)
            statements += [
                Assign((here,), ir.ReadCell(part), at_),
                Assign((is_here,), ir.Compare("==", here, Literal(number)), at_),
                If((), is_here, Block((*asking, turn), Fall()), Block((), Fall()), at_),
            ]
        more = made.version("t", of(bool))
        return [*statements, Assign((more,), ir.ReadCell(found), at_)], more

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        return [Assign((target,), ir.ReadCell(item), at_)]

    runs = any(one.runs for one in parts)
    return _written((part, Literal(0)), at=node), Kept(asked, taken, lambda at_: [], value, runs)


def _longest(made: Reduced, parts: list[Kept], filling: Operand, node: gast.AST) -> Found:
    """Side by side: in place of what has come to its end stands another value."""
    items, going = ([made.new_cell(stem) for _ in parts] for stem in ("part", "going"))
    found = made.new_cell("found")
    values = [union(one.item, made.value(filling)) for one in parts]
    whole = tuple_value(made, node, tuple(values))

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        statements = _written((found, Literal(False)), at=at_)
        for number, one in enumerate(parts):
            is_going, given = made.version("t", of(bool)), made.version("t", one.item)
            asking, more = one.asked(at_)
            taken = [*one.taken(at_, given), *_written((items[number], given), (found, Literal(True)), at=at_)]
            ended = [*one.ended(at_), *_written((going[number], Literal(False)), (items[number], filling), at=at_)]
            turn = If((), more, Block(tuple(taken), Fall()), Block(tuple(ended), Fall()), at_)
            statements += [
                Assign((is_going,), ir.ReadCell(going[number]), at_),
                If((), is_going, Block((*asking, turn), Fall()), Block((), Fall()), at_),
            ]
        more = made.version("t", of(bool))
        return [*statements, Assign((more,), ir.ReadCell(found), at_)], more

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        given = [made.version("t", value) for value in values]
        read: list[Statement] = [
            Assign((one,), ir.ReadCell(cell), at_) for one, cell in zip(given, items, strict=True)
        ]  # fmt: skip
        return [*read, tuple_of_parts(made, target, tuple(given), at_)]

    begun = _written(*((cell, Literal(True)) for cell in going), at=node)
    return begun, Kept(asked, taken, lambda at_: [], whole, any(one.runs for one in parts))


def _written(*pairs: tuple[ir.Cell, Operand], at: gast.AST) -> list[Statement]:
    return [Assign((), ir.WriteCell(cell, held), at) for cell, held in pairs]
