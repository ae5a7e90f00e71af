"""Views whose adjoint is lent by the array that they show: it is added to there, and not to zeros of its own.

Enters: ``Function``, the facts, what has a shadow.  Leaves: the binding of each name that may be *lent*: a view that
the same block reads, by parts of its own or by callees that add to the adjoint that they are given::

    row = w[i]                    row_bar = w_bar[i]
    s = row[0] * row[1]           row_bar[1] += s_bar * row_0
                                  row_bar[0] += s_bar * row_1          instead of  w_bar[i] += row_bar

Nothing else reads or binds such a name, so that its adjoint is never read either, and the array is bound once, so that
the buffer of its adjoint is the same one for as long as the view lasts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import gast

from srcgrad.analysis.activity import inputs
from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.analysis.regions import is_view
from srcgrad.ir.normal_form import Bind, Block, Break, Call, Continue, Function, Index, Return, Statement
from srcgrad.ir.renaming import mentioned
from srcgrad.rules.facts import UNKNOWN, Array, Fact, is_floating, same_dtype


@dataclass(frozen=True, eq=False)
class Lent:
    """A view, and where it is bound."""

    statement: Bind
    base: str
    index: gast.expr
    block: Block
    position: int


def lent_by_bases(function: Function, facts: Mapping[str, Fact], without: Container[str]) -> dict[str, Lent]:
    """The views of which the adjoint may be lent; ``without``: names whose adjoint is another thing."""
    bindings: dict[str, int] = dict.fromkeys(function.parameters, 1)
    for statement in walk(function.body):
        for name in bound_here(statement):
            bindings[name] = bindings.get(name, 0) + 1
    found: dict[str, Lent] = {}
    for block in _blocks(function.body):
        for position, statement in enumerate(block.statements):
            match statement:
                case Bind(target=target, operation=Index(base=base, index=index)) if target != base:
                    once = bindings[target] == 1 and bindings.get(base) == 1
                    if once and target not in without and base not in without and _shows(base, index, target, facts):
                        found[target] = Lent(statement, base, index, block, position)
    if not found:
        return {}
    readers = _readers(function, found)
    return {name: each for name, each in found.items() if _is_read_apart(name, each, readers[name], facts)}


def _blocks(body: Block) -> list[Block]:
    return [body, *(block for statement in walk(body) for block in blocks_of(statement))]


def _shows(base: str, index: gast.expr, target: str, facts: Mapping[str, Fact]) -> bool:
    """Whether a name is surely a view, with axes, of an array whose adjoint is of its dtype."""
    whole, part = facts.get(base, UNKNOWN), facts.get(target, UNKNOWN)
    if not isinstance(whole, Array) or not isinstance(part, Array) or part.scalar or not part.shape:
        return False
    is_alike = is_floating(whole.dtype) and same_dtype(whole, part)
    return is_alike and is_view(whole, index, lambda name: facts.get(name, UNKNOWN))


def _readers(function: Function, names: Container[str]) -> dict[str, list[Statement]]:
    readers: dict[str, list[Statement]] = {}
    for statement in walk(function.body):
        for name in mentioned(statement):
            if name in names and name not in bound_here(statement):
                readers.setdefault(name, []).append(statement)
    return {name: readers.get(name, []) for name in names}  # type: ignore[attr-defined]


def _is_read_apart(name: str, lent: Lent, readers: list[Statement], facts: Mapping[str, Fact]) -> bool:
    """Whether all that reads a view stands behind it in its block, with no way out between, and takes parts of it."""
    following = lent.block.statements[lent.position + 1 :]
    places = [following.index(each) if each in following else -1 for each in readers]
    if not places or min(places) < 0:
        return False
    between = [s for each in following[: max(places) + 1] for s in (each, *_inside(each))]
    if any(isinstance(s, Return | Break | Continue) for s in between):
        return False
    return all(_takes_parts(name, each, facts) for each in readers)


def _inside(statement: Statement) -> list[Statement]:
    return [s for block in blocks_of(statement) for s in walk(block)]


def _takes_parts(name: str, reader: Statement, facts: Mapping[str, Fact]) -> bool:
    match reader:
        case Bind(operation=Index(base=base, index=index)):
            return base == name and name not in mentioned(index)
        case Bind(operation=Call()):
            return name in inputs(reader)
    return False
