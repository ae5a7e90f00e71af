"""Sums, means, extrema, products, running sums, norms.

Ties of an extremum share evenly (PyTorch's ``amax``); products are exact where elements are zero; a norm and a standard
deviation have slope 0 where they are 0.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.results import floating, reduced, summed
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import Argument
from srcgrad.runtime import (
    count,
    norm_order,
    recurrence,
    running_product,
    safe_divide,
    ties,
    uncumsum,
    undiff,
    unreduce,
    vector_axis,
)


# --- sums and means --------------------------------------------------------------------------------------------------
@linear(np.sum, "a")
def sum(a, axis=None, keepdims=False, *, y, y_bar):
    """The sum over axes."""
    return unreduce(y_bar, a, axis, keepdims)


@sum.infer
def sum(arguments, literals):
    a = as_array(arguments["a"])
    return reduced(a, summed(a.dtype), literals)


@linear(np.mean, "a")
def mean(a, axis=None, keepdims=False, *, y, y_bar):
    """The mean over axes."""
    return unreduce(y_bar / count(a, axis), a, axis, keepdims)


@mean.when(axis=None)
def mean(a, axis=None, keepdims=False, *, y, y_bar):
    """The mean of all."""
    return unreduce(y_bar / np.size(a), a, axis, keepdims)


def mean_result(arguments, literals):
    """The fact of a mean, a root of one, a norm."""
    a = as_array(arguments["a"])
    return reduced(a, floating(a.dtype), literals)


mean.infer(mean_result)


@rule(np.var)
def var(a, axis=None, ddof=0, keepdims=False, *, y, y_bar):
    """The mean squared deviation."""
    scale = 2.0 / (count(a, axis) - ddof)
    return unreduce(y_bar * scale, a, axis, keepdims) * (a - np.mean(a, axis=axis, keepdims=True))


@var.when(ddof=0)
def var(a, axis=None, ddof=0, keepdims=False, *, y, y_bar):
    """The mean squared deviation, undivided by degrees of freedom."""
    scale = 2.0 / count(a, axis)
    return unreduce(y_bar * scale, a, axis, keepdims) * (a - np.mean(a, axis=axis, keepdims=True))


@var.tangent
def var(a, axis=None, ddof=0, keepdims=False, *, y, a_dot):
    scale = 2.0 / (count(a, axis) - ddof)
    return scale * np.sum(a_dot * (a - np.mean(a, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims)


@rule(np.std)
def std(a, axis=None, ddof=0, keepdims=False, *, y, y_bar):
    """The root of the variance; slope 0 where it is 0."""
    scale = count(a, axis) - ddof
    share = unreduce(safe_divide(y_bar, scale * y), a, axis, keepdims)
    return share * (a - np.mean(a, axis=axis, keepdims=True))


@std.when(ddof=0)
def std(a, axis=None, ddof=0, keepdims=False, *, y, y_bar):
    """The root of the mean squared deviation."""
    share = unreduce(safe_divide(y_bar, count(a, axis) * y), a, axis, keepdims)
    return share * (a - np.mean(a, axis=axis, keepdims=True))


@std.tangent
def std(a, axis=None, ddof=0, keepdims=False, *, y, a_dot):
    scale = count(a, axis) - ddof
    slope = np.sum(a_dot * (a - np.mean(a, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims)
    return safe_divide(slope, scale * y)


for spread_ in (var, std):
    spread_.accept(correction="ddof")
    spread_.infer(mean_result)


# --- extrema ---------------------------------------------------------------------------------------------------------
@rule(np.max, np.amax, np.min, np.amin)
def max(a, axis=None, keepdims=False, *, y, y_bar):
    """An extremum: its cotangent goes to where it is attained, ties share."""
    return unreduce(y_bar, a, axis, keepdims) * ties(a, y, axis)


@max.tangent
def max(a, axis=None, keepdims=False, *, y, a_dot):
    return np.sum(a_dot * ties(a, y, axis), axis=axis, keepdims=keepdims)


def extremum_result(arguments, literals):
    """The fact of an extremum."""
    a = as_array(arguments["a"])
    return reduced(a, a.dtype, literals)


max.infer(extremum_result)


@rule(np.ptp)
def ptp(a, axis=None, keepdims=False, *, y, y_bar):
    """The greatest less the smallest."""
    highest = ties(a, np.max(a, axis=axis, keepdims=keepdims), axis)
    lowest = ties(a, np.min(a, axis=axis, keepdims=keepdims), axis)
    return unreduce(y_bar, a, axis, keepdims) * (highest - lowest)


@ptp.tangent
def ptp(a, axis=None, keepdims=False, *, y, a_dot):
    highest = ties(a, np.max(a, axis=axis, keepdims=keepdims), axis)
    lowest = ties(a, np.min(a, axis=axis, keepdims=keepdims), axis)
    return np.sum(a_dot * (highest - lowest), axis=axis, keepdims=keepdims)


ptp.infer(extremum_result)


# --- products --------------------------------------------------------------------------------------------------------
@rule(np.prod)
def prod(a, axis=None, keepdims=False, *, y, y_bar):
    """The product: each element's slope is the product of those before and those after it."""
    others = running_product(a, axis) * running_product(a, axis, True)
    return unreduce(y_bar, a, axis, keepdims) * others


@prod.tangent
def prod(a, axis=None, keepdims=False, *, y, a_dot):
    others = running_product(a, axis) * running_product(a, axis, True)
    return np.sum(a_dot * others, axis=axis, keepdims=keepdims)


@prod.infer
def prod(arguments, literals):
    a = as_array(arguments["a"])
    return reduced(a, summed(a.dtype), literals)


@rule(np.cumprod)
def cumprod(a, axis=None, *, y, y_bar):
    """Running products: s[j] = y_bar[j] + a[j+1] * s[j+1], then times the product of the elements before."""
    g = np.reshape(y_bar, np.shape(a))
    return running_product(a, axis) * (g + recurrence(g * a, a, axis, True))


@cumprod.tangent
def cumprod(a, axis=None, *, y, a_dot):
    before = running_product(a, axis)
    return np.reshape(a_dot * before + a * recurrence(a_dot * before, a, axis), np.shape(y))


# --- running sums ----------------------------------------------------------------------------------------------------
@linear(np.cumsum, "a")
def cumsum(a, axis=None, *, y, y_bar):
    """Running sums; the transpose runs from the end."""
    return uncumsum(y_bar, a, axis)


def running_result(arguments, literals):
    """The fact of running sums and products."""
    a = as_array(arguments["a"])
    if "axis" not in literals and a.rank != 1:
        return Array(None, summed(a.dtype))
    return Array(a.shape if literals.get("axis") is not None or a.rank == 1 else (None,), summed(a.dtype))


cumsum.infer(running_result)
cumprod.infer(running_result)


@linear(np.diff, "a")
def diff(a, n=1, axis=-1, *, y, y_bar):
    """Differences of neighbours, n times."""
    return undiff(y_bar, a, n, axis)


@diff.infer
def diff(arguments, literals):
    a = as_array(arguments["a"])
    return Array(None if a.shape is None else (None,) * len(a.shape), a.dtype)


# --- norms -----------------------------------------------------------------------------------------------------------
def _euclidean(argument: Argument) -> bool:
    return argument.is_literal and argument.literal in (None, "fro")


@rule(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The p-norm of vectors, 1 <= p <= inf: |x|^(p-1) sign(x) / y^(p-1); 0 at 0."""
    p = norm_order(x, ord, axis)
    share = safe_divide(np.abs(x), unreduce(y, x, axis, keepdims))
    return unreduce(y_bar, x, axis, keepdims) * np.sign(x) * share ** (p - 1.0)


@norm.tangent
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    p = norm_order(x, ord, axis)
    share = safe_divide(np.abs(x), unreduce(y, x, axis, keepdims))
    return np.sum(x_dot * np.sign(x) * share ** (p - 1.0), axis=axis, keepdims=keepdims)


@norm.when(ord=_euclidean)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The root of the sum of squares."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * x


@norm.when(ord=lambda argument: argument.is_literal and argument.literal == 2)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The Euclidean norm of vectors; the spectral norm of a matrix is refused when it is met."""
    along = vector_axis(x, axis)
    return unreduce(safe_divide(y_bar, y), x, along, keepdims) * x


@norm.when(ord=lambda argument: argument.is_literal and argument.literal == 1)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The sum of absolute values of vectors."""
    along = vector_axis(x, axis)
    return unreduce(y_bar, x, along, keepdims) * np.sign(x)


@norm.when(ord=lambda argument: argument.is_literal and argument.literal == np.inf)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The greatest absolute value of vectors; ties share."""
    along = vector_axis(x, axis)
    return unreduce(y_bar, x, along, keepdims) * np.sign(x) * ties(np.abs(x), y, along)


norm.infer(lambda arguments, literals: mean_result({"a": arguments["x"]}, literals))


@rule(np.linalg.vector_norm)
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """The Euclidean norm along axes."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * x


@vector_norm.tangent
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    return safe_divide(np.sum(x_dot * x, axis=axis, keepdims=keepdims), y)


vector_norm.accept(allowed={"ord": (2,)})
