"""What runs in some calls only: what stands under a test, or behind one that may return."""

from __future__ import annotations

from typing import TypeGuard

import gast

from srcgrad.ir.regions import Block, If, Return, Statement, blocks_of


def is_test(statement: Statement) -> TypeGuard[If]:
    """Whether a branch runs in some calls only; the rounds of a loop count as run."""
    loops = gast.For | gast.While | gast.ListComp | gast.SetComp | gast.DictComp | gast.GeneratorExp
    return isinstance(statement, If) and not isinstance(statement.node, loops)


def may_return(statement: If) -> bool:
    """Whether a branch may leave the function with a result."""
    pending: list[Block] = [statement.body, statement.orelse]
    while pending:
        block = pending.pop()
        if isinstance(block.exit, Return):
            return True
        pending += [inner for each in block.statements for inner in blocks_of(each)]
    return False
