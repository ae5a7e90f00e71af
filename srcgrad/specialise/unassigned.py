"""Reads of variables that may have no value: Python raises, though facts stand in their place.

Enters: a statement of the IR that is being reduced.  Leaves: statements in front of it::

    s2 = bound(s, 's')        ->        t = bound(s, 's');  require_assigned(t)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from srcgrad import runtime
from srcgrad.frontend.unassigned import place_of
from srcgrad.infer.values import exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal
from srcgrad.ir.regions import Assign
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def looks(made: Reduced, statement: Assign) -> list[Assign]:
    """The read of a variable by itself, if it may have no value."""
    operation: Any = statement.operation
    if isinstance(operation, ir.ReadGlobal):
        made.require_global(operation.name, statement.node)
    if not _may_have_no_value(made, statement) or isinstance(getattr(statement.node, "ctx", None), gast.Del):
        return []
    if made.source_of(made.owner).generated:  # which reads a variable under the test that it was bound under
        return []
    if not made.value(statement.targets[0]) or (
        isinstance(operation, ir.Bound) and made.value(operation.source) == exact(ir.UNBOUND)
    ):
        name = operation.variable if isinstance(operation, ir.Bound) else operation.cell.variable
        made.refuse(statement.node, f"{name!r}, which has no value here,")  # its name would have none
    if isinstance(operation, ir.ReadCell):
        operation = ir.ReadCell(made.frame.cells.get(operation.cell, operation.cell))
    value = made.value(statement.targets[0])
    read, nothing = made.version("t", value), made.version("t", value)
    look = ir.Call(Literal(Spelled(reference(of_runtime(runtime.require_assigned)), runtime.require_assigned)), (read,))
    return [replace(statement, targets=(read,), operation=operation), Assign((nothing,), look, statement.node)]


def _may_have_no_value(made: Reduced, statement: Assign) -> bool:
    if isinstance(statement.operation, ir.ReadCell):
        return place_of(statement.node) in made.frame.unassigned.places
    return isinstance(statement.operation, ir.Bound)


def is_look(operation: object) -> bool:
    """Whether an operation looks whether a variable has a value."""
    function = getattr(getattr(operation, "function", None), "value", None)
    return isinstance(function, Spelled) and function.value is runtime.require_assigned


def refuse_unassigned(made: Reduced) -> None:
    """Refuse variables that may have no value where a ``try`` expects that, and functions that may be called before the
    variables that they capture have values."""
    for name, at in made.frame.unassigned.expected.items():
        made.refuse(at, f"{name!r}, which may have no value in this try,")
    for name, function in made.frame.unassigned.through.items():
        made.refuse(made.frame.function.node, f"{name!r}, which {function!r} may read before it has a value,")
