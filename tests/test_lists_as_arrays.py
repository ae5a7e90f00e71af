"""Python lists that a program hands to NumPy: their gradient is a list, or it is refused; never a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad


def reduced(x):
    return np.sum(np.sin(x)) + np.prod(x)


def element_beside_array(x):
    return np.max(x) + x[1] ** 2


def read_in_a_loop(x):
    s = 0.0
    for v in x:
        s = s + v * np.sum(x)
    return s


def as_array_and_as_it_is(x):
    return np.sum(np.exp(np.array(x))) + np.linalg.norm(x) + sum(x)


def sum_of_rows(x):
    return np.sum(np.cumsum(x, axis=1)) * x[0][1]


def norm_of_what_a_loop_collected(x):
    y = [v * v for v in x]
    return np.linalg.norm(y) + 2.0 * sum(y)


def differences(function: Callable[..., Any], x: list[Any]) -> Any:
    given, step = np.array(x), 1e-6
    slopes = np.zeros(given.shape)
    for i in np.ndindex(given.shape):
        h = np.zeros(given.shape)
        h[i] = step
        slopes[i] = (function((given + h).tolist()) - function((given - h).tolist())) / (2.0 * step)
    return slopes


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (reduced, [1.0, 2.0, 5.0]),
        (element_beside_array, [1.0, 2.0, 5.0]),
        (read_in_a_loop, [1.0, 2.0, 5.0]),
        (as_array_and_as_it_is, [0.5, 2.0]),
        (sum_of_rows, [[1.0, 2.0], [3.0, 4.0]]),
        (norm_of_what_a_loop_collected, [0.4, 0.7]),
    ],
)
def test_the_gradient_of_a_list_is_a_list(function: Callable[..., Any], x: list[Any]) -> None:
    found = grad(function)(x)
    assert type(found) is list
    assert np.array(found).dtype == np.float64
    np.testing.assert_allclose(found, differences(function, x), rtol=1e-6)


def repeated(x):
    return np.sum(x * 3)


def test_arithmetic_that_may_mean_another_thing_for_lists_is_refused() -> None:
    """``[v] * 3`` is three elements, not one three times as large."""
    with pytest.raises(UnsupportedSyntax, match="joining or repeating a list"):
        grad(repeated)([2.0])
