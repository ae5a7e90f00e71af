"""Context managers in the normal form: what is entered in the forward sweep, and what in both.

Enters: a ``with`` statement whose managers are known (``managers``).  Leaves: ``With``, and what its managers are made
from::

    with np.errstate(all="ignore"):      With, entered in both sweeps
    with opened(x) as f:                 manager = once(opened(x));  With(once), entered in the forward sweep alone
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.values import At
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.specialise.context import Context
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.operands import named, settled
from srcgrad.specialise.stopping import stops_gradients, without_gradients
from srcgrad.syntax.build import load, placed
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import names_read


def write_with(
    context: Context,
    statement: gast.With,
    write: Callable[[Context, list[Any], Callable[[], None] | None], nf.Block],
    assign: Callable[[Context, list[Any], Any], None],
) -> None:
    """The first of the managers around what follows it."""
    item, *others = statement.items
    body = [placed(gast.With(others, statement.body, None), statement)] if others else statement.body
    span, manager, target = context.span, item.context_expr, item.optional_vars
    made = getattr(manager, "statement", None)
    context.written.add(made)  # as it is, where it is entered
    operation = getattr(made, "operation", None) if isinstance(manager, gast.Call) else None
    function = static_of(context.reduced.value(operation.function)) if isinstance(operation, ir.Call) else None
    caught = None
    if function is runtime.tried:
        manager, caught = manager.args
        made = getattr(manager, "statement", None)
        context.written.add(made)
        operation = getattr(made, "operation", None) if isinstance(manager, gast.Call) else None
        function = static_of(context.reduced.value(operation.function)) if isinstance(operation, ir.Call) else None
    if stops_gradients(function) and isinstance(operation, ir.Call) and not operation.positional and target is None:
        is_stopped, context.is_stopped = context.is_stopped, True
        context.out += without_gradients(context, write(context, body, None).statements)
        context.is_stopped = is_stopped
        return
    _require_known(context, manager, function)
    if function is np.errstate and target is None and caught is None:
        entered = gast.withitem(settled(context, manager), None)
        context.out.append(nf.With((entered,), write(context, body, None), span))
        return
    held = context.fresh("manager")
    if function is runtime.leaving:
        context.out.append(nf.Bind(held, settled(context, manager), nf.Fixed(), span))
        items = (gast.withitem(load(held, manager), None),)
        context.out.append(nf.With(items, write(context, body, None), span, once=True))
        return
    is_read = isinstance(function, FunctionType) and not hasattr(function, "__wrapped__")
    opened = load(named(context, manager), manager) if is_read else settled(context, manager)
    settled_ = opened if caught is None else call_runtime(runtime.tried, opened, settled(context, caught))
    settled_ = call_runtime(runtime.once, settled_)
    given = tuple(names_read(settled_))
    opaque = _opaque(context, given)
    context.out.append(nf.Bind(held, settled_, opaque, span))

    def start() -> None:
        if target is not None:
            value = context.fresh("entered")
            context.out.append(nf.Bind(value, call_runtime(runtime.entered, load(held, manager)), opaque, span))
            assign(context, [target], load(value, manager))

    items = (gast.withitem(load(held, manager), None),)
    refusal = opaque.refusal if isinstance(opaque, nf.Unruled) else None
    inside = write(context, body, start)
    context.out.append(nf.With(items, inside, span, once=True, given=given, refusal=refusal))


def _require_known(context: Context, manager: Any, function: object) -> None:
    """Refuse what may stop gradients, which is no manager of the forward sweep."""
    value = context.value(manager)
    kinds = [atom.site.kind for atom in value.atoms if isinstance(atom, At)]
    stops = any(kind is not None and issubclass(kind, runtime.StopsGradients) for kind in kinds)
    if function is runtime.leaving:
        return
    if value.is_any or stops or isinstance(function, type) and issubclass(function, runtime.StopsGradients):
        context.refuse("E0113", manager, "this context manager")


def _opaque(context: Context, given: tuple[str, ...]) -> nf.Fixed | nf.Unruled:
    if not given:
        return nf.Fixed()
    reason = "a context manager is made from values that vary: what it does with them is not known"
    hint = "make it from what does not vary, or outside of the function"
    return nf.Unruled(UnsupportedSyntax(reason, context.span, code="E0113", label="made here", hint=hint))
