"""Functions of ``math`` of NumPy's complex numbers, of which Python reads the real part: refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedType
from tests.rules.programs import program

X = np.array([0.6, 1.2])
NAMES = "sin cos exp log1p sqrt erf gamma fabs degrees".split()
CALLS = [f"math.{name}(z[0])" for name in NAMES] + [
    "math.pow(z[0], z[1])", "math.log(z[0], z[1])", "math.atan2(z[0], z[1])", "math.copysign(z[0], -1.0)",
    "math.dist(z, [3.0, 1.0])", "math.dist([z[0]], [z[1]])", "math.modf(z[0])[0]", "math.hypot(*z)",
    "math.hypot(z[0], 1.0)", "math.fsum(z)", "math.fmod(z[1], 0.5)", "math.ldexp(z[0], 2)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("road", [{}, {"specialise": False}], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_a_complex_number_is_refused(call: str, road: dict[str, bool]) -> None:
    """The derivative was that of the complex function."""
    f = program(f"(lambda z: {call})(x * (1 + 0.5j))")
    for derivative in (srcgrad.grad(f), lambda x: srcgrad.jvp(f, (x,), (x,))):
        with options(**road), pytest.raises((UnsupportedSyntax, RefusedType), match="real part"):
            derivative(X)


@pytest.mark.parametrize("road", [{}, {"specialise": False}], ids=str)
def test_real_numbers_are_not(road: dict[str, bool]) -> None:
    def f(x):
        z = x[0] * np.exp(1j * x[1])
        return math.hypot(z.real, z.imag) + math.sin(x[1]) + math.prod([z, z]).real

    with options(**road):
        expected = np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)])
        np.testing.assert_allclose(srcgrad.grad(f)(X), expected, rtol=1e-6)
