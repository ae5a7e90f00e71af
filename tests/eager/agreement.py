"""The judge of plain programs run eagerly: the same value, and the cotangents of the compiled program to 1e-12."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests import derivatives, oracle

CLOSE = 1e-12


def assert_same_cotangents(got: Any, expected: Any, like: Any, what: object) -> None:
    """Structure, shapes and dtypes, then numbers; of single precision what its rounding allows."""
    numbers = derivatives.numbers_like(got, like)
    compiled = derivatives.numbers_like(expected, like)
    for mine, other in zip(numbers, compiled, strict=True):
        mine, other = np.asarray(mine), np.asarray(other)
        close = CLOSE if np.finfo(mine.dtype).eps < 1e-10 else 1e-6
        apart = np.where(same(mine, other), 0.0, np.abs(mine - other))
        allowed = close * max(1.0, float(np.max(np.abs(other), initial=0.0)))
        assert np.all(apart <= allowed), f"{what}: eager {mine}, compiled {other}"


def same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Where two arrays are equal, infinities and NaN included."""
    return (one == other) | (np.isnan(one) & np.isnan(other))


def assert_same_value(got: Any, expected: Any, what: object) -> None:
    """The very numbers, in the same structure and dtypes."""
    derivatives.assert_same_structure(got, expected)
    np.testing.assert_array_equal(oracle.ravel(got), oracle.ravel(expected), err_msg=f"{what}: the value differs")
