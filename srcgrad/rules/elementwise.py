"""Arithmetic, powers, exponentials and choices, element by element.

Formulas: Abramowitz & Stegun, chapter 4, unless said otherwise.  Where a function has a kink the subgradient is the one
PyTorch takes: 0 for ``abs`` at 0, a half to each of two equal arguments of ``maximum``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math
import operator

import numpy as np

from srcgrad.rules.facts import Array, as_array, broadcast, promote
from srcgrad.rules.table import elementwise, rule
from srcgrad.rules.template import Argument
from srcgrad.runtime import is_above, is_below, is_within, power_partial, safe_divide, unbroadcast, wins


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


@elementwise(np.divide, operator.truediv)
def divide(x1, x2, *, z, z_bar):
    """The quotient."""
    return z_bar / x2, -z_bar * z / x2


@elementwise(np.negative, operator.neg)
def negative(x, *, z, z_bar):
    """The negative."""
    return -z_bar


@elementwise(np.positive, operator.pos)
def positive(x, *, z, z_bar):
    """The number itself."""
    return z_bar


@elementwise(np.remainder, operator.mod)
def remainder(x1, x2, *, z, z_bar):
    """The remainder of floor division: x1 - x2 * floor(x1 / x2), the floor a constant."""
    return z_bar, -z_bar * np.floor_divide(x1, x2)


@elementwise(np.floor_divide, operator.floordiv)
def floor_divide(x1, x2, *, z, z_bar):
    """The floor of the quotient, constant between its jumps."""
    return None, None


@elementwise(np.fmod, math.fmod)
def fmod(x1, x2, *, z, z_bar):
    """The remainder with the sign of x1: x1 - x2 * trunc(x1 / x2)."""
    return z_bar, -z_bar * np.trunc(x1 / x2)


# --- powers ----------------------------------------------------------------------------------------------------------
def _nonzero_number(argument: Argument) -> bool:
    return argument.is_literal and isinstance(argument.literal, int | float) and argument.literal not in (0, 1, 2)


@elementwise(np.power, operator.pow, pow, math.pow)
def power(x1, x2, *, z, z_bar):
    """The power, with the limits of its slopes where x1 or x2 is zero."""
    return z_bar * power_partial(x1, x2, 1, 0), z_bar * power_partial(x1, x2, 0, 1)


@power.when(x2=lambda argument: argument.is_literal and argument.literal == 1)
def power(x1, x2, *, z, z_bar):
    """x ** 1."""
    return z_bar, z_bar * power_partial(x1, x2, 0, 1)


@power.when(x2=lambda argument: argument.is_literal and argument.literal == 2)
def power(x1, x2, *, z, z_bar):
    """x ** 2."""
    return z_bar * 2.0 * x1, z_bar * power_partial(x1, x2, 0, 1)


@power.when(x2=_nonzero_number)
def power(x1, x2, *, z, z_bar):
    """A literal exponent other than 0."""
    return z_bar * x2 * x1 ** (x2 - 1), z_bar * power_partial(x1, x2, 0, 1)


power.accept(base="x1", exp="x2")
power.keeps_integers = True


@elementwise(np.square)
def square(x, *, z, z_bar):
    """The square."""
    return z_bar * 2.0 * x


@elementwise(np.sqrt, math.sqrt)
def sqrt(x, *, z, z_bar):
    """The square root; infinite slope at 0."""
    return z_bar / (2.0 * z)


@elementwise(np.cbrt, math.cbrt)
def cbrt(x, *, z, z_bar):
    """The cube root."""
    return z_bar / (3.0 * z * z)


@elementwise(np.reciprocal)
def reciprocal(x, *, z, z_bar):
    """The reciprocal."""
    return -z_bar * z * z


@elementwise(np.hypot)
def hypot(x1, x2, *, z, z_bar):
    """The length of (x1, x2), with slope 0 at the origin."""
    return z_bar * safe_divide(x1, z), z_bar * safe_divide(x2, z)


# --- exponentials and logarithms -------------------------------------------------------------------------------------
@elementwise(np.exp, math.exp)
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


@elementwise(math.log)
def log_base(x, base=math.e, *, z, z_bar):
    """The logarithm to any base."""
    return z_bar / (x * math.log(base)), -z_bar * z / (base * math.log(base))


@log_base.when(base=math.e)
def log_base(x, base=math.e, *, z, z_bar):
    """The natural logarithm."""
    return z_bar / x, -z_bar * z / base


@elementwise(np.log2, math.log2)
def log2(x, *, z, z_bar):
    """The logarithm to base 2."""
    return z_bar / (x * 0.6931471805599453)


@elementwise(np.log10, math.log10)
def log10(x, *, z, z_bar):
    """The logarithm to base 10."""
    return z_bar / (x * 2.302585092994046)


@elementwise(np.log1p, math.log1p)
def log1p(x, *, z, z_bar):
    """log(1 + x)."""
    return z_bar / (1.0 + x)


@elementwise(np.logaddexp)
def logaddexp(x1, x2, *, z, z_bar):
    """log(exp(x1) + exp(x2)): each argument's share of the sum."""
    return z_bar * np.exp(x1 - z), z_bar * np.exp(x2 - z)


@elementwise(np.logaddexp2)
def logaddexp2(x1, x2, *, z, z_bar):
    """log2(2**x1 + 2**x2)."""
    return z_bar * np.exp2(x1 - z), z_bar * np.exp2(x2 - z)


# --- signs, angles' units --------------------------------------------------------------------------------------------
@elementwise(np.absolute, np.fabs, abs, math.fabs, operator.abs)
def absolute(x, *, z, z_bar):
    """The absolute value; slope 0 at 0."""
    return z_bar * np.sign(x)


@elementwise(np.copysign, math.copysign)
def copysign(x1, x2, *, z, z_bar):
    """|x1| with the sign of x2, which is a constant."""
    return z_bar * np.sign(x1) * np.sign(z), None


@elementwise(np.deg2rad, np.radians, math.radians)
def radians(x, *, z, z_bar):
    """Degrees to radians."""
    return z_bar * 0.017453292519943295


@elementwise(np.rad2deg, np.degrees, math.degrees)
def degrees(x, *, z, z_bar):
    """Radians to degrees."""
    return z_bar * 57.29577951308232


@elementwise(np.ldexp, math.ldexp)
def ldexp(x1, x2, *, z, z_bar):
    """x1 * 2 ** x2, x2 an integer."""
    return np.ldexp(z_bar, x2), None


# --- choices ---------------------------------------------------------------------------------------------------------
@elementwise(np.maximum)
def maximum(x1, x2, *, z, z_bar):
    """The greater one; equal arguments share."""
    return z_bar * wins(x1, x2), z_bar * wins(x2, x1)


@elementwise(np.minimum)
def minimum(x1, x2, *, z, z_bar):
    """The smaller one; equal arguments share."""
    return z_bar * wins(x2, x1), z_bar * wins(x1, x2)


@elementwise(np.fmax)
def fmax(x1, x2, *, z, z_bar):
    """The greater one that is a number."""
    return np.where(np.isnan(x2), z_bar, z_bar * wins(x1, x2)), np.where(np.isnan(x1), z_bar, z_bar * wins(x2, x1))


@elementwise(np.fmin)
def fmin(x1, x2, *, z, z_bar):
    """The smaller one that is a number."""
    return np.where(np.isnan(x2), z_bar, z_bar * wins(x2, x1)), np.where(np.isnan(x1), z_bar, z_bar * wins(x1, x2))


@elementwise(np.where)
def where(condition, x, y, *, z, z_bar):
    """A choice; what is not taken gets an exact zero, whatever the cotangent holds there."""
    return None, np.where(condition, z_bar, 0.0), np.where(condition, 0.0, z_bar)


@elementwise(np.clip)
def clip(a, a_min=None, a_max=None, *, z, z_bar):
    """Bounded values; at a bound the derivative belongs to ``a`` (PyTorch's clamp)."""
    return (
        np.where(is_within(a, a_min, a_max), z_bar, 0.0),
        np.where(is_below(a, a_min, a_max), z_bar, 0.0),
        np.where(is_above(a, a_min, a_max), z_bar, 0.0),
    )


@where.infer
def where(arguments, literals):
    condition, x, y = (as_array(arguments[p]) for p in ("condition", "x", "y"))
    return Array(broadcast(condition, broadcast(x, y)).shape, promote(x.dtype, y.dtype))  # never a scalar


clip.accept(min="a_min", max="a_max")


def part_result(arguments, literals):
    """The fact of a part of a number: a 0-d array stays one."""
    val = as_array(arguments["val"])
    return val if val.shape and val.dtype in ("float64", "float32") else Array(val.shape)


@elementwise(np.nan_to_num)
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, *, z, z_bar):
    """Finite values pass."""
    return np.where(np.isfinite(x), z_bar, 0.0), None, None, None


nan_to_num.accept(ignored=("copy",))


# --- complex numbers, seen from the reals ----------------------------------------------------------------------------
@elementwise(np.real)
def real(val, *, z, z_bar):
    """The real part; of a real number, the number."""
    return z_bar


@elementwise(np.conjugate)
def conjugate(x, *, z, z_bar):
    """The conjugate; of a real number, the number."""
    return np.conjugate(z_bar)


@rule(np.imag)
def imag(val, *, z, z_bar):
    """The imaginary part; of a real number, zero."""
    return unbroadcast(1j * z_bar, val)


@imag.tangent
def imag(val, *, z, val_dot):
    return np.imag(val_dot)


real.infer(part_result)
imag.infer(lambda arguments, literals: Array(as_array(arguments["val"]).shape))


# Integers in, integers out: the others are floating whatever they are given.
for kept in (
    add,
    subtract,
    multiply,
    negative,
    positive,
    remainder,
    floor_divide,
    square,
    absolute,
    maximum,
    minimum,
    where,
    clip,
):
    kept.keeps_integers = True
