"""What runs in some calls only: what stands under a test that is not decided, or behind one that may return."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import gast

from srcgrad.infer.values import At, Value
from srcgrad.ir.regions import Block, If, Return, Statement, blocks_of

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


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


def truth_of_tuple(made: Reduced, value: Value) -> bool | None:
    """Whether a tuple holds anything; None of what may be something else, or of any length."""
    found: set[bool] = set()
    for atom in value.atoms:
        contents = made.facts.contents.get(atom.site) if isinstance(atom, At) and atom.site.kind is tuple else None
        if contents is None or contents.parts is None:
            return None
        found.add(bool(contents.parts))
    return found.pop() if len(found) == 1 and not value.is_any else None
