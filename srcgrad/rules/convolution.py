"""Convolution and correlation of vectors, and the Kaiser window."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import WEAK, Array, Unknown, as_array, is_floating, promote
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    bessel_i,
    kaiser_abscissas,
    unbroadcast,
    unconvolve,
    uncorrelate_left,
    uncorrelate_right,
)


@linear(np.convolve, "a", "v")
def convolve(a, v, mode="full", *, y, y_bar):
    """Sums of products of each element of a with those of v in reverse; either factor may be exchanged for the
    other."""
    return unconvolve(y_bar, a, v, mode), unconvolve(y_bar, v, a, mode)


@linear(np.correlate, "a", "v")
def correlate(a, v, mode="valid", *, y, y_bar):
    """Sums of products of shifts of a with v, which is conjugated."""
    return uncorrelate_left(y_bar, a, v, mode), uncorrelate_right(y_bar, a, v, mode)


# --- transposes ------------------------------------------------------------------------------------------------------
@linear(runtime.unconvolve, "g", "v")
def unconvolve_(g, a, v, mode="full", *, y, y_bar):
    """The transpose of np.convolve."""
    return np.convolve(y_bar, v, mode), unconvolve(g, v, y_bar, mode)


@linear(runtime.uncorrelate_left, "g", "v")
def uncorrelate_left_(g, a, v, mode="valid", *, y, y_bar):
    """The first transpose of np.correlate."""
    return np.correlate(y_bar, v, mode), uncorrelate_right(g, y_bar, v, mode)


@linear(runtime.uncorrelate_right, "g", "a")
def uncorrelate_right_(g, a, v, mode="valid", *, y, y_bar):
    """The second transpose of np.correlate."""
    return np.correlate(a, y_bar, mode), uncorrelate_left(g, a, y_bar, mode)


# --- windows ---------------------------------------------------------------------------------------------------------
@rule(np.kaiser)
def kaiser(M, beta, *, y, y_bar):
    """I0(beta * s) / I0(beta) over a half circle s; the derivative of I0 is I1 (DLMF 10.29.3)."""
    s = kaiser_abscissas(M)
    return None, unbroadcast(np.sum(y_bar * (s * bessel_i(1, beta * s) - y * bessel_i(1, beta))) / np.i0(beta), beta)


@kaiser.tangent
def kaiser(M, beta, *, y, beta_dot):
    s = kaiser_abscissas(M)
    return beta_dot * (s * bessel_i(1, beta * s) - y * bessel_i(1, beta)) / np.i0(beta)


# --- facts -----------------------------------------------------------------------------------------------------------
def cotangent_of(name):
    """What infers a cotangent of an argument: like the argument, if that is no list."""

    def infer(arguments, literals):
        fact = arguments[name]
        if not isinstance(fact, Array):
            return Unknown()
        return fact if is_floating(fact.dtype) else Array(fact.shape, None)

    return infer


def vector_result(first, second):
    """What infers a vector of the common dtype of two arguments."""

    def infer(arguments, literals):
        dtypes = [as_array(arguments[name]).dtype for name in (first, second)]
        return Array((None,), None if set(dtypes) & set(WEAK) else promote(*dtypes))

    return infer


for product in (convolve, correlate):
    product.infer(vector_result("a", "v"))
for left in (unconvolve_, uncorrelate_left_):
    left.infer(cotangent_of("a"))
uncorrelate_right_.infer(cotangent_of("v"))
kaiser.infer(lambda arguments, literals: Array((None,), None))
