"""Operands that no sample has: each was once differentiated silently wrong."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg, special, stats

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedMode, RefusedType, RefusedValue

X = np.array([0.2, 0.5, 0.7])
Z = np.array([0.5 + 0.3j, 0.7 + 0.1j, 0.9])
ROWS = np.array([1.0, 2.0])

RIGHT: dict[str, Callable[[Any], Any]] = {
    "the product of rows": lambda x: math.prod(np.reshape(x, (3, 1)) * ROWS),
    "the product of rows from a start": lambda x: math.prod(np.reshape(x, (3, 1)) * ROWS, start=x[0]),
    "a distribution beyond its support": lambda x: special.tklmbda(3.0 * x, np.array([2.0, 0.5, -1.0])),
    "polynomials side by side": lambda x: np.polyint(x[:, None], 0) * x[0],
    "a degree between 0 and 1": lambda x: special.eval_legendre(0.5, x) + special.eval_chebyt(0.5, x),
}
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "distributions read real parts": (lambda x: stats.norm.pdf(Z, x), RefusedType, "real part"),
    "draws read real parts": (lambda x: np.random.normal(Z, x), RefusedType, "real part"),
    "cmath.rect reads a real part": (lambda x: cmath.rect(Z[0], x[0]).real, RefusedType, "real part"),
    "negative degrees": (lambda x: special.eval_chebyt(-1, x), RefusedValue, "negative degree"),
    "knots that fall": (lambda x: np.interp(x, [1.0, 0.5, 0.0], [1.0, 2.0, 4.0]), RefusedValue, "increase"),
    "points that are broadcast": (
        lambda x: stats.multivariate_normal.logpdf(x[:, None], [0.0, 1.0, 2.0]), RefusedMode, "dimension 3",
    ),
    "a right side without dimensions": (
        lambda x: linalg.solve_sylvester(ROWS[:1, None], ROWS[:1, None], x[0]), UnsupportedSyntax, "matrix",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.costly(2, first=1)
def test_right(name: str) -> None:
    f = RIGHT[name]

    def total(x: Any) -> Any:
        return np.sum(f(x))

    h = 1e-6
    slopes = [np.sum(f(X + h * e) - f(X - h * e)) / (2.0 * h) for e in np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(total)(X), slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.jacfwd(total)(X), slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    f, error, reason = REFUSED[name]
    for derivative in (srcgrad.grad, srcgrad.jacfwd):
        with pytest.raises(error, match=reason):
            derivative(lambda x: np.sum(f(x)))(X)

