"""Which values are entered as context managers: where one is, it stands as it was made.

Enters: a function.  Leaves: the operands, those also that are entered by way of ``runtime.tried``::

    with good(log): ...                           the value of  good(log)
    with tried(good(log), (ValueError,)): ...     both
"""

from __future__ import annotations

from srcgrad import runtime
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Function, With, walk
from srcgrad.ir.restoring.tree import Spelled


def entered_in(function: Function) -> tuple[set[Operand], set[Operand]]:
    """The managers that are entered, and what ``tried`` is given, the classes that are caught included."""
    found = {statement.manager for _, statement in walk(function.body) if isinstance(statement, With)}
    given: set[Operand] = set()
    for _, statement in walk(function.body):
        if isinstance(statement, Assign) and not found.isdisjoint(statement.targets):
            match statement.operation:
                case ir.Call(function=Literal(value=Spelled(value=runtime.tried)), positional=operands):
                    given.update(operands)
    return found | given, given
