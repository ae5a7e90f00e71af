"""Evenly spaced numbers, and what lies between given ones: interpolation, powers of a vector."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, Static, Unknown, as_array, broadcast, is_real
from srcgrad.rules.results import dtype_of, floating, gathered, of_dtype, strong
from srcgrad.rules.table import rule
from srcgrad.rules.template import Argument
from srcgrad.runtime import (
    add,
    exponents,
    intervals,
    is_between,
    is_replaced,
    knots_around,
    laps,
    power_partial,
    reastype,
    rebroadcast,
    safe_divide,
    unarray,
    unastype,
    unbroadcast,
    untake_axis,
    zeros_like,
)


# --- between two numbers ---------------------------------------------------------------------------------------------
def _is_true(argument: Argument) -> bool:
    return not (argument.is_literal and argument.literal is False)


@rule(np.linspace)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, y, y_bar):
    """Evenly spaced numbers between two: start (1 - t) + stop t."""
    g = unastype(y_bar, y_bar, dtype)
    t = np.linspace(0.0, 1.0, num, endpoint)
    return (
        unbroadcast(np.tensordot(1.0 - t, np.moveaxis(g, axis, 0), 1), start),
        unbroadcast(np.tensordot(t, np.moveaxis(g, axis, 0), 1), stop),
    )


@linspace.tangent
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, y, start_dot, stop_dot):
    return (
        reastype(np.linspace(start_dot, zeros_like(stop), num, endpoint, axis=axis), y),
        reastype(np.linspace(zeros_like(start), stop_dot, num, endpoint, axis=axis), y),
    )


@linspace.when(retstep=_is_true)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, y, y_bar):
    """Evenly spaced numbers between two, and the space between them."""
    g = unastype(y_bar[0], y_bar[0], dtype)
    t = np.linspace(0.0, 1.0, num, endpoint)
    step = y_bar[1] / intervals(num, endpoint)
    return (
        unbroadcast(np.tensordot(1.0 - t, np.moveaxis(g, axis, 0), 1) - step, start),
        unbroadcast(np.tensordot(t, np.moveaxis(g, axis, 0), 1) + step, stop),
    )


@linspace.tangent_when(retstep=_is_true)
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, y, start_dot, stop_dot):
    return (
        (
            reastype(np.linspace(start_dot, zeros_like(stop), num, endpoint, axis=axis), y[0]),
            rebroadcast(-start_dot / intervals(num, endpoint), y[1]),
        ),
        (
            reastype(np.linspace(zeros_like(start), stop_dot, num, endpoint, axis=axis), y[0]),
            rebroadcast(stop_dot / intervals(num, endpoint), y[1]),
        ),
    )


linspace.accept(allowed={"retstep": (False, True)}, ignored=("device",))
linspace.sums = add


@linspace.infer
def linspace(arguments, literals):
    if literals.get("retstep") is not False:
        return Unknown()
    ends = broadcast(as_array(arguments["start"]), as_array(arguments["stop"]))
    known = ends.shape is not None and literals.get("axis") == 0
    shape = (_length(literals.get("num")), *ends.shape) if known else None
    return of_dtype(shape, arguments, literals, _between(arguments))


def _between(arguments):
    """The dtype of floating numbers between two ends."""
    return gathered(strong(floating(as_array(arguments[p]).dtype)) for p in ("start", "stop"))


def _length(value: object) -> int | None:
    return value if type(value) is int else None


@rule(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, y, y_bar):
    """Powers of a base, the exponents evenly spaced: base ** (start (1 - t) + stop t)."""
    g = unastype(y_bar, y_bar, dtype) * y
    t = np.linspace(0.0, 1.0, num, endpoint)
    rank = np.ndim(y) - 1
    logarithm = np.log(base)
    e = np.linspace(np.array(start, ndmin=rank), np.array(stop, ndmin=rank), num, endpoint, axis=axis)
    return (
        unbroadcast(np.tensordot(1.0 - t, np.moveaxis(g, axis, 0), 1) * logarithm, start),
        unbroadcast(np.tensordot(t, np.moveaxis(g, axis, 0), 1) * logarithm, stop),
        None,
        None,
        unbroadcast(np.sum(g * e, axis=axis) / base, base),
    )


@logspace.tangent
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, *, y, start_dot, stop_dot, base_dot):
    rank = np.ndim(y) - 1
    first = np.array(start, ndmin=rank)
    last = np.array(stop, ndmin=rank)
    slope = np.expand_dims(np.array(np.log(base), ndmin=rank), axis)
    share = np.expand_dims(np.array(base_dot / base, ndmin=rank), axis)
    return (
        reastype(y * slope * np.linspace(np.array(start_dot, ndmin=rank), 0.0 * last, num, endpoint, axis=axis), y),
        reastype(y * slope * np.linspace(0.0 * first, np.array(stop_dot, ndmin=rank), num, endpoint, axis=axis), y),
        reastype(y * share * np.linspace(first, last, num, endpoint, axis=axis), y),
    )


@rule(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, y, y_bar):
    """Numbers in a constant ratio between two: start ** (1 - t) stop ** t."""
    g = unastype(y_bar, y_bar, dtype) * y
    t = np.linspace(0.0, 1.0, num, endpoint)
    return (
        unbroadcast(np.tensordot(1.0 - t, np.moveaxis(g, axis, 0), 1) / start, start),
        unbroadcast(np.tensordot(t, np.moveaxis(g, axis, 0), 1) / stop, stop),
    )


@geomspace.tangent
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, *, y, start_dot, stop_dot):
    return (
        reastype(y * np.linspace(start_dot / start, zeros_like(stop), num, endpoint, axis=axis), y),
        reastype(y * np.linspace(zeros_like(start), stop_dot / stop, num, endpoint, axis=axis), y),
    )


def _spread(arguments, literals):
    """The fact of numbers between ends: one axis more than they have."""
    ends = broadcast(as_array(arguments["start"]), as_array(arguments["stop"]))
    if "base" in arguments:
        ends = broadcast(ends, as_array(arguments["base"]))
    return Array(None if ends.shape is None else (None,) * (len(ends.shape) + 1))


logspace.infer(_spread)
geomspace.infer(_spread)


# --- in steps --------------------------------------------------------------------------------------------------------
@rule(np.arange)
def arange(start, stop=None, step=1, dtype=None, *, y, y_bar):
    """Numbers from start in steps; how many is a constant."""
    g = unastype(y_bar, y_bar, dtype)
    return np.sum(g), None, np.sum(g * np.arange(np.size(y)))


@arange.tangent
def arange(start, stop=None, step=1, dtype=None, *, y, start_dot, step_dot):
    return reastype(start_dot, y), reastype(step_dot * np.arange(np.size(y)), y)


@arange.when(stop=None)
def arange(start, stop=None, step=1, dtype=None, *, y, y_bar):
    """What is named start is the end."""
    g = unastype(y_bar, y_bar, dtype)
    return zeros_like(start), None, np.sum(g * np.arange(np.size(y)))


@arange.tangent_when(stop=None)
def arange(start, stop=None, step=1, dtype=None, *, y, start_dot, step_dot):
    return zeros_like(y), reastype(step_dot * np.arange(np.size(y)), y)


arange.accept(ignored=("device",), start_or_stop="start")


@arange.infer
def arange(arguments, literals):
    dtypes = {as_array(fact).dtype for p, fact in arguments.items() if p != "dtype" and fact != Static(None)}
    dtype = dtype_of(arguments, literals, _WHOLE if dtypes == {"int"} else gathered(dtypes))
    return Array((None,), dtype)


_WHOLE = str(np.arange(0).dtype)  # of Python's integers


# --- powers of a vector ----------------------------------------------------------------------------------------------
@rule(np.vander)
def vander(x, N=None, increasing=False, *, y, y_bar):
    """The powers of a vector as columns."""
    slopes = power_partial(np.expand_dims(x, 1), exponents(y, increasing), 1, 0)
    return unarray(np.sum(y_bar * slopes, axis=1), x)


@vander.tangent
def vander(x, N=None, increasing=False, *, y, x_dot):
    return np.expand_dims(x_dot, 1) * power_partial(np.expand_dims(x, 1), exponents(y, increasing), 1, 0)


vander.infer(lambda arguments, literals: Array((None, None)))


# --- between knots ---------------------------------------------------------------------------------------------------
def _is_given(argument: Argument) -> bool:
    return not (argument.is_literal and argument.literal is None)


@rule(np.interp)
def interp(x, xp, fp, left=None, right=None, period=None, *, y, y_bar):
    """Linear between knots; at a knot the slope to its right, beyond the ends other values."""
    around = knots_around(x, xp)
    i = around[0]
    j = around[1]
    width = np.take(xp, j) - np.take(xp, i)
    slope = np.where(is_between(x, xp), safe_divide(np.take(fp, j) - np.take(fp, i), width), 0.0)
    t = np.clip(safe_divide(x - np.take(xp, i), width), 0.0, 1.0)
    g = y_bar * slope
    kept = np.where(is_replaced(x, xp, left, right), 0.0, y_bar)
    return (
        unarray(g, x),
        add(untake_axis(-g * (1.0 - t), xp, i), untake_axis(-g * t, xp, j)),
        add(untake_axis(kept * (1.0 - t), fp, i), untake_axis(kept * t, fp, j)),
        unbroadcast(np.where(np.less(x, xp[0]), y_bar, 0.0), left),
        unbroadcast(np.where(np.greater(x, xp[-1]), y_bar, 0.0), right),
        zeros_like(period),
    )


@interp.tangent
def interp(x, xp, fp, left=None, right=None, period=None, *, y, x_dot, xp_dot, fp_dot, left_dot, right_dot, period_dot):
    around = knots_around(x, xp)
    i = around[0]
    j = around[1]
    width = np.take(xp, j) - np.take(xp, i)
    slope = np.where(is_between(x, xp), safe_divide(np.take(fp, j) - np.take(fp, i), width), 0.0)
    t = np.clip(safe_divide(x - np.take(xp, i), width), 0.0, 1.0)
    replaced = is_replaced(x, xp, left, right)
    return (
        rebroadcast(slope * x_dot, y),
        rebroadcast(-slope * (np.take(xp_dot, i) * (1.0 - t) + np.take(xp_dot, j) * t), y),
        rebroadcast(np.where(replaced, 0.0, np.take(fp_dot, i) * (1.0 - t) + np.take(fp_dot, j) * t), y),
        rebroadcast(np.where(np.less(x, xp[0]), left_dot, 0.0), y),
        rebroadcast(np.where(np.greater(x, xp[-1]), right_dot, 0.0), y),
        zeros_like(y),
    )


@interp.when(period=_is_given)
def interp(x, xp, fp, left=None, right=None, period=None, *, y, y_bar):
    """Linear between knots that repeat."""
    lap = np.abs(period)
    around = knots_around(x, xp, period)
    i = around[0]
    j = around[1]
    turns = laps(x, xp, period)
    first = np.remainder(np.take(xp, i), lap) + lap * turns[0]
    width = np.remainder(np.take(xp, j), lap) + lap * turns[1] - first
    g = y_bar * (np.take(fp, j) - np.take(fp, i)) / width
    t = (np.remainder(x, lap) - first) / width
    low = turns[0] - np.floor_divide(np.take(xp, i), lap)
    high = turns[1] - np.floor_divide(np.take(xp, j), lap)
    drift = np.floor_divide(x, lap) + low + t * (high - low)
    return (
        unarray(g, x),
        add(untake_axis(-g * (1.0 - t), xp, i), untake_axis(-g * t, xp, j)),
        add(untake_axis(y_bar * (1.0 - t), fp, i), untake_axis(y_bar * t, fp, j)),
        zeros_like(left),
        zeros_like(right),
        -np.sum(g * drift) * np.sign(period),
    )


@interp.tangent_when(period=_is_given)
def interp(x, xp, fp, left=None, right=None, period=None, *, y, x_dot, xp_dot, fp_dot, left_dot, right_dot, period_dot):
    lap = np.abs(period)
    around = knots_around(x, xp, period)
    i = around[0]
    j = around[1]
    turns = laps(x, xp, period)
    first = np.remainder(np.take(xp, i), lap) + lap * turns[0]
    width = np.remainder(np.take(xp, j), lap) + lap * turns[1] - first
    slope = (np.take(fp, j) - np.take(fp, i)) / width
    t = (np.remainder(x, lap) - first) / width
    low = turns[0] - np.floor_divide(np.take(xp, i), lap)
    high = turns[1] - np.floor_divide(np.take(xp, j), lap)
    drift = np.floor_divide(x, lap) + low + t * (high - low)
    return (
        rebroadcast(slope * x_dot, y),
        rebroadcast(-slope * (np.take(xp_dot, i) * (1.0 - t) + np.take(xp_dot, j) * t), y),
        rebroadcast(np.take(fp_dot, i) * (1.0 - t) + np.take(fp_dot, j) * t, y),
        zeros_like(y),
        zeros_like(y),
        rebroadcast(-slope * drift * (np.sign(period) * period_dot), y),
    )


@interp.when(left=None, right=None)
def interp(x, xp, fp, left=None, right=None, period=None, *, y, y_bar):
    """Linear between knots; at a knot the slope to its right, beyond the ends the values there."""
    around = knots_around(x, xp)
    i = around[0]
    j = around[1]
    width = np.take(xp, j) - np.take(xp, i)
    g = y_bar * np.where(is_between(x, xp), safe_divide(np.take(fp, j) - np.take(fp, i), width), 0.0)
    t = np.clip(safe_divide(x - np.take(xp, i), width), 0.0, 1.0)
    return (
        unarray(g, x),
        add(untake_axis(-g * (1.0 - t), xp, i), untake_axis(-g * t, xp, j)),
        add(untake_axis(y_bar * (1.0 - t), fp, i), untake_axis(y_bar * t, fp, j)),
        None,
        None,
    )



@interp.infer
def interp(arguments, literals):
    x, fp = as_array(arguments["x"]), as_array(arguments["fp"])
    return Array(x.shape, "float64" if is_real(fp.dtype) else None, x.scalar)
