"""Arithmetic, exponentials and logarithms, units of angles, numbers taken apart, element by element.

Formulas: Abramowitz & Stegun, chapter 4, unless said otherwise.  They hold for complex numbers where NumPy takes them.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from srcgrad.rules.arguments import is_python
from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import quotient, share


# --- arithmetic ------------------------------------------------------------------------------------------------------
@elementwise(np.add, operator.add)
def add(x1, x2, *, z, z_bar):
    """The sum."""
    return z_bar, z_bar


@elementwise(np.subtract, operator.sub)
def subtract(x1, x2, *, z, z_bar):
    """The difference."""
    return z_bar, -z_bar


@elementwise(np.multiply, operator.mul)
def multiply(x1, x2, *, z, z_bar):
    """The product."""
    return z_bar * x2, z_bar * x1


@elementwise(operator.truediv)
def truediv(x1, x2, *, z, z_bar):
    """The quotient."""
    return z_bar / x2, -z_bar * z / x2


@elementwise(np.divide)
def divide(x1, x2, *, z, z_bar):
    """The quotient, infinite where x2 is zero."""
    return quotient(z_bar, x2), -quotient(z_bar * z, x2)


@elementwise(np.negative, operator.neg)
def negative(x, *, z, z_bar):
    """The negative."""
    return -z_bar


@elementwise(np.positive, operator.pos)
def positive(x, *, z, z_bar):
    """The number itself."""
    return z_bar


@elementwise(np.floor_divide, operator.floordiv)
def floor_divide(x1, x2, *, z, z_bar):
    """The floor of the quotient, constant between its jumps."""
    return None, None


@elementwise(np.remainder, operator.mod, np.fmod, math.fmod, math.remainder)
def remainder(x1, x2, *, z, z_bar):
    """What is left of x1 when a multiple of x2 is taken, (x1 - z) / x2 times, which is constant between jumps."""
    return z_bar, -z_bar * np.rint((x1 - z) / x2)


if hasattr(math, "fma"):  # Python 3.13

    @elementwise(math.fma)
    def fma(x, y, z, *, w, w_bar):
        """x * y + z."""
        return w_bar * y, w_bar * x, w_bar


# --- exponentials and logarithms -------------------------------------------------------------------------------------
@elementwise(np.exp, math.exp, cmath.exp)
def exp(x, *, z, z_bar):
    """The exponential is its own derivative."""
    return z_bar * z


@elementwise(np.exp2, math.exp2)
def exp2(x, *, z, z_bar):
    """2 ** x."""
    return z_bar * z * 0.6931471805599453


@elementwise(np.expm1, math.expm1)
def expm1(x, *, z, z_bar):
    """exp(x) - 1."""
    return z_bar * (z + 1.0)


@elementwise(np.log)
def log(x, *, z, z_bar):
    """The natural logarithm."""
    return z_bar / x


@log.when(x=is_python)
def log(x, *, z, z_bar):
    """The natural logarithm of a Python number, which may be zero."""
    return quotient(z_bar, x)


@elementwise(math.log)
def log_base(x, base=math.e, *, z, z_bar):
    """The logarithm to any base."""
    return z_bar / (x * math.log(base)), -z_bar * z / (base * math.log(base))


@log_base.when(base=math.e)
def log_base(x, base=math.e, *, z, z_bar):
    """The natural logarithm."""
    return z_bar / x, -z_bar * z / base


@elementwise(cmath.log)
def complex_log(z, base=math.e, *, w, w_bar):
    """The logarithm of a complex number to any base."""
    return w_bar / (z * cmath.log(base)), -w_bar * w / (base * cmath.log(base))


@complex_log.when(base=math.e)
def complex_log(z, base=math.e, *, w, w_bar):
    """The natural logarithm of a complex number."""
    return w_bar / z, -w_bar * w / base


@elementwise(np.log2, math.log2)
def log2(x, *, z, z_bar):
    """The logarithm to base 2."""
    return z_bar / (x * 0.6931471805599453)


@log2.when(x=is_python)
def log2(x, *, z, z_bar):
    """The logarithm to base 2 of a Python number, which may be zero."""
    return quotient(z_bar, x * 0.6931471805599453)


@elementwise(np.log10, math.log10, cmath.log10)
def log10(x, *, z, z_bar):
    """The logarithm to base 10."""
    return z_bar / (x * 2.302585092994046)


@log10.when(x=is_python)
def log10(x, *, z, z_bar):
    """The logarithm to base 10 of a Python number, which may be zero."""
    return quotient(z_bar, x * 2.302585092994046)


@elementwise(np.log1p, math.log1p)
def log1p(x, *, z, z_bar):
    """log(1 + x)."""
    return z_bar / (1.0 + x)


@log1p.when(x=is_python)
def log1p(x, *, z, z_bar):
    """log(1 + x) of a Python number, which may be -1."""
    return quotient(z_bar, 1.0 + x)


@elementwise(np.logaddexp)
def logaddexp(x1, x2, *, z, z_bar):
    """log(exp(x1) + exp(x2)): each argument's share of the sum."""
    return z_bar * share(x1, x2), z_bar * share(x2, x1)


@elementwise(np.logaddexp2)
def logaddexp2(x1, x2, *, z, z_bar):
    """log2(2**x1 + 2**x2): each argument's share of the sum."""
    return z_bar * share(x1, x2, 0.6931471805599453), z_bar * share(x2, x1, 0.6931471805599453)


# --- units of angles -------------------------------------------------------------------------------------------------
@elementwise(np.deg2rad, np.radians, math.radians)
def radians(x, *, z, z_bar):
    """Degrees to radians."""
    return z_bar * 0.017453292519943295


@elementwise(np.rad2deg, np.degrees, math.degrees)
def degrees(x, *, z, z_bar):
    """Radians to degrees."""
    return z_bar * 57.29577951308232


# --- floating-point numbers taken apart ------------------------------------------------------------------------------
@elementwise(np.ldexp, math.ldexp)
def ldexp(x1, x2, *, z, z_bar):
    """x1 * 2 ** x2, x2 an integer."""
    return np.ldexp(z_bar, x2), None


@rule(np.frexp, math.frexp)
def frexp(x, *, z, z_bar):
    """The mantissa, x / 2 ** e, and the exponent e, a constant."""
    return np.ldexp(z_bar[0], -z[1])


@frexp.tangent
def frexp(x, *, z, x_dot):
    return np.ldexp(x_dot, -z[1]), 0 * z[1]


@elementwise(np.nextafter, math.nextafter)
def nextafter(x1, x2, *, z, z_bar):
    """The next number after x1 towards x2: x1 and a step that is constant nearly everywhere."""
    return z_bar, None


ldexp.casts_operands = False


# Integers in, integers out: the others are floating whatever they are given.
for kept in (add, subtract, multiply, negative, positive, remainder, floor_divide):
    kept.keeps_integers = True
