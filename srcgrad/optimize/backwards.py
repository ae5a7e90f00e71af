"""Go backwards over a tape of numbers, where taking off one item after the other does no more.

    tape = []                                 tape = []
    for _ in range(n):                        for _ in range(n):
        tape.append(s)                            tape.append(s)
        s = s * x                       →         s = s * x
    for _2 in reversed(range(n)):             for s in reversed(tape):
        s = tape.pop()                            x_bar = x_bar + s_bar * s
        x_bar = x_bar + s_bar * s                 s_bar = s_bar * x
        s_bar = s_bar * x

Two calls a pass are what a loop over numbers is slow by.  Of a tape of arrays items are taken off, so that each is let
go of as soon as it was read, and so they are where loops lie in loops, of which one pass reads a part of the tape.
"""

from __future__ import annotations

import gast

from srcgrad.optimize.scan import COMPOUND, blocks_below
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read, same_tree, walk


def read_backwards(function: gast.FunctionDef, numbers: frozenset[str]) -> None:
    """Change the loops of a function in place."""
    for position, statement in enumerate(function.body):
        if isinstance(statement, gast.For) and (taken := _taken(statement)) is not None:
            tape, target = taken
            before, after = function.body[:position], function.body[position + 1 :]
            if _is_filled(tape, statement, before, numbers) and _is_idle(statement, after):
                if sum(name == tape for name in _names(function)) == 3:  # where it is made, filled and taken from
                    statement.target, statement.iter.args = target, [gast.Name(tape, gast.Load(), None, None)]
                    del statement.body[0]


def _taken(loop: gast.For) -> tuple[str, gast.expr] | None:
    """The tape from which each pass of a reversed loop takes an item first, and what the item is bound to."""
    match loop.iter, loop.body:
        case gast.Call(func=GlobalReference() as called, args=[gast.Call()]), [
            gast.Assign(targets=[target], value=gast.Call(func=gast.Attribute(attr="pop") as taking, args=[])), _, *_,
        ] if called.binding.value is reversed and isinstance(taking.value, gast.Name):  # fmt: skip
            return taking.value.id, target
    return None


def _is_filled(tape: str, loop: gast.For, before: list[gast.stmt], numbers: frozenset[str]) -> bool:
    """Whether the tape begins empty, and gets numbers in each pass of a loop that goes as often and that nothing
    leaves."""
    made = [s for s in before if tape in _names(s)]
    match made:
        case [gast.Assign(targets=[gast.Name()], value=gast.List(elts=[])), gast.For() as filling]:
            pass
        case _:
            return False
    passes = loop.iter.args[0]
    changed = {name for s in before[before.index(filling) :] for name in _bound(s)}
    if not same_tree(filling.iter, passes) or changed & set(names_read(passes)) or filling.orelse:
        return False
    if any(isinstance(s, gast.Break | gast.Continue | gast.Return) for s in _below(filling)):
        return False
    for statement in filling.body:
        match statement.value if isinstance(statement, gast.Expr) else None:
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="append"), args=[item]) if name == tape:
                parts = item.elts if isinstance(item, gast.Tuple) else [item]
                return all(isinstance(part, gast.Name) and part.id in numbers for part in parts)
    return False


def _is_idle(loop: gast.For, after: list[gast.stmt]) -> bool:
    """Whether nobody reads the number of the pass."""
    bound = names_read(*loop.body, *after)
    return isinstance(loop.target, gast.Name) and loop.target.id not in bound and not loop.orelse


def _below(statement: gast.stmt) -> list[gast.stmt]:
    found: list[gast.stmt] = []
    pending = blocks_below(statement)
    while pending:
        for inner in pending.pop():
            found.append(inner)
            if isinstance(inner, COMPOUND):
                pending += blocks_below(inner)
    return found


def _bound(statement: gast.stmt) -> set[str]:
    return {n.id for n in walk(statement) if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}


def _names(node: gast.AST) -> list[str]:
    return [n.id for n in walk(node) if isinstance(n, gast.Name) and not isinstance(n, GlobalReference)]
