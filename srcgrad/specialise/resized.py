"""Loops over lists that may become longer or shorter meanwhile: which ones these are.

Enters: what makes an iterator.  Leaves: whether the loop over it may change how many items there are.  Such an iterator
is kept, so that the length is asked for in each round::

    for v in items:                                   place = 0
        if len(items) < 5:                            while place < len(items):
            items.append(v * y)        ->                 v = items[place];  place = place + 1
                                                          if len(items) < 5: items.append(v * y)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from srcgrad.infer.data import is_data
from srcgrad.infer.heap import sites_of
from srcgrad.infer.values import NEVER, At, Bound, Of, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Block, Loop, Statement, operands_of, parts_of, walk
from srcgrad.language.effects import of_function, resizing
from srcgrad.specialise.instances import static_of

if TYPE_CHECKING:
    from srcgrad.infer.heap import Site
    from srcgrad.infer.summaries import Summary
    from srcgrad.specialise.reduced import Reduced


def is_resized(made: Reduced, block: Block, version: Version, sources: tuple[Operand, ...]) -> bool:
    """Whether a loop goes over an iterator of these sources, and may change the length of a list among them."""
    sites = {site for source in sources for site in sites_of(made.value(source))}
    lists = {site for site in sites if site.kind is list}
    of_data = any(site.kind is None for site in sites)
    loop = _loop_over(made, block, version) if lists or of_data else None
    return loop is not None and any(
        isinstance(s, Assign) and (_resizes(made, s, lists) or of_data and resizes_data(s, made.value, made.called))
        for _, s in walk(loop.body)
    )  # fmt: skip


def resizes_data(
    statement: Statement, value: Callable[[Operand], Value], called: Mapping[Statement, Sequence[Summary]],
    seen: set[Summary] | None = None,
) -> bool:  # fmt: skip
    """Whether a statement, or what it calls, may change the length of a container of which nothing is said."""
    match getattr(statement, "operation", None):
        case ir.DeleteItem(base=base) if any(map(is_data, value(base).atoms)):
            return True
        case ir.Call(function=function):
            bounds = [a for a in value(function).atoms if isinstance(a, Bound) and a.name in resizing()]
            if any(is_data(atom) for bound in bounds for atom in bound.receiver.atoms):
                return True
    seen = set() if seen is None else seen
    for summary in called.get(statement, ()):
        if summary in seen:
            continue
        seen.add(summary)

        def inner(operand: Operand, values: Mapping[Version, Value] = summary.values) -> Value:
            return values.get(operand, NEVER) if isinstance(operand, Version) else NEVER

        if any(resizes_data(s, inner, summary.calls, seen) for _, s in walk(summary.function.body)):
            return True
    return False


def _loop_over(made: Reduced, block: Block, version: Version) -> Loop | None:
    """The loop that goes over an iterator, or over what is made of it at once."""
    readers = [part for part in parts_of(block) if version in operands_of(part)]
    if len(readers) != 1:
        return None
    for statement in block.statements:
        match statement:
            case Assign(targets=(target,), operation=operation) if operation is readers[0]:
                return _loop_over(made, block, target)
            case Loop() if any(getattr(s, "operation", None) is readers[0] for s in statement.body.statements):
                return statement
    return None


def _resizes(made: Reduced, statement: Assign, lists: set[Site]) -> bool:
    def is_one(operand: Operand) -> bool:
        return not lists.isdisjoint(sites_of(made.value(operand)))

    for summary in made.called.get(statement, ()):
        if summary.returned is not None and any(
            summary.returned[1][site] != summary.heap[site] for site in lists
        ):  # fmt: skip
            return True
    match statement.operation:
        case ir.DeleteItem(base=base):
            return is_one(base)
        case ir.SetItem(base=base, index=index):
            return is_one(base) and not _is_place(made.value(index))
        case ir.Operator(in_place=True, operands=(changed, *_)):
            return is_one(changed)
        case ir.Call(function=function, positional=given, keywords=keywords, star=star, rest=rest):
            for atom in made.value(function).atoms:
                if isinstance(atom, Bound) and atom.name in resizing():
                    return not lists.isdisjoint(sites_of(atom.receiver))
            effect = of_function(static_of(made.value(function)))
            has_star, has_rest = star is not None, rest is not None
            is_spread = (has_star or has_rest) and not made.called.get(statement)
            handed = is_spread or any(map(is_one, (*given, *(operand for _, operand in keywords))))
            updated = effect.updated(len(given), dict(keywords), star=has_star, rest=has_rest)
            return handed and (not effect.is_known or bool(updated))
    return False


def _is_place(value: Value) -> bool:
    return value.consists_of(
        lambda atom: isinstance(atom, Of) and issubclass(atom.kind, int)
        or not isinstance(atom, At) and type(getattr(atom, "value", None)) in (bool, int)
    )  # fmt: skip
