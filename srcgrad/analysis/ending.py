"""Calls that are refused, where not every run comes to them: the refusal is raised there.

Enters: a normal form, and the refusal of a statement, if it is refused.  Leaves: the same, which ends where such a
statement stands under a test, or behind one that may return::

    if is_sparse:                       if is_sparse:
        return solve(A, x)      ->          raise RefusedMode("...")
    return np.sum(x)                    return np.sum(x)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.errors import MissingRule, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Bind,
    Block,
    Effect,
    For,
    Function,
    If,
    Return,
    Statement,
    While,
    With,
)
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.syntax.globals import of_runtime, reference

Refusal = UnsupportedSyntax | MissingRule
RefusalOf = Callable[[Statement], Refusal | None]


def ended(function: Function, refusal_of: RefusalOf) -> Function:
    """The function, with a ``raise`` in the place of such calls."""
    body = _block(function.body, refusal_of, is_conditional=False)
    if body is function.body:
        return function
    if not isinstance(body.statements[-1], Return):
        body = Block((*body.statements, Return(gast.Constant(None, None), function.span)))
    return replace(function, body=body)


def _block(block: Block, refusal_of: RefusalOf, *, is_conditional: bool) -> Block:
    made: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Bind() if is_conditional and (refusal := refusal_of(statement)) is not None:
                return Block((*made, _raising(refusal, statement)))
            case If(body=body, orelse=orelse):
                first, second = (_block(each, refusal_of, is_conditional=True) for each in (body, orelse))
                is_same = first is body and second is orelse
                made.append(statement if is_same else replace(statement, body=first, orelse=second))
                is_conditional = is_conditional or any(isinstance(inner, Return) for inner in walk(Block((statement,))))
            case For(body=body) | While(body=body) | With(body=body):
                inner_block = _block(body, refusal_of, is_conditional=is_conditional)
                made.append(statement if inner_block is body else replace(statement, body=inner_block))
            case _:
                made.append(statement)
    return block if tuple(made) == block.statements else Block(tuple(made))


def _raising(refusal: Refusal, statement: Bind) -> Effect:
    given = [gast.Constant(text, None) for text in (refusal.code, refusal.reason, refusal.hint) if text is not None]
    error = gast.Call(reference(of_runtime(RefusedMode)), given, [])
    return Effect(gast.Raise(error, None), statement.span)
