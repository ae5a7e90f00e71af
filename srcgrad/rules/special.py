"""Special functions of ``math``, and the slopes that other rules are written in (NIST DLMF, chapters 5 and 7)."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math

import numpy as np

from srcgrad.rules.table import elementwise
from srcgrad.runtime import polygamma, power_partial, safe_divide, sinc_slope


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


@elementwise(polygamma)
def polygamma_(n, x, *, z, z_bar):
    """Each polygamma function is the derivative of the one before, DLMF 5.15.1."""
    return None, z_bar * polygamma(n + 1, x)


@elementwise(sinc_slope)
def sinc_slope_(x, n=1, *, z, z_bar):
    """The derivatives of sinc, one by one."""
    return z_bar * sinc_slope(x, n + 1), None


@elementwise(power_partial)
def power_partial_(x, p, m, n, *, z, z_bar):
    """The partial derivatives of a power are partial derivatives of a power."""
    return z_bar * power_partial(x, p, m + 1, n), z_bar * power_partial(x, p, m, n + 1), None, None


@elementwise(safe_divide)
def safe_divide_(x, y, *, z, z_bar):
    """The quotient where y is not zero."""
    return safe_divide(z_bar, y), -safe_divide(z_bar * z, y)
