"""Reads of variables that may have no value: Python raises, though facts stand in their place.

Enters: a statement of the IR that is being reduced.  Leaves: statements in front of it::

    s2 = bound(s, 's')        ->        t = bound(s, 's');  require_assigned(t)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast

from srcgrad import runtime
from srcgrad.frontend.unassigned import place_of
from srcgrad.infer.values import exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Break, Continue, Fall, Function, If, Loop, exits_of
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.missing import raising
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
    if isinstance(operation, ir.ReadCell):
        operation = ir.ReadCell(made.frame.cells.get(operation.cell, operation.cell))
    value = made.value(statement.targets[0])
    read, nothing = made.version("t", value), made.version("t", value)
    look = ir.Call(Literal(Spelled(reference(of_runtime(runtime.require_assigned)), runtime.require_assigned)), (read,))
    return [replace(statement, targets=(read,), operation=operation), Assign((nothing,), look, statement.node)]


def never_bound(made: Reduced, statement: Assign) -> Block | None:
    """What Python raises where a variable has no value in any case; None of any other statement."""
    operation: Any = statement.operation
    if not _may_have_no_value(made, statement) or isinstance(getattr(statement.node, "ctx", None), gast.Del):
        return None
    is_own = isinstance(operation, ir.Bound)
    source: Any = made.known.get(operation.source, operation.source) if is_own else None
    is_unbound = is_own and made.value(source) == exact(ir.UNBOUND)
    if made.source_of(made.owner).generated and not (is_unbound and isinstance(source, Literal)):
        return None
    if made.value(statement.targets[0]) and not is_unbound:
        return None
    if is_own or operation.cell in made.frame.function.cells:
        name = operation.variable if is_own else operation.cell.variable
        text = f"cannot access local variable {name!r} where it is not associated with a value"
        return raising(made, statement.node, UnboundLocalError, text)
    name = operation.cell.variable
    text = f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope"
    return raising(made, statement.node, NameError, text)


def unbound_behind(region: If | Loop) -> list[Version]:
    """What has no value behind a branch or a loop, as each way that would bind it is left by a refusal."""
    if isinstance(region, If):
        ended = [side.exit.values for side in (region.body, region.orelse) if isinstance(side.exit, Fall)]
        heads: set[Operand] = set()
    else:
        exits = [*exits_of(region.body)]
        ended = [way.values for way in exits if isinstance(way, Break)]
        again = [way.values for way in exits if isinstance(way, Continue)]
        rounds = zip(region.heads, region.initial, *again, strict=True)
        heads = {head for head, *given in rounds if all(value is head or _is_unbound(value) for value in given)}
    ways = zip(region.targets, *ended, strict=True) if ended else ()
    return [target for target, *given in ways if all(value in heads or _is_unbound(value) for value in given)]


def _is_unbound(value: Operand) -> bool:
    return isinstance(value, Literal) and value.value is ir.UNBOUND


def _may_have_no_value(made: Reduced, statement: Assign) -> bool:
    if isinstance(statement.operation, ir.ReadCell):
        cell = made.frame.cells.get(statement.operation.cell, statement.operation.cell)
        return cell in made.unassigned or place_of(statement.node) in made.frame.unassigned.places
    return isinstance(statement.operation, ir.Bound)


def is_look(operation: object) -> bool:
    """Whether an operation looks whether a variable has a value."""
    function = getattr(getattr(operation, "function", None), "value", None)
    return isinstance(function, Spelled) and function.value is runtime.require_assigned


def refuse_unassigned(made: Reduced) -> None:
    """Refuse variables that may have no value where a ``try`` expects that; note those that functions capture which
    may be called before they have values."""
    for name, at in made.frame.unassigned.expected.items():
        made.refuse("E0114", at, f"{name!r}, which may have no value in this try,")
    for cell in made.frame.function.cells:
        if cell.variable in made.frame.unassigned.through:
            made.unassigned.add(made.frame.cells.get(cell, cell))


def refuse_handed_over(made: Reduced, function: Function, cells: Iterable[ir.Cell]) -> None:
    """Refuse to hand a variable that may have no value to a function, which need not read it."""
    for cell in cells:
        if cell in made.unassigned:
            name = function.name
            made.refuse("E0114", function.node, f"{cell.variable!r}, which {name!r} may read before it has a value,")
