"""Every statement of a normal form, in the order of the text.

Enters: a block.  Leaves: its statements and those inside of them, an outer one before what is in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from srcgrad.frontend.normal_form import Block, For, If, Statement, While, With


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
