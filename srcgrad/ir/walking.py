"""Every statement of a normal form, in the order of the text; the marks of loops over what may change.

Enters: a block.  Leaves: its statements and those inside of them, an outer one before what is in it.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from srcgrad import runtime
from srcgrad.ir.normal_form import Bind, Block, For, If, Statement, While, With
from srcgrad.syntax.globals import GlobalReference


def statements_of(block: Block) -> Iterable[Statement]:
    """Every statement of a block in the order of the text."""
    pending = list(reversed(block.statements))
    while pending:
        statement = pending.pop()
        yield statement
        match statement:
            case If(body=body, orelse=orelse):
                pending += [*reversed(orelse.statements), *reversed(body.statements)]
            case For(body=body) | While(body=body) | With(body=body):
                pending += reversed(body.statements)


def walked(statement: Statement) -> tuple[str, str] | None:
    """What ``walk = followed(container, items)`` marks: that a loop goes over a container, which has these items when
    the loop begins.  ``analysis.lengths`` takes the mark away, or writes it out where the container may change."""
    match statement:
        case Bind(expression=gast.Call(func=GlobalReference(binding=found), args=[container, items])):
            return (container.id, items.id) if found.value is runtime.followed else None
    return None
