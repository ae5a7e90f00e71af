"""A function by each road that a program may come, against Python and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused

ROADS: dict[str, dict[str, Any]] = {
    "inferred": {},
    "front end": {"infer": False},
    "generic": {"specialise": False},
    "not optimised": {"optimise": False},
}
A, B, STEP = 0.7, 1.1, 1e-6


def run(function: Callable[..., Any], road: str, *others: Any) -> None:
    """Value, gradient and tangent with respect to the first two arguments are right, or what Python raises comes."""
    vars(function).pop("__srcgrad_derivatives__", None)
    with options(**ROADS[road]):
        try:
            expected = function(A, B, *others)
        except Exception as error:
            try:
                srcgrad.value_and_grad(function, (0, 1))(A, B, *others)
            except type(error):
                return
            raise AssertionError(f"Python raises {error!r}") from error
        value, gradient = srcgrad.value_and_grad(function, (0, 1))(A, B, *others)
        again, tangent = srcgrad.jvp(function, (A, B, *others), (1.0, -0.7, *(None for _ in others)))
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
