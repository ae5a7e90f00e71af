"""Whether a statement of the IR only computes, so that what stands before it reads the same behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from srcgrad.infer.objects import is_only_data
from srcgrad.infer.values import Bound
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal
from srcgrad.ir.regions import Assign
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.effects import Effect, method, of_function
from srcgrad.rules.table import lookup
from srcgrad.specialise.instances import static_of

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: Functions without a derivative, of which others set what all of NumPy obeys.
_DESCRIBING = (int, len, range, np.size, np.ndim, np.shape)


def changes_nothing(made: Reduced, statement: Assign) -> bool:
    """Whether a statement computes, and no method of the user's runs in it."""
    match statement.operation:
        case ir.Operator(in_place=False) | ir.GetItem() | ir.GetAttribute() | ir.Compare() | ir.Make() | ir.ReadCell():
            return statement not in made.calls
        case ir.Call(function=Literal(value=Spelled(value=called))) as call:
            return statement not in made.calls and only_computes(called, call)
        case ir.Call(function=function) as call:
            value = made.value(function)
            bounds = [a for a in value.atoms if isinstance(a, Bound)]
            effects = [method(bound.name) for bound in bounds if bound.function is None]
            return not value.is_any and bool(bounds) and len(effects) == len(bounds) and all(
                map(is_only_data, value.atoms - {*bounds})
            ) and not any(effect.draws or _updates(effect, call, 1) for effect in effects)  # fmt: skip
    return False


def may_change(made: Reduced, statement: Assign) -> bool:
    """Whether a statement that is not reduced yet may change anything."""
    match statement.operation:
        case ir.MakeFunction() | ir.ReadGlobal() | ir.ReadName() | ir.Copy() | ir.Iterate():
            return False
        case ir.Call(function=function) as call:
            called = static_of(made.value(function))
            is_computed = only_computes(called, call) and not made.called.get(statement)
            return not is_computed and not changes_nothing(made, statement)
    return bool(made.called.get(statement)) or not changes_nothing(made, statement)


def only_computes(function: object, call: ir.Call) -> bool:
    """Whether a call of a library's function reads what it is given and does nothing else."""
    effect = of_function(function)
    is_changing = not effect.is_known or _updates(effect, call) or effect.draws
    return (lookup(function) is not None or any(function is one for one in _DESCRIBING)) and not is_changing


def _updates(effect: Effect, call: ir.Call, receivers: int = 0) -> bool:
    return bool(effect.updated(receivers + len(call.positional), dict(call.keywords), star=call.star is not None,
                               rest=call.rest is not None))  # fmt: skip
