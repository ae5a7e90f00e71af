"""Circular and hyperbolic functions and their inverses (Abramowitz & Stegun, 4.3 to 4.6).

On a cut of an inverse the slope is that of the side on which its value lies, which the sign of a zero tells.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import cmath
import math

import numpy as np

from srcgrad.rules.arguments import is_complex, is_python, is_real
from srcgrad.rules.table import elementwise
from srcgrad.runtime import angle_slope, half_circle, quotient, sinc_slope


# --- circular functions ----------------------------------------------------------------------------------------------
@elementwise(np.sin, math.sin, cmath.sin)
def sin(x, *, z, z_bar):
    """The sine."""
    return z_bar * np.cos(x)


@elementwise(np.cos, math.cos, cmath.cos)
def cos(x, *, z, z_bar):
    """The cosine."""
    return -z_bar * np.sin(x)


@elementwise(np.tan, math.tan, cmath.tan)
def tan(x, *, z, z_bar):
    """The tangent."""
    return z_bar * (1.0 + z * z)


@elementwise(np.arcsin, math.asin, cmath.asin)
def arcsin(x, *, z, z_bar):
    """The inverse sine; infinite slope at -1 and 1."""
    return quotient(z_bar, half_circle(x))


@arcsin.when(x=is_real)
def arcsin(x, *, z, z_bar):
    """The inverse sine of a real number; infinite slope at -1 and 1."""
    return quotient(z_bar, np.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(np.arccos, math.acos, cmath.acos)
def arccos(x, *, z, z_bar):
    """The inverse cosine; infinite slope at -1 and 1."""
    return -quotient(z_bar, half_circle(x))


@arccos.when(x=is_real)
def arccos(x, *, z, z_bar):
    """The inverse cosine of a real number; infinite slope at -1 and 1."""
    return -quotient(z_bar, np.sqrt((1.0 - x) * (1.0 + x)))


@elementwise(np.arctan, math.atan, cmath.atan)
def arctan(x, *, z, z_bar):
    """The inverse tangent."""
    return z_bar / (1.0 + x * x)


@elementwise(np.arctan2, math.atan2)
def arctan2(x1, x2, *, z, z_bar):
    """The angle of (x2, x1), with slope 0 at the origin."""
    return z_bar * angle_slope(x1, x2), -z_bar * angle_slope(x2, x1)


# --- hyperbolic functions --------------------------------------------------------------------------------------------
@elementwise(np.sinh, math.sinh, cmath.sinh)
def sinh(x, *, z, z_bar):
    """The hyperbolic sine."""
    return z_bar * np.cosh(x)


@elementwise(np.cosh, math.cosh, cmath.cosh)
def cosh(x, *, z, z_bar):
    """The hyperbolic cosine."""
    return z_bar * np.sinh(x)


@elementwise(np.tanh, math.tanh, cmath.tanh)
def tanh(x, *, z, z_bar):
    """The hyperbolic tangent."""
    return z_bar * (1.0 - z * z)


@elementwise(np.arcsinh, math.asinh, cmath.asinh)
def arcsinh(x, *, z, z_bar):
    """The inverse hyperbolic sine."""
    return z_bar / np.sqrt(x * x + 1.0)


@arcsinh.when(x=is_complex)
def arcsinh(x, *, z, z_bar):
    """The inverse hyperbolic sine of a complex number."""
    return z_bar / np.cosh(z)


@elementwise(np.arccosh, math.acosh, cmath.acosh)
def arccosh(x, *, z, z_bar):
    """The inverse hyperbolic cosine; infinite slope at 1."""
    return quotient(z_bar, np.sinh(z))


@arccosh.when(x=is_real)
def arccosh(x, *, z, z_bar):
    """The inverse hyperbolic cosine of a real number; infinite slope at 1."""
    return quotient(z_bar, np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh, math.atanh, cmath.atanh)
def arctanh(x, *, z, z_bar):
    """The inverse hyperbolic tangent."""
    return z_bar / ((1.0 - x) * (1.0 + x))


@arctanh.when(x=is_python)
def arctanh(x, *, z, z_bar):
    """The inverse hyperbolic tangent of a Python number, which may be -1 or 1."""
    return quotient(z_bar, (1.0 - x) * (1.0 + x))


@elementwise(np.sinc)
def sinc(x, *, z, z_bar):
    """sin(pi x) / (pi x), smooth at 0."""
    return z_bar * sinc_slope(x)
