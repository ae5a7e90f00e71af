"""What computes with integers as they are, and what is an integer in one round alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import srcgrad
from srcgrad.errors import MissingRule

N = np.array([200, 100], np.uint8)
X = np.array([1.3, 0.4])


def blend(x: Any, n: Any) -> Any:
    return x * (n * n)


@srcgrad.elementwise(blend)
def blend_rule(x, n, *, y, y_bar):  # type: ignore[no-untyped-def]
    return y_bar * (n * n), y_bar * x * 2 * n


def in_rounds(x: Any) -> Any:
    m: Any = np.array([200, 100], np.uint8)
    for w in (1.0, 2.0):
        m = np.arctan2(w * x, m)
    return m


def on_one_path(x: Any) -> Any:
    n = x if x[0] > 100.0 else N
    return np.hypot(x, n) + np.arctan2(x, n)


PROGRAMS: list[Callable[[Any], Any]] = [
    lambda x: blend(x, N),
    in_rounds,
    on_one_path,
    lambda x: np.gradient(x, N) ** 2,
    lambda x: math.prod([x[0], x[1]], start=np.array([1.0, 2.0])) * np.array([3.0, 5.0]),
    lambda x: math.prod([x, 2.0 * x], start=np.array([[1.0, 2.0], [3.0, 4.0]])) * np.array([[3.0, 5.0], [7.0, 11.0]]),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", PROGRAMS)
def test_as_the_function_computes(f: Callable[[Any], Any]) -> None:
    def total(x: Any) -> Any:
        return np.sum(f(x))

    h = 1e-6
    slopes = [np.sum(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(2)]
    for specialise in (True, False):
        with srcgrad.options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(total)(X), slopes, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(srcgrad.jacfwd(total)(X), slopes, rtol=1e-5, atol=1e-6)


def test_distributions_of_two_narrow_integers_are_refused() -> None:
    for derivative in (srcgrad.grad, srcgrad.jacfwd):
        with pytest.raises(MissingRule, match="few bits"):
            derivative(lambda s: np.sum(stats.norm.logpdf(N, np.array([5, 2], np.uint8), s)))(X)


def test_the_dtype_is_that_of_the_result() -> None:
    x, n = np.array([2.0, 1.0], np.float16), np.array([100000, 3], np.int32)
    _, moved = srcgrad.jvp(lambda x: np.arctan2(x, n), (x,), (np.ones_like(x),))
    np.testing.assert_allclose(moved, [1e-5, 0.3], rtol=1e-3)
