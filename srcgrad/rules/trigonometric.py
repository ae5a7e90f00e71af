"""Circular and hyperbolic functions and their inverses (Abramowitz & Stegun, 4.3 to 4.6)."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math

import numpy as np

from srcgrad.rules.table import elementwise
from srcgrad.runtime import sinc_slope


@elementwise(np.sin, math.sin)
def sin(x, *, z, z_bar):
    """The sine."""
    return z_bar * np.cos(x)


@elementwise(np.cos, math.cos)
def cos(x, *, z, z_bar):
    """The cosine."""
    return -z_bar * np.sin(x)


@elementwise(np.tan, math.tan)
def tan(x, *, z, z_bar):
    """The tangent."""
    return z_bar * (1.0 + z * z)


@elementwise(np.arcsin, math.asin)
def arcsin(x, *, z, z_bar):
    """The inverse sine; infinite slope at -1 and 1."""
    return z_bar / np.sqrt(1.0 - x * x)


@elementwise(np.arccos, math.acos)
def arccos(x, *, z, z_bar):
    """The inverse cosine; infinite slope at -1 and 1."""
    return -z_bar / np.sqrt(1.0 - x * x)


@elementwise(np.arctan, math.atan)
def arctan(x, *, z, z_bar):
    """The inverse tangent."""
    return z_bar / (1.0 + x * x)


@elementwise(np.arctan2, math.atan2)
def arctan2(x1, x2, *, z, z_bar):
    """The angle of (x2, x1)."""
    r2 = x1 * x1 + x2 * x2
    return z_bar * x2 / r2, -z_bar * x1 / r2


@elementwise(np.sinh, math.sinh)
def sinh(x, *, z, z_bar):
    """The hyperbolic sine."""
    return z_bar * np.cosh(x)


@elementwise(np.cosh, math.cosh)
def cosh(x, *, z, z_bar):
    """The hyperbolic cosine."""
    return z_bar * np.sinh(x)


@elementwise(np.tanh, math.tanh)
def tanh(x, *, z, z_bar):
    """The hyperbolic tangent."""
    return z_bar * (1.0 - z * z)


@elementwise(np.arcsinh, math.asinh)
def arcsinh(x, *, z, z_bar):
    """The inverse hyperbolic sine."""
    return z_bar / np.sqrt(x * x + 1.0)


@elementwise(np.arccosh, math.acosh)
def arccosh(x, *, z, z_bar):
    """The inverse hyperbolic cosine; infinite slope at 1."""
    return z_bar / np.sqrt(x * x - 1.0)


@elementwise(np.arctanh, math.atanh)
def arctanh(x, *, z, z_bar):
    """The inverse hyperbolic tangent."""
    return z_bar / (1.0 - x * x)


@elementwise(np.sinc)
def sinc(x, *, z, z_bar):
    """sin(pi x) / (pi x), smooth at 0."""
    return z_bar * sinc_slope(x)
