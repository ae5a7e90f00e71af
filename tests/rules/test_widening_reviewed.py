"""What computes with integers as they are, and what is an integer in one round alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage, special, stats

import srcgrad
from srcgrad.errors import MissingRule
from srcgrad.runtime.refusals import RefusedType

N = np.array([200, 100], np.uint8)
X = np.array([1.3, 0.4])
WEIGHTS = np.array([200, 100, 90], np.uint8)


def blend(x: Any, n: Any) -> Any:
    return x * (n * n)


@srcgrad.elementwise(blend)
def blend_rule(x, n, *, y, y_bar):  # type: ignore[no-untyped-def]
    return y_bar * (n * n), y_bar * x * 2 * n


def shifted(x: Any, n: Any) -> Any:
    return x * (n - 201)


@srcgrad.elementwise(shifted)
def shifted_rule(x, n, *, y, y_bar):  # type: ignore[no-untyped-def]
    return y_bar * (n - 201), None


def weighted(x: Any) -> Any:
    weights = {"often": WEIGHTS}
    rows = np.stack([x, 2.0 * x**2, x * x])[:, [0, 1, 0]]
    return np.cov(rows, fweights=weights["often"], aweights=weights["often"])[0]


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
    lambda x: shifted(x, N),
    weighted,
    lambda x: np.gradient(np.outer(x, x), N, 2.0)[0][0],
    lambda x: np.trapezoid(np.outer(x, x), dx=2.0, axis=np.uint8(1)),
    in_rounds,
    on_one_path,
    lambda x: np.gradient(x, N) ** 2,
    lambda x: math.prod([x[0], x[1]], start=np.array([1.0, 2.0])) * np.array([3.0, 5.0]),
    lambda x: math.prod([x, 2.0 * x], start=np.array([[1.0, 2.0], [3.0, 4.0]])) * np.array([[3.0, 5.0], [7.0, 11.0]]),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.costly(2)
def test_as_the_function_computes(f: Callable[[Any], Any]) -> None:
    def total(x: Any) -> Any:
        return np.sum(f(x))

    h = 1e-6
    slopes = [np.sum(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(2)]
    for specialise in (True, False):
        with srcgrad.options(specialise=specialise):
            np.testing.assert_allclose(srcgrad.grad(total)(X), slopes, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(srcgrad.jacfwd(total)(X), slopes, rtol=1e-5, atol=1e-6)


#: Functions that take differences of integers as they are, by what they are given first.
WRAPPING: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "percentile": (np.array([100, -100], np.int8), lambda n, x: np.percentile(n, 10.0 * x)),
    "nanquantile": (np.array([100, -100], np.int32), lambda n, x: np.nanquantile(n, 0.1 * x)),
    "jvp": (np.array([0, 1], np.uint8), lambda n, x: special.jvp(n, x, 1)),
    "kvp": (np.array([0, 1], np.uint64), lambda n, x: special.kvp(n, x, 2)),
    "norm": (np.array([5, 2], np.uint8), lambda n, x: stats.norm.logpdf(N, n, x)),
    "shape": (np.array([127, 2], np.int8), lambda n, x: stats.t.logpdf(x, n)),
    "gaussian": (np.uint8(200), lambda n, x: ndimage.gaussian_filter1d(x, n)),
    "axes": (np.array([200, 2], np.uint8), lambda n, x: ndimage.gaussian_filter(np.outer(x, x), (n[0], n[1]))),
    "laplace": (np.int8(100), lambda n, x: ndimage.gaussian_laplace(x, n)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRAPPING)
@pytest.mark.costly(2)
def test_differences_that_wrap_around_are_refused(name: str) -> None:
    given, f = WRAPPING[name]

    def of_outside(x: Any) -> Any:
        return np.sum(f(given, x))

    def of_both(n: Any, x: Any) -> Any:
        return np.sum(f(n, x))

    for derivative in (srcgrad.grad, srcgrad.jacfwd):
        for refused, arguments in ((derivative(of_outside), (X,)), (derivative(of_both, argnums=1), (given, X))):
            with pytest.raises((MissingRule, RefusedType), match="wrap around"):
                refused(*arguments)
        derivative(of_both, argnums=1)(given.astype(float), X)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.percentile(N, 10.0 * x),
        lambda x: special.jvp(np.array([0, 1], np.int8), x, 1),
        lambda x: stats.norm.logpdf(N, 3, x),
        lambda x: stats.norm.logpdf(x, N, 1.0),
        lambda x: stats.binom.logpmf(N // 100, N // 50, 0.5 * x),
        lambda x: x * np.percentile(np.array([100, -100], np.int8), 50.0),
    ],
)
@pytest.mark.costly(2)
def test_differences_that_do_not_are_taken(f: Callable[[Any], Any]) -> None:
    test_as_the_function_computes(f)


def test_the_dtype_is_that_of_the_result() -> None:
    x, n = np.array([2.0, 1.0], np.float16), np.array([100000, 3], np.int32)
    _, moved = srcgrad.jvp(lambda x: np.arctan2(x, n), (x,), (np.ones_like(x),))
    np.testing.assert_allclose(moved, [1e-5, 0.3], rtol=1e-3)
