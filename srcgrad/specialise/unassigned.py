"""Reads of variables that may have no value: Python raises, though what is known of them stands in their place.

Enters: a statement of the IR that is being reduced.  Leaves: statements in front of it::

    s2 = bound(s, 's')        ->        t = bound(s, 's');  require_assigned(t)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gast

from srcgrad import runtime
from srcgrad.frontend.unassigned import place_of
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal
from srcgrad.ir.regions import Assign
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reducing import Reduced


def looks(made: Reduced, statement: Assign) -> list[Assign]:
    """The read of a variable by itself, if it may have no value."""
    match statement.operation:
        case ir.ReadCell(cell=cell) if place_of(statement.node) in made.frame.unassigned.places:
            operation: ir.Operation = ir.ReadCell(made.frame.cells.get(cell, cell))
        case ir.Bound() if not isinstance(getattr(statement.node, "ctx", None), gast.Del):
            operation = statement.operation
        case _:
            return []
    value = made.value(statement.targets[0])
    read, nothing = made.version("t", value), made.version("t", value)
    look = ir.Call(Literal(Spelled(reference(of_runtime(runtime.require_assigned)), runtime.require_assigned)), (read,))
    return [replace(statement, targets=(read,), operation=operation), Assign((nothing,), look, statement.node)]


def refuse_early_calls(made: Reduced) -> None:
    """Refuse a function that may be called before the variables that it captures have values."""
    for name, function in made.frame.unassigned.through.items():
        made.refuse(made.frame.function.node, f"{name!r}, which {function!r} may read before it has a value,")
