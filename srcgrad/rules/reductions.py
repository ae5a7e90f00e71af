"""Sums, means, products, variances: over axes, masked, from an initial value, in another dtype, without the nan.

A product is exact where elements are zero; a standard deviation has slope 0 where it is 0.  The nan-functions are the
plain ones where elements are numbers: nan gets an exact zero.  Of complex numbers a variance is the mean of squared
magnitudes.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import other_than
from srcgrad.rules.facts import as_array
from srcgrad.rules.results import dtype_of, floating, reduced, summed
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    count,
    deviation,
    if_floating,
    in_dtype,
    others,
    present,
    rebroadcast,
    safe_divide,
    spread_numbers,
    unarray,
    unbroadcast,
    unreduce,
)


# --- sums ------------------------------------------------------------------------------------------------------------
@linear(np.sum, "a", "initial")
def sum(a, axis=None, dtype=None, keepdims=False, initial=0, where=True, *, y, y_bar):
    """The sum over axes."""
    return (
        unreduce(if_floating(y_bar, dtype), a, axis, keepdims, where),
        unbroadcast(if_floating(y_bar, np.result_type(y)), initial),
    )


@sum.tangent_when(other_than(dtype=None, initial=0))
def sum(a, axis=None, dtype=None, keepdims=False, initial=0, where=True, *, y, a_dot, initial_dot):
    slope = np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return if_floating(slope, dtype), if_floating(rebroadcast(initial_dot, y), np.result_type(y))


@rule(np.nansum)
def nansum(a, axis=None, dtype=None, keepdims=False, initial=0, where=True, *, y, y_bar):
    """The sum of the numbers, nan left out."""
    return (
        unreduce(if_floating(y_bar, dtype), a, axis, keepdims, present(a, where)),
        None, None, None,
        unbroadcast(if_floating(y_bar, np.result_type(y)), initial),
    )  # fmt: skip


@nansum.tangent
def nansum(a, axis=None, dtype=None, keepdims=False, initial=0, where=True, *, y, a_dot, initial_dot):
    slope = np.sum(in_dtype(a_dot, dtype), axis=axis, keepdims=keepdims, where=present(a, where))
    return if_floating(slope, dtype), if_floating(rebroadcast(initial_dot, y), np.result_type(y))


def sum_result(arguments, literals):
    """The fact of a sum or a product."""
    a = as_array(arguments["a"])
    return reduced(a, dtype_of(arguments, literals, summed(a.dtype)), literals)


sum.infer(sum_result)
nansum.infer(sum_result)


# --- means -----------------------------------------------------------------------------------------------------------
@linear(np.mean, "a")
def mean(a, axis=None, dtype=None, keepdims=False, where=True, *, y, y_bar):
    """The mean over axes."""
    return unreduce(
        if_floating(y_bar, dtype) / count(a, axis, keepdims=keepdims, where=where), a, axis, keepdims, where
    )


@mean.tangent_when(other_than(dtype=None))
def mean(a, axis=None, dtype=None, keepdims=False, where=True, *, y, a_dot):
    return if_floating(np.mean(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=where), dtype)


@rule(np.nanmean)
def nanmean(a, axis=None, dtype=None, keepdims=False, where=True, *, y, y_bar):
    """The mean of the numbers, nan left out."""
    numbers = present(a, where)
    share = if_floating(y_bar, dtype) / count(a, axis, keepdims=keepdims, where=numbers)
    return unreduce(share, a, axis, keepdims, numbers)


@nanmean.tangent
def nanmean(a, axis=None, dtype=None, keepdims=False, where=True, *, y, a_dot):
    numbers = present(a, where)
    slope = np.sum(a_dot, axis=axis, dtype=dtype, keepdims=keepdims, where=numbers)
    return rebroadcast(if_floating(slope, dtype) / count(a, axis, keepdims=keepdims, where=numbers), y)


def mean_result(arguments, literals):
    """The fact of a mean."""
    a = as_array(arguments["a"])
    return reduced(a, dtype_of(arguments, literals, floating(a.dtype)), literals)


mean.infer(mean_result)
nanmean.infer(mean_result)


# --- variances -------------------------------------------------------------------------------------------------------
@rule(np.var)
def var(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, y_bar):
    """The mean squared deviation: 2 (a - m) / n; what its own mean m moves cancels."""
    share = if_floating(y_bar, dtype, True) * (2.0 / count(a, axis, ddof, keepdims=keepdims, where=where))
    slope = unreduce(share, a, axis, keepdims) * deviation(a, axis, where, mean, dtype)
    return slope, None, None, None, None, None, unbroadcast(-slope, mean)


@var.tangent
def var(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, a_dot, mean_dot):
    scale = 2.0 / count(a, axis, ddof, keepdims=keepdims, where=where)
    distance = deviation(a, axis, where, mean, dtype)
    by_a = scale * np.sum(a_dot * distance, axis=axis, keepdims=keepdims)
    by_mean = -scale * np.sum(mean_dot * distance, axis=axis, keepdims=keepdims)
    return rebroadcast(if_floating(by_a, dtype, True), y), rebroadcast(if_floating(by_mean, dtype, True), y)


@rule(np.nanvar)
def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, y_bar):
    """The mean squared deviation of the numbers, nan left out."""
    numbers = spread_numbers(a, axis, ddof, where)
    share = if_floating(y_bar, dtype, True) * (2.0 / count(a, axis, ddof, keepdims=keepdims, where=numbers))
    slope = unreduce(share, a, axis, keepdims, numbers) * deviation(a, axis, numbers, mean, dtype)
    return slope, None, None, None, None, None, unbroadcast(-slope, mean)


@nanvar.tangent
def nanvar(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, a_dot, mean_dot):
    numbers = spread_numbers(a, axis, ddof, where)
    scale = 2.0 / count(a, axis, ddof, keepdims=keepdims, where=numbers)
    distance = deviation(a, axis, numbers, mean, dtype)
    by_a = scale * np.sum(a_dot * distance, axis=axis, keepdims=keepdims)
    by_mean = -scale * np.sum(mean_dot * distance, axis=axis, keepdims=keepdims)
    return rebroadcast(if_floating(by_a, dtype, True), y), rebroadcast(if_floating(by_mean, dtype, True), y)


# --- standard deviations ---------------------------------------------------------------------------------------------
@rule(np.std)
def std(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, y_bar):
    """The root of the variance: (a - m) / (n y); slope 0 where it is 0."""
    share = safe_divide(if_floating(y_bar, dtype, True), y) / count(a, axis, ddof, keepdims=keepdims, where=where)
    slope = unreduce(share, a, axis, keepdims) * deviation(a, axis, where, mean, dtype)
    return slope, None, None, None, None, None, unbroadcast(-slope, mean)


@std.tangent
def std(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, a_dot, mean_dot):
    scale = count(a, axis, ddof, keepdims=keepdims, where=where)
    distance = deviation(a, axis, where, mean, dtype)
    by_a = np.sum(a_dot * distance, axis=axis, keepdims=keepdims) / scale
    by_mean = -np.sum(mean_dot * distance, axis=axis, keepdims=keepdims) / scale
    return (
        rebroadcast(safe_divide(if_floating(by_a, dtype, True), y), y),
        rebroadcast(safe_divide(if_floating(by_mean, dtype, True), y), y),
    )


@rule(np.nanstd)
def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, y_bar):
    """The root of the variance of the numbers, nan left out; slope 0 where it is 0."""
    numbers = spread_numbers(a, axis, ddof, where)
    share = safe_divide(if_floating(y_bar, dtype, True), y) / count(a, axis, ddof, keepdims=keepdims, where=numbers)
    slope = unreduce(share, a, axis, keepdims, numbers) * deviation(a, axis, numbers, mean, dtype)
    return slope, None, None, None, None, None, unbroadcast(-slope, mean)


@nanstd.tangent
def nanstd(a, axis=None, dtype=None, ddof=0, keepdims=False, where=True, mean=None, *, y, a_dot, mean_dot):
    numbers = spread_numbers(a, axis, ddof, where)
    scale = count(a, axis, ddof, keepdims=keepdims, where=numbers)
    distance = deviation(a, axis, numbers, mean, dtype)
    by_a = np.sum(a_dot * distance, axis=axis, keepdims=keepdims) / scale
    by_mean = -np.sum(mean_dot * distance, axis=axis, keepdims=keepdims) / scale
    return (
        rebroadcast(safe_divide(if_floating(by_a, dtype, True), y), y),
        rebroadcast(safe_divide(if_floating(by_mean, dtype, True), y), y),
    )


def spread_result(arguments, literals):
    """The fact of a variance: real, of complex numbers too."""
    a = as_array(arguments["a"])
    dtype = {"complex": "float64", "complex64": "float32", "complex128": "float64"}.get(a.dtype or "", a.dtype)
    return reduced(a, floating(dtype) if "dtype" not in arguments else None, literals)


for spread_ in (var, nanvar, std, nanstd):
    spread_.accept(correction="ddof")
    spread_.refuse("give it a number that does not vary", ddof="degrees of freedom are a count")
    spread_.infer(spread_result)


# --- products --------------------------------------------------------------------------------------------------------
@rule(np.prod)
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, y_bar):
    """The product from an initial value: the slope of each element is the product of the others."""
    x = np.where(where, in_dtype(a, dtype), 1.0)
    g = if_floating(y_bar, dtype)
    slope = initial * others(x, axis)
    by_a = np.where(where, unreduce(g, slope, axis, keepdims) * slope, 0.0)
    by_initial = if_floating(y_bar, np.result_type(y)) * np.prod(x, axis=axis, keepdims=keepdims)
    return unarray(by_a, a), None, None, None, unbroadcast(by_initial, initial)


@prod.when(axis=None, dtype=None, keepdims=False, initial=1, where=True)
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, y_bar):
    """The product of all elements: the slope of each one is the product of the others."""
    return y_bar * others(a)


@prod.when(dtype=None, initial=1, where=True)
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, y_bar):
    """The product: the slope of each element is the product of the others."""
    return unreduce(y_bar, a, axis, keepdims) * others(a, axis)


@prod.tangent
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, a_dot, initial_dot):
    x = np.where(where, in_dtype(a, dtype), 1.0)
    slope = initial * others(x, axis)
    by_a = np.sum(in_dtype(a_dot, dtype) * slope, axis=axis, keepdims=keepdims, where=where)
    by_initial = initial_dot * np.prod(x, axis=axis, keepdims=keepdims)
    return if_floating(rebroadcast(by_a, y), dtype), if_floating(rebroadcast(by_initial, y), np.result_type(y))


@prod.tangent_when(dtype=None, initial=1, where=True)
def prod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, a_dot, initial_dot):
    return np.sum(a_dot * others(a, axis), axis=axis, keepdims=keepdims), None


@rule(np.nanprod)
def nanprod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, y_bar):
    """The product of the numbers, nan counting as 1."""
    numbers = present(a, where)
    x = np.where(numbers, in_dtype(a, dtype), 1.0)
    g = if_floating(y_bar, dtype)
    slope = initial * others(x, axis)
    by_a = np.where(numbers, unreduce(g, slope, axis, keepdims) * slope, 0.0)
    by_initial = if_floating(y_bar, np.result_type(y)) * np.prod(x, axis=axis, keepdims=keepdims)
    return unarray(by_a, a), None, None, None, unbroadcast(by_initial, initial)


@nanprod.tangent
def nanprod(a, axis=None, dtype=None, keepdims=False, initial=1, where=True, *, y, a_dot, initial_dot):
    numbers = present(a, where)
    x = np.where(numbers, in_dtype(a, dtype), 1.0)
    slope = initial * others(x, axis)
    by_a = np.sum(in_dtype(a_dot, dtype) * slope, axis=axis, keepdims=keepdims, where=numbers)
    by_initial = initial_dot * np.prod(x, axis=axis, keepdims=keepdims)
    return if_floating(rebroadcast(by_a, y), dtype), if_floating(rebroadcast(by_initial, y), np.result_type(y))


prod.infer(sum_result)
nanprod.infer(sum_result)
