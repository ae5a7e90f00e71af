"""Results that facts prove to be one real number: a derivative is then one program, not a pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad


def reversed_by_counting(x):
    return np.sum(x[::-1] * np.arange(3))


def between_two_numbers(x):
    return np.sum(x * np.linspace(0.0, 1.0, 3))


def floats_beside_elements(x):
    return np.array([x[0], x[1], 1.0]) @ x


def whole_parts(x):
    return math.floor(x[0]) * x[0] + math.ceil(x[1]) * math.comb(4, 2) * x[2]


def places(x):
    return np.argmax(x) * x[0] + np.searchsorted(x, 0.5) * x[1] + np.argsort(x)[0] * x[2]


def counted(x):
    return np.sum(x > 0.5) * x[0]


def greatest_of_two(x):
    return max([x[0], 0.3]) * min(x)


def between_knots(x):
    return np.interp(x[0], np.arange(3.0), x)


@pytest.mark.parametrize(
    "function",
    [
        reversed_by_counting, between_two_numbers, floats_beside_elements, whole_parts, places, counted,
        greatest_of_two, between_knots,
    ],
)  # fmt: skip
def test_a_result_is_proved_to_be_one_number(function: Callable[..., Any]) -> None:
    derivative = grad(function)
    x = np.array([0.2, 0.4, 0.9])
    assert derivative.program(derivative.parameters.bind((x,), {})).scalar_result
    step = 1e-6 * np.eye(3)
    expected = [(function(x + h) - function(x - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(derivative(x), expected, rtol=1e-6, atol=1e-9)


def test_numbers_between_single_ones_are_single() -> None:
    """The fact of linspace had said float64 whatever its ends were."""

    def weighted(x):
        ends = np.linspace(np.float32(0.0), np.float32(1.0), 3)
        return np.sum(x * ends)

    x = np.array([0.5, 0.25, 1.0], np.float32)
    gradient = grad(weighted)(x)
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, np.array([0.0, 0.5, 1.0], np.float32))
