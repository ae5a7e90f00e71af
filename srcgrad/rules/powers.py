"""Powers, roots and lengths, element by element.

An infinite slope is inf (the root of 0), not an exception; a power that does not depend on its base has slope 0.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,arg-type"
from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from srcgrad.rules.arguments import Argument, is_numpy
from srcgrad.rules.facts import as_array
from srcgrad.rules.results import elementwise as ufunc_result
from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import power_partial, quotient, rebroadcast, safe_divide, unbroadcast, where_nonzero


# --- powers ----------------------------------------------------------------------------------------------------------
def _is_open(argument: Argument) -> bool:
    return not argument.is_literal


def _is_one(argument: Argument) -> bool:
    return argument.is_literal and argument.literal == 1


def _is_two(argument: Argument) -> bool:
    return argument.is_literal and argument.literal == 2


def _is_fraction(argument: Argument) -> bool:
    return argument.is_literal and isinstance(argument.literal, float) and 0 < argument.literal < 1


def _is_nonzero(argument: Argument) -> bool:
    return argument.is_literal and isinstance(argument.literal, int | float) and argument.literal != 0


def _is_negative(argument: Argument) -> bool:
    return argument.is_literal and isinstance(argument.literal, int | float) and argument.literal < 0


def _may_be_python(argument: Argument) -> bool:
    return not is_numpy(argument)


def _is_positive(argument: Argument) -> bool:
    return argument.is_literal and isinstance(argument.literal, int | float) and argument.literal > 0


@elementwise(operator.pow, pow, math.pow)
def power(x1, x2, *, z, z_bar):
    """The power, with the limits of its slopes where x1 or x2 is zero."""
    return z_bar * power_partial(x1, x2, 1, 0), z_bar * power_partial(x1, x2, 0, 1)


@elementwise(np.power)
def numpy_power(x1, x2, *, z, z_bar):
    """The power, with the limits of its slopes where x1 or x2 is zero."""
    return z_bar * power_partial(x1, x2, 1, 0), z_bar * power_partial(x1, x2, 0, 1)


def _first(x1, x2, *, z, z_bar):
    """x ** 1."""
    return z_bar


def _second(x1, x2, *, z, z_bar):
    """x ** 2."""
    return z_bar * 2.0 * x1


def _root(x1, x2, *, z, z_bar):
    """A root: x ** (p - 1) below the line, so that a Python number may be zero."""
    return quotient(z_bar * x2, x1 ** (1 - x2))


def _inverse(x1, x2, *, z, z_bar):
    """A negative literal exponent: where x is 0 the power is infinite, and so is its quotient by x."""
    return z_bar * x2 * z / x1


def _literal(x1, x2, *, z, z_bar):
    """A literal exponent other than 0."""
    return z_bar * x2 * x1 ** (x2 - 1)


def _exponential(x1, x2, *, z, z_bar):
    """A power of a literal base."""
    return None, z_bar * z * math.log(x1)


@numpy_power.when(x1=_may_be_python, x2=_is_negative)
def numpy_power(x1, x2, *, z, z_bar):
    """An inverse power of what may be a Python zero: NumPy's power does not raise."""
    return z_bar * power_partial(x1, x2, 1, 0)


def _moving(x1, x2, *, z, x1_dot, x2_dot):
    """An exponent that does not move adds nothing, not even where log(x1) is no number."""
    return x1_dot * power_partial(x1, x2, 1, 0), where_nonzero(x2_dot, x2_dot * power_partial(x1, x2, 0, 1))


for made in (power, numpy_power):
    made.tangent_when(x1=_is_open, x2=_is_open)(_moving)
    made.when(x2=_is_one)(_first)
    made.when(x2=_is_two)(_second)
    made.when(x2=_is_fraction)(_root)
    made.when(x2=_is_negative)(_inverse)
    made.when(x2=_is_nonzero)(_literal)
    made.when(x1=_is_positive)(_exponential)
    made.keeps_integers = True
power.accept(base="x1", exp="x2")


@rule(np.float_power)
def float_power(x1, x2, *, z, z_bar):
    """The power in float64 or wider, with the limits of its slopes where x1 or x2 is zero."""
    return (
        unbroadcast(z_bar * power_partial(x1, x2, 1, 0), x1),
        unbroadcast(z_bar * power_partial(x1, x2, 0, 1), x2),
    )


float_power.pointwise = True


@float_power.tangent
def float_power(x1, x2, *, z, x1_dot, x2_dot):
    return (
        rebroadcast(x1_dot * power_partial(x1, x2, 1, 0), z),
        rebroadcast(where_nonzero(x2_dot, x2_dot * power_partial(x1, x2, 0, 1)), z),
    )


@float_power.infer
def float_power(arguments, literals):
    return ufunc_result(np.float_power, (), [as_array(arguments["x1"]), as_array(arguments["x2"])])


@elementwise(np.square)
def square(x, *, z, z_bar):
    """The square."""
    return z_bar * 2.0 * x


@elementwise(np.reciprocal)
def reciprocal(x, *, z, z_bar):
    """The reciprocal."""
    return -z_bar * z * z


# --- roots and lengths -----------------------------------------------------------------------------------------------
@elementwise(np.sqrt, math.sqrt, cmath.sqrt)
def sqrt(x, *, z, z_bar):
    """The square root; infinite slope at 0."""
    return quotient(z_bar, 2.0 * z)


@elementwise(np.cbrt, math.cbrt)
def cbrt(x, *, z, z_bar):
    """The cube root; infinite slope at 0."""
    return quotient(z_bar, 3.0 * z * z)


@elementwise(np.hypot)
def hypot(x1, x2, *, z, z_bar):
    """The length of (x1, x2), with slope 0 at the origin."""
    return z_bar * safe_divide(x1, z), z_bar * safe_divide(x2, z)

