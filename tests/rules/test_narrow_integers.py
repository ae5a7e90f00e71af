"""Operands of narrow integer types, and lists of them: formulas compute with them as the functions do, in floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, special, stats

import srcgrad
from tests.parameters import share_by_day

X = np.array([0.2, 0.5, 0.7])
N = [np.array([200, 30, 7], np.uint8), np.array([120, -100, 3], np.int8), np.array([0, 1, 2], np.uint64)]
NAMED = N[0]


def of_a_global(x: Any, n: Any) -> Any:
    return np.arctan2(x, NAMED)


FUNCTIONS: list[Callable[[Any, Any], Any]] = [
    of_a_global,
    lambda x, n: np.arctan2(x, n),
    lambda x, n: np.power(np.abs(x), np.abs(n) % 3),
    lambda x, n: np.hypot(x, n),
    lambda x, n: np.interp(x, [0.0, 0.4, 1.0], n),
    lambda x, n: np.polyval(n, x),
    lambda x, n: np.arctan2.outer(n, x),
    lambda x, n: np.roll(x, np.uint8(1)) * X,
    lambda x, n: np.trapezoid(x, n) * X,
    lambda x, n: np.gradient(n, x),
    lambda x, n: np.logspace(0.1, x, 3, base=np.abs(n) % 3 + 1),
    lambda x, n: special.jv(np.abs(n) % 3, x),
    lambda x, n: special.kn(np.abs(n) % 3, x),
    lambda x, n: special.expn(np.abs(n) % 3, x),
    lambda x, n: stats.t.logpdf(n, x),
    lambda x, n: ndimage.uniform_filter1d(x, np.uint8(2)) * X,
    lambda x, n: stats.binom.pmf(np.abs(n) % 3, 4, x),
]


def slopes(f: Callable[[Any], Any]) -> Any:
    h = 1e-6
    return np.array([np.sum(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)])


@pytest.mark.parametrize(("f", "n"), share_by_day([(f, n) for f in FUNCTIONS for n in N], 3))
@pytest.mark.costly(2, first=1)
def test_narrow_integers(f: Callable[[Any, Any], Any], n: Any) -> None:
    def total(x: Any, n: Any) -> Any:
        return np.sum(f(x, n))

    expected = slopes(lambda x: f(x, n))
    for specialise in (True, False):
        with srcgrad.options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(total)(X, n), expected, rtol=1e-5, atol=1e-7)
            np.testing.assert_allclose(srcgrad.jacfwd(total)(X, n), expected, rtol=1e-5, atol=1e-7)


def test_the_dtype_is_that_of_the_function() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.arctan2(x, NAMED))

    assert srcgrad.grad(f)(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("n", [[1, 0, 1], (1, 0, 1)])
def test_lists_where_a_constant_is_compared(n: Any) -> None:
    np.testing.assert_allclose(srcgrad.grad(lambda p: np.sum(stats.bernoulli.pmf(n, p)))(X), [1.0, -1.0, 1.0])
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(np.heaviside(n, x)))(X), [0.0, 1.0, 0.0])
    assert srcgrad.grad(lambda p: np.sum(stats.bernoulli.pmf([0, 1], p)))(0.4) == pytest.approx(0.0)
