"""A function on both roads: it agrees with differences of its values, or is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import SrcgradError, options, value_and_grad

POINT = np.array([2.0, 1.0])
_ROADS: dict[str, dict[str, Any]] = {"alone": {"infer": False}, "first": {}, "last": {"infer_first": False}}
ROADS = pytest.mark.parametrize("road", _ROADS.values(), ids=_ROADS)


def right(function: Callable[..., Any], road: dict[str, Any], at: np.ndarray = POINT) -> None:
    with options(**road):
        value, gradient = value_and_grad(function)(at.copy())
    steps = 1e-6 * np.eye(at.size)
    expected = [(function(at + step) - function(at - step)) / 2e-6 for step in steps]
    assert value == pytest.approx(function(at.copy()))
    np.testing.assert_allclose(np.asarray(gradient), expected, atol=1e-6)


def refused(function: Callable[..., Any], road: dict[str, Any], words: str) -> None:
    with options(**road), pytest.raises(SrcgradError, match=words) as error:
        value_and_grad(function)(POINT.copy())
    assert error.value.span.known
