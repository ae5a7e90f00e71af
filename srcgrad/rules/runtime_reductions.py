"""Rules of what derivatives of reductions, running sums, differences and statistics call, so that they close.

Transposes come in pairs: ``unreduce`` and ``np.sum``, ``weighed`` and ``unweighed``; ``deviation`` and ``if_floating``
are their own, ``recurrence`` is itself run the other way.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import as_array
from srcgrad.rules.table import constant, elementwise, linear, rule
from srcgrad.runtime import (
    cut,
    deviation,
    if_floating,
    in_dtype,
    midpoints,
    placed,
    rebroadcast,
    recurrence,
    running_product,
    step_sizes,
    unbroadcast,
    unmidpoints,
    unstep_sizes,
    with_initial,
    without_initial,
    zeros_like,
)

constant(
    runtime.count, runtime.ties, runtime.initial_share, runtime.latest, runtime.present, runtime.freedom,
    runtime.spread_numbers,
    runtime.end_length, runtime.end_size, runtime.segment_ties, runtime.gradient_axis, runtime.one_spacing_only,
    runtime.slope_places, runtime.slope_leaning, runtime.turns,
)  # fmt: skip


# --- reductions ------------------------------------------------------------------------------------------------------
@linear(runtime.unreduce, "g")
def unreduce_(g, a, axis=None, keepdims=False, where=True, *, y, y_bar):
    """Spread over what was summed; summed again."""
    return unbroadcast(np.sum(y_bar, axis=axis, keepdims=keepdims, where=where), g)


@unreduce_.when(where=True)
def unreduce_(g, a, axis=None, keepdims=False, where=True, *, y, y_bar):
    """Spread over what was summed; summed again."""
    return unbroadcast(np.sum(y_bar, axis=axis, keepdims=keepdims), g)


@rule(runtime.deviation)
def deviation_(a, axis=None, where=True, mean=None, dtype=None, *, y, y_bar):
    """The deviation from the own mean is a projection, its own transpose; the distance from another is linear."""
    slope = deviation(y_bar, axis, where, zeros_like(mean), dtype)
    return slope, None, None, unbroadcast(-slope, mean)


@deviation_.tangent
def deviation_(a, axis=None, where=True, mean=None, dtype=None, *, y, a_dot, mean_dot):
    return (
        deviation(a_dot, axis, where, zeros_like(mean), dtype),
        -deviation(rebroadcast(mean_dot, a), axis, where, 0.0),
    )


@linear(runtime.in_dtype, "a")
def in_dtype_(a, dtype, *, y, y_bar):
    """In another dtype, and back; nothing passes through integers."""
    return unbroadcast(if_floating(y_bar, dtype), a)


@in_dtype_.tangent
def in_dtype_(a, dtype, *, y, a_dot):
    return if_floating(in_dtype(a_dot, dtype), dtype)


@linear(runtime.if_floating, "g")
def if_floating_(g, dtype, real=False, *, y, y_bar):
    """Nothing passes through integers, either way."""
    return unbroadcast(if_floating(y_bar, dtype, real), g)


@elementwise(runtime.exp_share)
def exp_share_(x, y, n=1, *, z, z_bar):
    """A share exp(x - y) moves with the difference; an infinite one stays."""
    slope = np.where(np.isinf(y), 0.0, z_bar * z)
    return slope, -slope, None


def _like(name: str):
    def infer(arguments, literals):
        return as_array(arguments[name])

    return infer


unreduce_.infer(_like("a"))
deviation_.infer(_like("a"))


# --- running sums and products ---------------------------------------------------------------------------------------
@linear(runtime.uncumsum, "g")
def uncumsum_(g, a, axis=None, *, y, y_bar):
    """Running sums from the end; from the beginning again."""
    return unbroadcast(np.cumsum(y_bar, axis), g)


@linear(runtime.without_initial, "g")
def without_initial_(g, a, axis=None, *, y, y_bar):
    """Without the first entry; behind a zero again."""
    return with_initial(y_bar, g, axis)


@linear(runtime.with_initial, "a")
def with_initial_(a, like, axis=None, *, y, y_bar):
    """Behind a zero; without it again."""
    return without_initial(y_bar, a, axis)


@rule(runtime.running_product)
def running_product_(a, axis=None, reverse=False, *, y, y_bar):
    """Products of the elements before: y[j] = a[j-1] * y[j-1]."""
    return y * recurrence(y_bar, a, axis, not reverse)


@running_product_.tangent
def running_product_(a, axis=None, reverse=False, *, y, a_dot):
    return recurrence(a_dot * y, a, axis, reverse)


@rule(runtime.others)
def others_(a, axis=None, *, y, y_bar):
    """The products of the elements before and of those after, each the sum that its recurrence makes."""
    before = running_product(a, axis)
    after = running_product(a, axis, True)
    by_before = before * recurrence(y_bar * after, a, axis, True)
    return unbroadcast(by_before + after * recurrence(y_bar * before, a, axis), a)


@others_.tangent
def others_(a, axis=None, *, y, a_dot):
    before = running_product(a, axis)
    after = running_product(a, axis, True)
    by_before = recurrence(a_dot * before, a, axis) * after
    return by_before + before * recurrence(a_dot * after, a, axis, True)


@rule(runtime.recurrence)
def recurrence_(x, a, axis=None, reverse=False, *, y, y_bar):
    """y[j] = x[j-1] + a[j-1] * y[j-1]: the transpose is the same recurrence the other way round."""
    back = recurrence(y_bar, a, axis, not reverse)
    return back, y * back


@recurrence_.tangent
def recurrence_(x, a, axis=None, reverse=False, *, y, x_dot, a_dot):
    return recurrence(x_dot, a, axis, reverse), recurrence(a_dot * y, a, axis, reverse)


uncumsum_.infer(_like("a"))
running_product_.infer(_like("a"))


# --- differences -----------------------------------------------------------------------------------------------------
@linear(runtime.undiff, "g")
def undiff_(g, a, n=1, axis=-1, *, y, y_bar):
    """Differences the other way; and back."""
    return np.diff(y_bar, n, axis)


@linear(runtime.undifferences, "g")
def undifferences_(g, n=1, axis=-1, *, y, y_bar):
    """Differences the other way; and back."""
    return np.diff(y_bar, n, axis)


@linear(runtime.cut, "g")
def cut_(g, like, start, axis=-1, n=1, *, y, y_bar):
    """A part; put back among zeros."""
    return placed(y_bar, g, start, axis, n)


@linear(runtime.placed, "x")
def placed_(x, like, start, axis=-1, n=1, *, y, y_bar):
    """Put among zeros; cut out again."""
    return cut(y_bar, x, start, axis, n)


@linear(runtime.unediff1d, "g")
def unediff1d_(g, ary, start=0, *, y, y_bar):
    """Differences the other way; and back among zeros."""
    return placed(np.ediff1d(y_bar), g, start, 0)


undiff_.infer(_like("a"))


# --- intervals -------------------------------------------------------------------------------------------------------
@linear(runtime.step_sizes, "x")
def step_sizes_(x, y, axis=-1, *, z, z_bar):
    """Lengths of intervals; back to the points."""
    return unstep_sizes(z_bar, x, y, axis)


@linear(runtime.unstep_sizes, "g")
def unstep_sizes_(g, x, y, axis=-1, *, z, z_bar):
    """Back to the points; lengths again."""
    return unbroadcast(step_sizes(z_bar, y, axis), g)


@linear(runtime.midpoints, "y")
def midpoints_(y, axis=-1, *, z, z_bar):
    """Means of neighbours; a half to each."""
    return unmidpoints(z_bar, y, axis)


@linear(runtime.unmidpoints, "g")
def unmidpoints_(g, y, axis=-1, *, z, z_bar):
    """A half to each; means again."""
    return unbroadcast(midpoints(z_bar, axis), g)
