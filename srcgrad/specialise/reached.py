"""What may run of a function once values have decided its tests: nothing behind a region that never comes to its end.

Enters: reduced statements.  Leaves: those that are reached.  What would be read behind such a region has no value::

    while i < 3:        (which holds)       while True:
        return x * a                ->          return x * a
    return x
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from srcgrad.ir.regions import Assign, Block, Handler, If, Loop, Statement, Try, Unreachable, With
from srcgrad.ir.verifying import ends

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def reached(reduced: Reduced, block: Block) -> Block:
    """A block, and those inside of it, without the statements that are not reached."""
    statements: list[Statement] = []
    for statement in block.statements:
        statements.append(_region(reduced, statement))
        if ends(statements[-1]):
            return Block(tuple(statements), Unreachable())
    return Block(tuple(statements), block.exit)


def _region(reduced: Reduced, statement: Statement) -> Statement:
    def inner(block: Block) -> Block:
        return reached(reduced, block)

    match statement:
        case If(body=body, orelse=orelse):
            return replace(statement, body=inner(body), orelse=inner(orelse))
        case Loop(body=body):
            return replace(statement, body=inner(body))
        case With(body=body):
            return reduced.renewed(statement, replace(statement, body=inner(body)))
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            caught = tuple(_handler(reduced, handler) for handler in handlers)
            return replace(statement, body=inner(body), handlers=caught, orelse=inner(orelse), final=inner(final))
        case Assign():
            return statement


def _handler(reduced: Reduced, handler: Handler) -> Handler:
    kinds = None if handler.kinds is None else reached(reduced, handler.kinds)
    return replace(handler, kinds=kinds, body=reached(reduced, handler.body))
