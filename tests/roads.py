"""A function by each road that a program may come: it agrees with differences of its values, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import SrcgradError, jvp, options, value_and_grad
from srcgrad.runtime.refusals import Refused

POINT = np.array([2.0, 1.0])
A, B, STEP = 0.7, 1.1, 1e-6
OPTIONS: dict[str, dict[str, Any]] = {
    "inferred": {},
    "generic": {"specialise": False},
    "not optimised": {"optimise": False},
}
ROADS = pytest.mark.parametrize("road", ["inferred"])
EVERY_ROAD = pytest.mark.parametrize("road", ["inferred", "generic", "not optimised"])


# --- of an array, in reverse -----------------------------------------------------------------------------------------
def right(function: Callable[..., Any], road: str, at: np.ndarray = POINT) -> None:
    with options(**OPTIONS[road]):
        value, gradient = value_and_grad(function)(at.copy())
    steps = STEP * np.eye(at.size)
    expected = [(function(at + step) - function(at - step)) / (2.0 * STEP) for step in steps]
    assert value == pytest.approx(function(at.copy()))
    np.testing.assert_allclose(np.asarray(gradient), expected, atol=1e-6)


def refused(function: Callable[..., Any], road: str, words: str) -> None:
    with options(**OPTIONS[road]), pytest.raises(SrcgradError, match=words) as error:
        value_and_grad(function)(POINT.copy())
    assert error.value.span.known


# --- of two numbers, both ways, and with what Python raises ----------------------------------------------------------
def run(function: Callable[..., Any], road: str, *others: Any) -> None:
    """Value, gradient and tangent with respect to the first two arguments are right, or what Python raises comes."""
    vars(function).pop("__srcgrad_kept__", None)
    with options(**OPTIONS[road]):
        try:
            expected = function(A, B, *others)
        except Exception as error:
            try:
                value_and_grad(function, (0, 1))(A, B, *others)
            except type(error):
                return
            raise AssertionError(f"Python raises {error!r}") from error
        value, gradient = value_and_grad(function, (0, 1))(A, B, *others)
        again, tangent = jvp(function, (A, B, *others), (1.0, -0.7, *(None for _ in others)))
    by_a = (function(A + STEP, B, *others) - function(A - STEP, B, *others)) / (2.0 * STEP)
    by_b = (function(A, B + STEP, *others) - function(A, B - STEP, *others)) / (2.0 * STEP)
    np.testing.assert_allclose([value, again], expected)
    np.testing.assert_allclose([0.0 if g is None else g for g in gradient], [by_a, by_b], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(0.0 if tangent is None else tangent, by_a - 0.7 * by_b, rtol=1e-6, atol=1e-7)


def is_refused(function: Callable[..., Any], road: str, *others: Any) -> bool:
    """Whether a function is refused, at the latest where it runs."""
    try:
        run(function, road, *others)
    except (SrcgradError, Refused):
        return True
    return False
