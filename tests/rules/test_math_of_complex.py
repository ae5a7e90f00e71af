"""Functions of ``math`` of NumPy's complex numbers, of which Python reads the real part."""

from __future__ import annotations

import math

import numpy as np
import pytest

import srcgrad
from srcgrad.programs import options
from tests.rules.programs import program

X = np.array([0.6, 1.2])
CALLS = [
    f"math.{name}(z[0])"
    for name in "sin cos tan asin acos atan sinh cosh tanh asinh exp exp2 expm1 log log2 log10 log1p sqrt cbrt erf erfc"
    " gamma lgamma fabs degrees".split()
    if hasattr(math, name)
]
CALLS += [
    "math.pow(z[0], z[1])", "math.log(z[0], z[1])", "math.atan2(z[0], z[1])", "math.copysign(z[0], -1.0)",
    "math.dist(z, [3.0, 1.0])", "math.dist([z[0]], [z[1]])", "math.modf(z[0])[0]", "math.hypot(*z)",
    "math.hypot(z[0], 1.0)", "math.fsum(z)", "math.fmod(z[1], 0.5)", "math.ldexp(z[0], 2)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("road", [{}, {"infer": False}, {"specialise": False}], ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_the_real_part_is_read(call: str, road: dict[str, bool]) -> None:
    for text in (call, f"np.imag({call} * (0.3 + 1j))"):
        f = program(f"(lambda z: {text})(x * (1 + 0.5j))")
        expected = np.array([(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(2)])
        with options(**road):
            np.testing.assert_allclose(srcgrad.grad(f)(X), expected, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(srcgrad.jvp(f, (X,), (np.ones(2),))[1], expected.sum(), rtol=1e-5, atol=1e-7)
