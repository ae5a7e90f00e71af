"""Running sums and products, with or without an initial entry, nan left out, in another dtype.

Running products are exact where elements are zero, at every order.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import other_than
from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.results import dtype_of, summed
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    if_floating,
    in_dtype,
    present,
    rebroadcast,
    recurrence,
    running_product,
    unarray,
    uncumsum,
    with_initial,
    without_initial,
)


# --- sums ------------------------------------------------------------------------------------------------------------
@linear(np.cumsum, "a")
def cumsum(a, axis=None, dtype=None, *, y, y_bar):
    """Running sums; the transpose runs from the end."""
    return uncumsum(if_floating(y_bar, dtype), a, axis)


@cumsum.tangent_when(other_than(dtype=None))
def cumsum(a, axis=None, dtype=None, *, y, a_dot):
    return if_floating(np.cumsum(a_dot, axis, dtype), dtype)


@rule(np.nancumsum)
def nancumsum(a, axis=None, dtype=None, *, y, y_bar):
    """Running sums in which nan counts as 0."""
    return np.where(present(a), uncumsum(if_floating(y_bar, dtype), a, axis), 0.0)


@nancumsum.tangent
def nancumsum(a, axis=None, dtype=None, *, y, a_dot):
    return if_floating(np.cumsum(np.where(present(a), a_dot, 0.0), axis, dtype), dtype)


# --- products --------------------------------------------------------------------------------------------------------
@rule(np.cumprod)
def cumprod(a, axis=None, dtype=None, *, y, y_bar):
    """Running products: s[j] = y_bar[j] + a[j+1] * s[j+1], then times the product of the elements before."""
    x = in_dtype(a, dtype)
    g = np.reshape(if_floating(y_bar, dtype), np.shape(a))
    return unarray(running_product(x, axis) * (g + recurrence(g * x, x, axis, True)), a)


@cumprod.tangent
def cumprod(a, axis=None, dtype=None, *, y, a_dot):
    x = in_dtype(a, dtype)
    before = in_dtype(a_dot, dtype) * running_product(x, axis)
    slope = np.reshape(before + x * recurrence(before, x, axis), np.shape(y))
    return if_floating(rebroadcast(slope, y), dtype)


@rule(np.nancumprod)
def nancumprod(a, axis=None, dtype=None, *, y, y_bar):
    """Running products in which nan counts as 1."""
    x = np.where(present(a), in_dtype(a, dtype), 1.0)
    g = np.reshape(if_floating(y_bar, dtype), np.shape(a))
    slope = running_product(x, axis) * (g + recurrence(g * x, x, axis, True))
    return unarray(np.where(present(a), slope, 0.0), a)


@nancumprod.tangent
def nancumprod(a, axis=None, dtype=None, *, y, a_dot):
    x = np.where(present(a), in_dtype(a, dtype), 1.0)
    before = np.where(present(a), in_dtype(a_dot, dtype), 0.0) * running_product(x, axis)
    slope = np.reshape(before + x * recurrence(before, x, axis), np.shape(y))
    return if_floating(rebroadcast(slope, y), dtype)


# --- the array API's names -------------------------------------------------------------------------------------------
if hasattr(np, "cumulative_sum"):  # since NumPy 2.1

    @linear(np.cumulative_sum, "x")
    def cumulative_sum(x, axis=None, dtype=None, include_initial=False, *, y, y_bar):
        """Running sums, behind an initial 0 where that is asked for."""
        return uncumsum(without_initial(if_floating(y_bar, dtype), x, axis), x, axis)

    @cumulative_sum.tangent_when(other_than(dtype=None))
    def cumulative_sum(x, axis=None, dtype=None, include_initial=False, *, y, x_dot):
        return if_floating(
            np.cumulative_sum(x_dot, axis=axis, dtype=dtype, include_initial=include_initial), dtype
        )

    @rule(np.cumulative_prod)
    def cumulative_prod(x, axis=None, dtype=None, include_initial=False, *, y, y_bar):
        """Running products, behind an initial 1 where that is asked for."""
        a = in_dtype(x, dtype)
        g = without_initial(if_floating(y_bar, dtype), x, axis)
        return unarray(running_product(a, axis) * (g + recurrence(g * a, a, axis, True)), x)

    @cumulative_prod.tangent
    def cumulative_prod(x, axis=None, dtype=None, include_initial=False, *, y, x_dot):
        a = in_dtype(x, dtype)
        before = in_dtype(x_dot, dtype) * running_product(a, axis)
        slope = with_initial(before + a * recurrence(before, a, axis), y, axis)
        return if_floating(rebroadcast(slope, y), dtype)


def running_result(arguments, literals):
    """The fact of running sums and products."""
    a = as_array(arguments["a"])
    dtype = dtype_of(arguments, literals, summed(a.dtype))
    if "axis" not in literals and a.rank != 1:
        return Array(None, dtype)
    return Array(a.shape if literals.get("axis") is not None or a.rank == 1 else (None,), dtype)


for running_ in (cumsum, nancumsum, cumprod, nancumprod):
    running_.infer(running_result)
