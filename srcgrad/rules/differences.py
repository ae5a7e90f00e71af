"""Differences of neighbours, sums over intervals, slopes by differences, angles without jumps."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Array, Sequence, as_array, is_floating
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    cut,
    differences,
    end_length,
    end_size,
    gradient_axis,
    midpoints,
    one_spacing_only,
    rebroadcast,
    slope_leaning,
    slope_places,
    step_sizes,
    turns,
    unarray,
    unbroadcast,
    undiff,
    undifferences,
    unediff1d,
    ungradient,
    unmidpoints,
    unstep_sizes,
    untake_axis,
    zeros_like,
)


# --- differences -----------------------------------------------------------------------------------------------------
@linear(np.diff, differences, "a", "prepend", "append")
def diff(a, n=1, axis=-1, prepend=None, append=None, *, y, y_bar):
    """Differences of neighbours, n times, of what stands in front, the array, and what stands behind."""
    joined = undifferences(y_bar, n, axis)
    start = end_length(prepend, axis, n)
    stop = start + end_length(a, axis)
    return cut(joined, a, start, axis), cut(joined, prepend, 0, axis, n), cut(joined, append, stop, axis, n)


@diff.when(prepend=None, append=None)
def diff(a, n=1, axis=-1, prepend=None, append=None, *, y, y_bar):
    """Differences of neighbours, n times."""
    return undiff(y_bar, a, n, axis), None, None


@diff.tangent
def diff(a, n=1, axis=-1, prepend=None, append=None, *, y, a_dot, prepend_dot, append_dot):
    by_a = differences(a_dot, n, axis, zeros_like(prepend), zeros_like(append))
    by_prepend = differences(zeros_like(a), n, axis, prepend_dot, zeros_like(append))
    by_append = differences(zeros_like(a), n, axis, zeros_like(prepend), append_dot)
    return rebroadcast(by_a, y), rebroadcast(by_prepend, y), rebroadcast(by_append, y)


@diff.tangent_when(prepend=None, append=None)
def diff(a, n=1, axis=-1, prepend=None, append=None, *, y, a_dot, prepend_dot, append_dot):
    return np.diff(a_dot, n, axis), None, None


@diff.infer
def diff_result(arguments, literals):
    a = as_array(arguments["a"])
    ends = "prepend" in arguments or "append" in arguments
    return Array(None if a.shape is None else (None,) * len(a.shape), None if ends else a.dtype)


@linear(np.ediff1d, "ary", "to_end", "to_begin")
def ediff1d(ary, to_end=None, to_begin=None, *, y, y_bar):
    """Differences of all elements in a row, behind and before numbers that are given."""
    last = y_bar[np.size(y) - end_size(to_end) :]
    first = y_bar[: end_size(to_begin)]
    return (
        unediff1d(y_bar, ary, end_size(to_begin)),
        unarray(np.reshape(last, np.shape(to_end)), to_end),
        unarray(np.reshape(first, np.shape(to_begin)), to_begin),
    )


@ediff1d.tangent
def ediff1d(ary, to_end=None, to_begin=None, *, y, ary_dot, to_end_dot, to_begin_dot):
    return (
        np.ediff1d(ary_dot, zeros_like(to_end), zeros_like(to_begin)),
        np.ediff1d(zeros_like(ary), to_end_dot, zeros_like(to_begin)),
        np.ediff1d(zeros_like(ary), zeros_like(to_end), to_begin_dot),
    )


# --- sums over intervals ---------------------------------------------------------------------------------------------
@rule(np.trapezoid, *({np.trapz} if hasattr(np, "trapz") else ()))  # until NumPy 2.3
def trapezoid(y, x=None, dx=1.0, axis=-1, *, z, z_bar):
    """The sum of means of neighbours times the lengths of the intervals between them."""
    g = np.expand_dims(z_bar, axis)
    sizes = step_sizes(x, y, axis)
    by_y = unarray(unmidpoints(g * sizes, y, axis), y)
    by_x = unstep_sizes(unbroadcast(g * midpoints(y, axis), sizes), x, y, axis)
    return by_y, by_x, zeros_like(dx)


@trapezoid.when(x=None)
def trapezoid(y, x=None, dx=1.0, axis=-1, *, z, z_bar):
    """The sum of means of neighbours times the length of an interval."""
    g = np.expand_dims(z_bar, axis)
    by_y = unarray(unmidpoints(g * dx, y, axis), y)
    return by_y, None, unbroadcast(g * midpoints(y, axis), dx)


@trapezoid.tangent
def trapezoid(y, x=None, dx=1.0, axis=-1, *, z, y_dot, x_dot, dx_dot):
    by_x = np.sum(midpoints(y, axis) * step_sizes(x_dot, y, axis), axis=axis)
    return rebroadcast(np.trapezoid(y_dot, x, axis=axis), z), rebroadcast(by_x, z), zeros_like(z)


@trapezoid.tangent_when(x=None)
def trapezoid(y, x=None, dx=1.0, axis=-1, *, z, y_dot, x_dot, dx_dot):
    by_dx = np.sum(midpoints(y, axis) * dx_dot, axis=axis)
    return rebroadcast(np.trapezoid(y_dot, dx=dx, axis=axis), z), None, rebroadcast(by_dx, z)


# --- slopes by differences -------------------------------------------------------------------------------------------
def one_number(argument):
    """A single spacing that is a number."""
    if argument.is_literal:
        return argument.count == 1
    items = argument.fact.items if isinstance(argument.fact, Sequence) else None
    return items is not None and len(items) == 1 and as_array(items[0]).rank == 0


@rule(np.gradient)
def gradient(f, axis=None, edge_order=1, *varargs, y, y_bar):
    """Slopes by differences, along each axis."""
    return ungradient(y_bar, f, axis, edge_order, *varargs), None, None, [one_spacing_only(h) for h in varargs]


@gradient.when(varargs=one_number)
def gradient(f, axis=None, edge_order=1, *varargs, y, y_bar):
    """Slopes at even spacing: proportional to its reciprocal."""
    by_f = ungradient(y_bar, f, axis, edge_order, *varargs)
    return by_f, None, None, [unbroadcast(-np.sum(by_f * f) / h, h) for h in varargs]


@gradient.when(varargs=lambda argument: argument.count == 1)
def gradient(f, axis=None, edge_order=1, *varargs, y, y_bar):
    """Slopes along one axis: near + share (far - near), of the slopes of the two intervals beside each point."""
    along = gradient_axis(f, axis)
    sizes = step_sizes(np.multiply(varargs[0], 1.0), f, along)
    slopes = np.diff(f, 1, along) / sizes
    near = slope_places(f, along)
    far = slope_places(f, along, True)
    one = np.take(sizes, near, along)
    other = np.take(sizes, far, along)
    leaning = slope_leaning(f, along, edge_order) / (one + other)
    share = leaning * one
    by_slope = untake_axis(y_bar - y_bar * share, slopes, near, along) + untake_axis(y_bar * share, slopes, far, along)
    bend = y_bar * (np.take(slopes, far, along) - np.take(slopes, near, along)) * leaning / (one + other)
    by_one = untake_axis(bend * other, slopes, near, along) - untake_axis(bend * one, slopes, far, along)
    by_size = unbroadcast(by_one - by_slope * slopes / sizes, sizes)
    by_f = unarray(undifferences(by_slope / sizes, 1, along), f)
    return by_f, None, None, [unstep_sizes(by_size, x, f, along) for x in varargs]


@gradient.tangent
def gradient(f, axis=None, edge_order=1, *varargs, y, f_dot, varargs_dot):
    return np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order), one_spacing_only(varargs_dot)


@gradient.tangent_when(varargs=one_number)
def gradient(f, axis=None, edge_order=1, *varargs, y, f_dot, varargs_dot):
    stretched = -f * varargs_dot[0] / varargs[0]
    return (
        np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order),
        np.gradient(stretched, *varargs, axis=axis, edge_order=edge_order),
    )


@gradient.tangent_when(varargs=lambda argument: argument.count == 1)
def gradient(f, axis=None, edge_order=1, *varargs, y, f_dot, varargs_dot):
    along = gradient_axis(f, axis)
    sizes = step_sizes(np.multiply(varargs[0], 1.0), f, along)
    change = step_sizes(varargs_dot[0], f, along)
    slopes = np.diff(f, 1, along) / sizes
    near = slope_places(f, along)
    far = slope_places(f, along, True)
    one = np.take(sizes, near, along)
    other = np.take(sizes, far, along)
    leaning = slope_leaning(f, along, edge_order) / (one + other)
    turn = leaning * (np.take(change, near, along) * other - one * np.take(change, far, along)) / (one + other)
    bend = np.take(slopes, far, along) - np.take(slopes, near, along)
    moved = -slopes * change / sizes
    flat = np.take(moved, near, along)
    by_x = flat + leaning * one * (np.take(moved, far, along) - flat) + turn * bend
    return np.gradient(f_dot, *varargs, axis=axis, edge_order=edge_order), rebroadcast(by_x, y)


gradient.sums = runtime.add


@rule(ungradient)
def ungradient_(g, f, axis, edge_order, *varargs, y, y_bar):
    """The transpose of np.gradient; and back."""
    by_g = np.gradient(y_bar, *varargs, axis=axis, edge_order=edge_order)
    return by_g, None, None, None, [one_spacing_only(h) for h in varargs]


@ungradient_.when(varargs=lambda argument: argument.count == 1)
def ungradient_(g, f, axis, edge_order, *varargs, y, y_bar):
    """At even spacing, which one spacing here always is, proportional to its reciprocal."""
    by_g = np.gradient(y_bar, *varargs, axis=axis, edge_order=edge_order)
    return by_g, None, None, None, [unbroadcast(-np.sum(y_bar * y) / h, h) for h in varargs]


@ungradient_.tangent
def ungradient_(g, f, axis, edge_order, *varargs, y, g_dot, varargs_dot):
    return ungradient(g_dot, f, axis, edge_order, *varargs), one_spacing_only(varargs_dot)


@ungradient_.tangent_when(varargs=lambda argument: argument.count == 1)
def ungradient_(g, f, axis, edge_order, *varargs, y, g_dot, varargs_dot):
    return ungradient(g_dot, f, axis, edge_order, *varargs), -y * varargs_dot[0] / varargs[0]


# --- angles ----------------------------------------------------------------------------------------------------------
@rule(np.unwrap)
def unwrap(p, discont=None, axis=-1, period=2 * math.pi, *, y, y_bar):
    """Angles with whole periods added, as many as there are."""
    return unarray(y_bar, p), None, None, unbroadcast(y_bar * turns(y, p, period), period)


@unwrap.tangent
def unwrap(p, discont=None, axis=-1, period=2 * math.pi, *, y, p_dot, period_dot):
    return rebroadcast(p_dot, y), rebroadcast(period_dot * turns(y, p, period), y)


@unwrap.infer
def unwrap_result(arguments, literals):
    p = as_array(arguments["p"])
    return Array(p.shape, p.dtype if is_floating(p.dtype) and "period" not in arguments else None)
