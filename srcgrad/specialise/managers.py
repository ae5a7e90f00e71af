"""Context managers: which are entered again in the reverse sweep, and which in the forward sweep alone.

    with np.errstate(all="ignore"):      stays, in both sweeps
        y = np.log(x)

    with timer(log) as clock:            manager = once(timer(log))
        y = f(x) * clock          ->     with manager:
                                             clock = entered(manager)
                                             y = f(x) * clock

    with model as m:                     m = model.__enter__()
        m.y = f(x)                ->     with leaving(model):        (which leaves it where the body raises)
                                             m.y = f(x)
                                         model.__exit__(None, None, None)

What a manager of the forward sweep was made of may not vary, since nothing is known of what it does with it.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend import normal_form as nf
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.frontend.desugar.build import load, placed
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, At, Bound, Value, exact
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Operand, Version
from srcgrad.ir.regions import Assign, Statement, With, walk
from srcgrad.specialise.context import Context
from srcgrad.specialise.expressions import named, settled
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.parts import Apart
from srcgrad.specialise.reduced import Reduced
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import names_read

#: What makes locks, which hold nothing of the program.
LOCKS = (threading.Lock, threading.RLock)
_LOCKED = (type(threading.Lock()), type(threading.RLock()))
#: Those that do the same whether their body raises or not.
_INDIFFERENT = (np.errstate, warnings.catch_warnings, contextlib.nullcontext, *LOCKS)


# --- in the IR -------------------------------------------------------------------------------------------------------
def class_to_enter(made: Reduced, statement: With, maker: Assign | None, is_seen: bool) -> type | None:
    """The class of the user's whose methods are called where its object is entered and left: not of one that is made
    here of nothing, and seen by nothing else."""
    value = made.value(statement.manager)
    kinds = {atom.site.kind if isinstance(atom, At) else None for atom in value.atoms}
    kind = kinds.pop() if len(kinds) == 1 and not value.is_any else None
    if kind is None or not is_user_class(kind):
        return None
    if not all(isinstance(found(kind, name), FunctionType) for name in ("__enter__", "__exit__")):
        return None
    call = None if maker is None else maker.operation
    is_plain = isinstance(call, ir.Call) and not (call.positional or call.keywords or call.star or call.rest)
    return None if is_plain and not is_seen else kind


def is_indifferent(made: Reduced, maker: Assign | None) -> bool:
    """Whether a manager does the same whether its body raises or not."""
    operation = None if maker is None else maker.operation
    if isinstance(operation, ir.ReadGlobal):
        return isinstance(made.owner.__globals__.get(operation.name), _LOCKED)
    return isinstance(operation, ir.Call) and static_of(made.value(operation.function)) in _INDIFFERENT


def suppressed(made: Reduced, maker: Assign | None) -> tuple[Operand, ...] | None:
    """What ``contextlib.suppress`` is given; None of any other manager."""
    call = None if maker is None else maker.operation
    if not isinstance(call, ir.Call) or static_of(made.value(call.function)) is not contextlib.suppress:
        return None
    return None if call.star or call.keywords or call.rest else call.positional


def is_read(here: Apart, statement: With) -> bool:
    """Whether what a manager gives where it is entered is read."""
    cells = {
        s.operation.cell for s in statement.body.statements
        if isinstance(s, Assign) and isinstance(s.operation, ir.WriteCell) and s.operation.value is statement.entered
    }  # fmt: skip
    reads = [s.operation for _, s in walk(here.function.body) if isinstance(s, Assign)]
    is_named = any(isinstance(read, ir.ReadCell) and read.cell in cells for read in reads)
    return is_named or here.uses.get(statement.entered, 0) > len(cells)


def method_call(
    here: Apart, statement: With, kind: type, name: str, given: tuple[Operand, ...], target: Version
) -> tuple[Statement, ...]:
    """A call of a method of a manager, when nothing was raised."""
    method = found(kind, name)
    lookup = here.version(Value(frozenset((Bound(here.made.value(statement.manager), name, method),))))
    read = Assign((lookup,), ir.GetAttribute(statement.manager, name), statement.node)
    call = Assign((target,), ir.Call(lookup, given), statement.node)
    summaries = [each for each in here.made.calls.get(statement, ()) if each.function.name == name]
    plain = [each for each in summaries if _is_given_nothing(each)]
    if not plain:
        raise here.refuse(statement.node, f"what {name} of {kind.__name__} does")
    here.made.calls[call] = plain
    here.lookups[lookup] = read
    return read, call


def _is_given_nothing(summary: Summary) -> bool:
    """Whether a method is called with None for all but its object, one by one or as one tuple."""
    _, *given = summary.arguments.values()
    nothing = exact(None)
    for value in given:
        tuples = [atom.site for atom in value.atoms if isinstance(atom, At) and atom.site.kind is tuple]
        if value != nothing and (value.is_any or not tuples or len(tuples) < len(value.atoms)):
            return False
        if not all(part == nothing for site in tuples for part in summary.heap[site].parts or (NEVER,)):
            return False
    return True


# --- in the normal form ----------------------------------------------------------------------------------------------
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
    _require_known(context, manager, function)
    if function is np.errstate and target is None:
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
    settled_ = call_runtime(runtime.once, opened)
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
        context.refuse(manager, "this context manager")


def _opaque(context: Context, given: tuple[str, ...]) -> nf.Fixed | nf.Unruled:
    if not given:
        return nf.Fixed()
    reason = "a context manager is made from values that vary: what it does with them is not known"
    hint = "make it from what does not vary, or outside of the function"
    return nf.Unruled(UnsupportedSyntax(reason, context.span, label="made here", hint=hint))
