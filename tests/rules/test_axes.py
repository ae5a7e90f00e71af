"""An axis may be a number of NumPy's or an array without dimensions, wherever NumPy takes it for an integer."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([[1.2, 2.5], [0.7, 3.1]])
FUNCTIONS = {
    "take": lambda x, axis: np.take(x, [0], axis=axis),
    "delete": lambda x, axis: np.delete(x, 0, axis=axis),
    "compress": lambda x, axis: np.compress([True, False], x, axis=axis),
    "prod": lambda x, axis: np.prod(x, axis=axis),
    "cumprod": lambda x, axis: np.cumprod(x, axis=axis),
    "concatenate": lambda x, axis: np.concatenate([x, x * x], axis=axis),
    "insert": lambda x, axis: np.insert(x, 0, x[0], axis=axis),
    "diff": lambda x, axis: np.diff(x, axis=axis),
    "reduceat": lambda x, axis: np.add.reduceat(x, [0, 1], axis=axis),
    "maximum.reduceat": lambda x, axis: np.maximum.reduceat(x, [0, 1], axis=axis),
    "linspace": lambda x, axis: np.linspace(x, 2.0 * x, 3, axis=axis),
    "logspace": lambda x, axis: np.logspace(x, 2.0 * x, 3, axis=axis, base=1.5),
    "geomspace": lambda x, axis: np.geomspace(x, 2.0 * x, 3, axis=axis),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_that_are_no_int(name: str) -> None:
    f = FUNCTIONS[name]
    expected = srcgrad.jacobian(f)(X, 1)
    for axis in (np.int64(1), np.array(1)):
        np.testing.assert_allclose(srcgrad.jacobian(f)(X, axis), expected)
        np.testing.assert_allclose(srcgrad.jacfwd(f)(X, axis), expected)
