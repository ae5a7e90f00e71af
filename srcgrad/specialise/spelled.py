"""Operations that are spelled as the methods that do them, of arrays and containers.

Enters: a call of the IR.  Leaves: the operation::

    q.__setitem__(0, v)        q[0] = v
    return q.__imul__(v)       q *= v; return q
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from srcgrad.infer.values import Array, At, Bound, Value, are_numbers
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal
from srcgrad.ir.regions import Assign
from srcgrad.language.operators import IN_PLACE_METHODS

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def operated(made: Reduced, statement: Assign) -> Assign | None:
    """The operation that a call of a method stands for; None of other calls."""
    call = statement.operation
    if not isinstance(call, ir.Call) or call.star is not None or call.rest is not None or call.keywords:
        return None
    read, value = made.origins.get(call.function), made.value(call.function)
    bounds = [atom for atom in value.atoms if isinstance(atom, Bound) and atom.function is None]
    if not isinstance(read, ir.GetAttribute) or value.is_any or not bounds or len(bounds) < len(value.atoms):
        return None
    base = made.known.get(read.base, read.base)
    match read.name, [made.known.get(operand, operand) for operand in call.positional]:
        case "__setitem__", [index, stored] if all(_has_items(each.receiver) for each in bounds):
            made.known[statement.targets[0]] = Literal(None)
            return Assign((), ir.SetItem(base, index, stored), statement.node)
        case name, [other] if name in IN_PLACE_METHODS and all(_is_array(each.receiver) for each in bounds):
            if are_numbers(made.value(other)):  # others may have a method of their own, which the operator tries
                operation = ir.Operator(IN_PLACE_METHODS[name], (base, other), in_place=True)
                return Assign(statement.targets, operation, statement.node)
    return None


def _is_array(value: Value) -> bool:
    return not value.is_any and all(isinstance(atom, Array) and atom.number is not None for atom in value.atoms)


def _has_items(value: Value) -> bool:
    return not value.is_any and all(
        isinstance(a, Array) and a.number is not None or isinstance(a, At) and a.site.kind in (list, dict, deque)
        for a in value.atoms
    )  # fmt: skip
