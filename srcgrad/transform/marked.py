"""Loops that are marked, by ``srcgrad.checkpointed``, as such of which few states are kept.

Enters: a function in normal form, or a statement.  Leaves: the numbers that a mark gives, or the same without marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import walk
from srcgrad.ir.normal_form import Block, Break, Effect, For, Function, If, Statement, While, With
from srcgrad.syntax.globals import GlobalReference


def has_marks(function: Function) -> bool:
    """Whether a function has loops of which few states are to be kept."""
    return any(mark(statement) is not None for statement in walk(function.body))


def unmarked(function: Function) -> Function:
    """The function without marks."""
    return replace(function, body=_without_marks(function.body)) if has_marks(function) else function


def mark(statement: Statement) -> list[gast.expr] | None:
    """The numbers of snapshots and of recorded passes that a mark gives; None of another statement."""
    match statement:
        case Effect(statement=gast.Expr(value=gast.Call(func=GlobalReference() as function, args=given))):
            return given if function.binding.value is runtime.keeping else None
    return None


def numbers_of(loop: For | While) -> list[gast.expr] | None:
    return next((given for s in loop.body.statements if (given := mark(s)) is not None), None)


def _without_marks(block: Block) -> Block:
    """A block without the marks of the loops in it."""
    made = [rebuilt(s, _without_marks) for s in block.statements if mark(s) is None]
    return Block(tuple(made))


def rebuilt(statement: Statement, of: Callable[[Block], Block]) -> Statement:
    match statement:
        case If():
            return replace(statement, body=of(statement.body), orelse=of(statement.orelse))
        case For() | While() | With():
            return replace(statement, body=of(statement.body))
    return statement


def breaks(block: Block) -> Iterator[Break]:
    """The breaks that leave the loop of which this is the body."""
    for statement in block.statements:
        match statement:
            case Break():
                yield statement
            case If(body=body, orelse=orelse):
                yield from breaks(body)
                yield from breaks(orelse)
            case With(body=body):
                yield from breaks(body)
