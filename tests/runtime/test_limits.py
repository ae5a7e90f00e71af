"""Slopes at zeros, ties and bounds, where plain formulas give nan, infinity or an exception."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from srcgrad.rules.table import lookup
from srcgrad.runtime import polygamma, power_partial, running_product, safe_divide, sinc_slope


def partial(function: Any, parameter: str, *arguments: Any) -> Any:
    """The partial of one call with seed 1, by parameter."""
    made = lookup(function)
    assert made is not None
    given = made.parameters[: len(arguments)]
    y = function(*arguments)
    with np.errstate(all="ignore"):
        return made.compile_adjoint({parameter}, given)(*arguments, y, np.ones_like(y)[()])[0]


@pytest.mark.parametrize(
    ("x", "p", "by_x", "by_p"),
    [
        (0.0, 0, 0.0, 0.0),
        (0.0, 1, 1.0, 0.0),
        (0.0, 2, 0.0, 0.0),
        (0.0, 0.5, math.inf, 0.0),
        (2.0, 0.0, 0.0, math.log(2.0)),
        (-2.0, 3.0, 12.0, math.nan),
        (2.0, -1.0, -0.25, math.log(2.0) / 2),
        (0, 2, 0.0, 0.0),
        (2, -1.0, -0.25, math.log(2.0) / 2),
        (2.0, 0, 0.0, 0.0),  # whole exponents do not vary
        (-2.0, 3, 12.0, 0.0),
        (2, -1, -0.25, 0.0),
    ],
)
def test_powers(x: Any, p: Any, by_x: float, by_p: float) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(power_partial(x, p, 1, 0), by_x)
        np.testing.assert_allclose(power_partial(x, p, 0, 1), by_p)
        np.testing.assert_allclose(power_partial(np.array([float(x)]), p, 1, 0), [by_x])


def test_an_array_of_exponents() -> None:
    np.testing.assert_allclose(power_partial(np.zeros(4), np.arange(4.0), 1, 0), [0.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(power_partial(np.zeros(4), np.arange(4.0), 2, 0), [0.0, 0.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("function", "parameter", "arguments", "expected"),
    [
        (np.abs, "x", (np.array([-1.0, 0.0, 2.0]),), [-1.0, 0.0, 1.0]),
        (np.sqrt, "x", (np.array([0.0, 4.0]),), [math.inf, 0.25]),
        (np.linalg.norm, "x", (np.zeros(2),), [0.0, 0.0]),
        (np.std, "a", (np.ones(3),), [0.0, 0.0, 0.0]),
        (np.hypot, "x1", (0.0, 0.0), 0.0),
        (np.max, "a", (np.array([1.0, 3.0, 3.0]),), [0.0, 0.5, 0.5]),
        (np.maximum, "x1", (np.array([1.0, 2.0, 3.0]), 2.0), [0.0, 0.5, 1.0]),
        (np.minimum, "x1", (np.array([1.0, 2.0, 3.0]), 2.0), [1.0, 0.5, 0.0]),
        (np.clip, "a", (np.array([0.0, 1.0, 2.0, 3.0]), 1.0, 2.0), [0.0, 1.0, 1.0, 0.0]),
        (np.prod, "a", (np.array([0.0, 2.0, 3.0]),), [6.0, 0.0, 0.0]),
        (np.prod, "a", (np.array([0.0, 0.0, 3.0]),), [0.0, 0.0, 0.0]),
        (np.sinc, "x", (np.array([0.0]),), [0.0]),
    ],
)
def test_subgradients(function: Any, parameter: str, arguments: Any, expected: Any) -> None:
    np.testing.assert_allclose(partial(function, parameter, *arguments), expected)


def test_where_does_not_leak_what_is_not_taken() -> None:
    made = lookup(np.where)
    assert made is not None
    condition, z_bar = np.array([True, False]), np.array([1.0, np.nan])
    x_bar, y_bar = made.compile_adjoint({"x", "y"}, {"condition", "x", "y"})(condition, z_bar, z_bar, z_bar, z_bar)
    np.testing.assert_array_equal(x_bar, [1.0, 0.0])
    np.testing.assert_array_equal(y_bar, [0.0, np.nan])


def test_safe_divide() -> None:
    assert safe_divide(1.0, 0.0) == 0.0 and safe_divide(1.0, 4.0) == 0.25
    np.testing.assert_array_equal(safe_divide(np.ones(2), np.array([0.0, 2.0])), [0.0, 0.5])
    assert safe_divide(np.ones(2, np.float32), np.array([0.0, 2.0], np.float32)).dtype == np.float32


def test_sinc_is_smooth_through_zero() -> None:
    x = np.linspace(-2.0, 2.0, 801)
    for n in (1, 2, 3):
        slope = np.gradient(sinc_slope(x, n - 1) if n > 1 else np.sinc(x), x, edge_order=2)
        np.testing.assert_allclose(sinc_slope(x, n)[1:-1], slope[1:-1], atol=2e-3)
    assert sinc_slope(0.0, 2) == pytest.approx(-(math.pi**2) / 3, rel=1e-12)


def test_polygamma_against_known_values() -> None:
    euler = 0.5772156649015329
    assert polygamma(0, 1.0) == pytest.approx(-euler, rel=1e-14)
    assert polygamma(0, 0.5) == pytest.approx(-euler - 2 * math.log(2), rel=1e-14)
    assert polygamma(1, 1.0) == pytest.approx(math.pi**2 / 6, rel=1e-14)
    assert polygamma(2, 1.0) == pytest.approx(-2 * 1.2020569031595942, rel=1e-14)
    assert polygamma(0, -0.5) == pytest.approx(0.03648997397857652, rel=1e-12)
    assert math.isnan(polygamma(0, -1.0))


def test_running_products() -> None:
    a = np.array([[2.0, 3.0], [5.0, 7.0]])
    np.testing.assert_array_equal(running_product(a), [[1.0, 2.0], [6.0, 30.0]])
    np.testing.assert_array_equal(running_product(a, None, True), [[105.0, 35.0], [7.0, 1.0]])
    np.testing.assert_array_equal(running_product(a, 0), [[1.0, 1.0], [2.0, 3.0]])
