"""Special functions of ``math`` and NumPy, and the slopes that other rules are written in (NIST DLMF, 5, 7 and 10)."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math

import numpy as np

from srcgrad.rules.facts import Array, as_array, is_floating
from srcgrad.rules.table import elementwise, linear
from srcgrad.runtime import (
    angle_slope,
    bessel_i,
    half_circle,
    masked,
    polygamma,
    power_partial,
    quotient,
    safe_divide,
    share,
    sinc_slope,
    unbroadcast,
    where_finite,
    where_nonzero,
)


@elementwise(math.erf)
def erf(x, *, z, z_bar):
    """The error function, DLMF 7.2.1; 1.128... is 2 / sqrt(pi)."""
    return z_bar * 1.1283791670955126 * np.exp(-x * x)


@elementwise(math.erfc)
def erfc(x, *, z, z_bar):
    """The complementary error function, DLMF 7.2.2."""
    return -z_bar * 1.1283791670955126 * np.exp(-x * x)


@elementwise(math.gamma)
def gamma(x, *, z, z_bar):
    """The gamma function, DLMF 5.2.2."""
    return z_bar * z * polygamma(0, x)


@elementwise(math.lgamma)
def lgamma(x, *, z, z_bar):
    """The logarithm of the absolute value of the gamma function, DLMF 5.2.2."""
    return z_bar * polygamma(0, x)


@elementwise(np.i0)
def i0(x, *, z, z_bar):
    """The modified Bessel function of order 0, DLMF 10.29.3."""
    return z_bar * bessel_i(1, x)


@i0.infer
def i0(arguments, literals):
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype if is_floating(x.dtype) and x.shape else None)  # an array even of a number


# --- slopes that are functions of the runtime ------------------------------------------------------------------------
@elementwise(polygamma)
def polygamma_(n, x, *, z, z_bar):
    """Each polygamma function is the derivative of the one before, DLMF 5.15.1."""
    return None, z_bar * polygamma(n + 1, x)


@elementwise(bessel_i)
def bessel_i_(n, x, *, z, z_bar):
    """Twice the derivative is the sum of both neighbours, DLMF 10.29.1."""
    return None, z_bar * 0.5 * (bessel_i(n - 1, x) + bessel_i(n + 1, x))


@elementwise(sinc_slope)
def sinc_slope_(x, n=1, *, z, z_bar):
    """The derivatives of sinc, one by one."""
    return z_bar * sinc_slope(x, n + 1), None


@elementwise(power_partial)
def power_partial_(x, p, m, n, *, z, z_bar):
    """The partial derivatives of a power are partial derivatives of a power."""
    return z_bar * power_partial(x, p, m + 1, n), z_bar * power_partial(x, p, m, n + 1), None, None


@power_partial_.tangent_when(p=lambda p: not p.is_literal)
def power_partial_(x, p, m, n, *, z, x_dot, p_dot):
    """An exponent that does not move adds nothing, not even where log(x) is no number."""
    return x_dot * power_partial(x, p, m + 1, n), where_nonzero(p_dot, p_dot * power_partial(x, p, m, n + 1))


@elementwise(quotient)
def quotient_(x, y, *, z, z_bar):
    """The quotient, infinite where y is zero."""
    return quotient(z_bar, y), -quotient(z_bar * z, y)


@elementwise(safe_divide)
def safe_divide_(x, y, *, z, z_bar):
    """The quotient where y is not zero."""
    return safe_divide(z_bar, y), -safe_divide(z_bar * z, y)


@elementwise(angle_slope)
def angle_slope_(y, x, *, z, z_bar):
    """x / (x * x + y * y): the angle is a harmonic function, and so are its slopes."""
    w = angle_slope(x, y)
    return -2.0 * z_bar * z * w, z_bar * (w * w - z * z)


@elementwise(half_circle)
def half_circle_(x, *, z, z_bar):
    """sqrt(1 - x * x), infinite slope at -1 and 1."""
    return -quotient(z_bar * x, z)


@elementwise(share)
def share_(x1, x2, rate=1.0, *, z, z_bar):
    """The logistic function of rate * (x1 - x2): its slope by that is the product of both shares."""
    slope = rate * z * share(x2, x1, rate)
    return z_bar * slope, -z_bar * slope, None


@linear(masked, "g")
def masked_(g, mask, *, y, y_bar):
    """A projection."""
    return unbroadcast(masked(y_bar, mask), g)


@linear(where_finite, "g")
def where_finite_(g, x, *, y, y_bar):
    """A projection."""
    return where_finite(y_bar, x)
