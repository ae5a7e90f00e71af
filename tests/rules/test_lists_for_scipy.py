"""Lists that a program hands to SciPy: the derivative is that of the array which SciPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy

from srcgrad import grad, jvp
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedMode

X = np.array([0.7, 1.1, 0.4])
FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: scipy.linalg.companion([x[0], x[1], x[2]]),
    lambda x: scipy.linalg.toeplitz([x[0], x[1], x[2]]),
    lambda x: scipy.linalg.det([[x[0] + 3.0, x[1]], [x[2], 4.0]]),
    lambda x: scipy.linalg.expm([[x[0], x[1]], [x[2], 1.0]]),
    lambda x: scipy.linalg.solve([[x[0] + 3.0, x[1]], [x[2], 4.0]], [1.0, x[0]]),
    lambda x: scipy.linalg.solve_triangular([[x[0] + 3.0, x[1]], [x[2], 4.0]], [x[0], x[1]]),
    lambda x: scipy.linalg.cho_solve((np.diag([x[0], x[1]]), True), [x[0], x[1]]),
    lambda x: scipy.linalg.lu_solve(scipy.linalg.lu_factor([[x[0] + 3.0, x[1]], [x[2], 4.0]]), (x[0], x[1])),
    lambda x: scipy.special.logsumexp((x[0], x[1], x[2])),
    lambda x: scipy.stats.norm.logpdf([x[0], x[1]], loc=[x[1], x[2]], scale=[x[2], 2.0]),
    lambda x: scipy.stats.gamma.pdf([x[0], x[1]], [x[1], x[2]]),
    lambda x: scipy.stats.poisson.logpmf([1, 2, 3], [x[0], x[1], x[2]]),
    lambda x: scipy.stats.multivariate_normal.logpdf([x[0], x[1]], [x[2], 0.0], [[2.0 + x[0], 0.1], [0.1, 3.0]]),
    lambda x: scipy.signal.lfilter([x[0], 0.3], [1.0, x[1]], [x[0], x[1], x[2]]),
    lambda x: scipy.signal.detrend([x[0], x[1], x[2]]),
    lambda x: scipy.signal.savgol_filter([x[0], x[1], x[2], x[0], x[2]], 3, 1),
    lambda x: scipy.ndimage.convolve1d([x[0], x[1], x[2]], [x[0], x[1], x[2]]),
    lambda x: scipy.ndimage.gaussian_filter1d([x[0], x[1], x[2]], 1.0),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.costly(2)
def test_lists_are_arrays(function: Callable[[Any], Any]) -> None:
    """Errors of Python's before, where a rule indexed a list or took one from another, or refusals."""

    def total(x):
        return np.sum(function(x) ** 2)

    steps = 1e-6 * np.eye(3)
    expected = [(total(X + step) - total(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(total)(X), expected, atol=1e-6)
    np.testing.assert_allclose(jvp(total, (X,), (X,))[1], np.dot(expected, X), atol=1e-6)


REFUSED: list[tuple[Callable[[Any], Any], type[Exception]]] = [
    (lambda x: np.sum(np.vectorize(lambda v: (v * v, v))(x)[0]), UnsupportedSyntax),
    (lambda x: np.trim_zeros(np.array(x[0])) * 2.0, RefusedMode),
    (lambda x: np.poly(x[:0]) * x[0], RefusedMode),
    (lambda x: np.sum(scipy.linalg.lu(np.outer(x[:2], x) + np.eye(2, 3))[2]), RefusedMode),
]


@pytest.mark.parametrize("way", [lambda f: grad(f)(X), lambda f: jvp(f, (X,), (X,))])
@pytest.mark.parametrize(("function", "kind"), REFUSED)
def test_shapes_without_a_derivative_are_refused(function, kind, way) -> None:
    """NumPy's errors once, about arrays that no user wrote."""
    with pytest.raises(kind):
        way(function)


def test_running_sums_of_a_number() -> None:
    def total(x):
        return np.sum(np.cumulative_sum(np.array(x), include_initial=True) ** 2)

    assert grad(total)(3.0) == pytest.approx(6.0)
