"""Functions, written out where they are called: a closure cannot stand in the emitted module.

Enters: a function of the IR, the operands of its parameters, the variables that are its cells.  Leaves: its body with
versions of its own, and, once that is reduced, its statements and the operand that holds what it returns::

    inner = lambda v: v * k
    s = inner(x) + 1.0             t = x * k;  s = t + 1.0

A cell of the function is a variable of the function around, one for each time that it is written out.  ``try`` is taken
apart before the body gets its one end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from srcgrad.ir.copied import continued
from srcgrad.ir.operations import Literal, Version
from srcgrad.ir.regions import (
    Block,
    Fall,
    Function,
    If,
    Loop,
    Raise,
    Return,
    Statement,
    Try,
    Unreachable,
    With,
    walk,
)

#: How many statements one may have: what follows a branch that may return is written once for each way to it.
_LARGEST = 100


def is_written_out(function: Function) -> bool:
    """Whether a function can be: its text ends in one place, as far as that is known before ``try`` is taken apart."""
    if function.is_generator or has_attempts(function.body):
        return not function.is_generator
    return with_one_end(function.body, lambda version: version.name) is not None


def has_attempts(body: Block) -> bool:
    """Whether something is done where exceptions leave a part of a block."""
    return any(isinstance(statement, Try | With) for _, statement in walk(body))


def with_one_end(block: Block, name: Callable[[Version], str]) -> Block | None:
    """A block that returns at its end: what follows a branch that returns is done in the other branch."""
    made = _ended(block, name)
    if made is None or not isinstance(made.exit, Return) or _returns_inside(made) or has_attempts(made):
        return None
    grown = sum(1 for _ in walk(made)) - sum(1 for _ in walk(block))
    return None if grown > _LARGEST else made


def _ended(block: Block, name: Callable[[Version], str]) -> Block | None:
    for place, statement in enumerate(block.statements):
        if not isinstance(statement, If) or not any(map(_may_return, _sides(statement))):
            continue
        sides: list[Block] = []
        for side in _sides(statement):
            whole = _ended(continued(side, statement, block, place + 1), name)
            if whole is None:
                return None
            is_end = isinstance(whole.exit, Return)
            sides.append(Block(whole.statements, Fall((whole.exit.value,))) if is_end else whole)  # type: ignore[union-attr]
        result = Version(name(Version("result")), None)
        joined = replace(statement, targets=(result,), body=sides[0], orelse=sides[1])
        return Block((*block.statements[:place], joined), Return(result))
    if isinstance(block.exit, Unreachable):
        return Block(block.statements, Return(Literal(None)))
    return block if isinstance(block.exit, Return | Raise) else None


def _may_return(block: Block) -> bool:
    inner = [side for statement in block.statements if isinstance(statement, If) for side in _sides(statement)]
    return isinstance(block.exit, Return) or any(map(_may_return, inner))


def _returns_inside(body: Block) -> bool:
    pending = [inner for _, s in walk(body) for inner in _sides(s)]
    return any(isinstance(block.exit, Return) for block in pending)


def _sides(statement: Statement) -> Sequence[Block]:
    match statement:
        case If(body=body, orelse=orelse):
            return body, orelse
        case Loop(body=body):
            return (body,)
    return ()
