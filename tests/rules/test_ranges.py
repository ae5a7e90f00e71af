"""Evenly spaced numbers, powers of a vector, interpolation: every end, every form, kinks at knots and beyond them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(59)
x = rng.standard_normal((3, 4))
w = np.arange(1.0, 21.0)
knots = np.array([0.0, 0.5, 1.1, 2.0])
SPREAD = np.array([0.6, 3.6, -2.0, 1.3])


# --- evenly spaced ---------------------------------------------------------------------------------------------------
def spaced(x):
    samples, step = np.linspace(x[0, 0], x[0, 1], 5, retstep=True)
    return np.sum(samples**2 * w[:5]) * step**2 + np.sum(np.linspace(x[0], x[1], 3, axis=-1) ** 3)


def spaced_without_the_end(x):
    y = np.linspace(x[0], 2.0, num=4, endpoint=False, dtype=np.float64) ** 2 * w[:16].reshape(4, 4)
    return np.sum(y) + np.sum(np.linspace(x[0, 0], 3.0, 4, dtype=int)) + np.linspace(x[1, 0], x[1, 1], 1)[0] ** 2


def spaced_in_powers(x):
    y = np.logspace(x[0, 0], x[0, 1], 5, base=np.exp(x[0, 2]))
    z = np.logspace(x[1], 0.3, 3, base=2.0, axis=1) * w[:12].reshape(4, 3)
    return np.sum(y**2) + np.sum(z) + np.sum(np.geomspace(np.exp(x[1]), np.exp(x[2]), 4, axis=1) ** 2)


def in_steps(x):
    y = np.arange(x[0, 0], x[0, 0] + 3.05, np.exp(x[0, 1] / 9))
    return np.sum(y**3) + np.sum(np.arange(x[0, 2] + 7.5) ** 2) + np.sum(np.arange(x[0, 3], 9.25) ** 2)


def filled(x):
    return np.sum(np.full((2, 4), x[0]) ** 2) + np.sum(np.full_like(x, x[0, 0], shape=(2,)) ** 3 * w[:2])


def in_powers(x):
    y = np.vander(x[0] * x[1], 4) ** 2 * w[:16].reshape(4, 4)
    return np.sum(y) + np.sum(np.vander(x[0], increasing=True) ** 2)


# --- between knots ---------------------------------------------------------------------------------------------------
def interpolated(x):
    places = np.cumsum(np.exp(x[1] / 4))
    return np.sum(np.interp(3.0 * x[0], places, x[2] ** 2) ** 2) + np.interp(1.3, places, x[2]) ** 2


def interpolated_with_ends(x):
    places = np.cumsum(np.exp(x[1] / 4))
    return np.sum(np.interp(3.0 * x[0], places, x[2] ** 2, left=x[0, 0] ** 2, right=x[0, 1] ** 3) ** 2)


def interpolated_around(x):
    places = np.array([3.1, 0.4, 1.7, 0.2]) + x[1] * 0.01
    return np.sum(np.interp(SPREAD + x[0] * 0.01, places, x[2] ** 2, period=2.2 + 0.01 * x[1, 0]) ** 2)


@pytest.mark.parametrize(
    ("f", "order"),
    to_the_third(
        [
            spaced,
            spaced_without_the_end,
            spaced_in_powers,
            in_steps,
            filled,
            in_powers,
            interpolated,
            interpolated_with_ends,
            interpolated_around,
        ],
        third=[spaced, interpolated],
    ),
)
@pytest.mark.costly(2, first=1)
def test_derivatives(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


@pytest.mark.parametrize(
    ("at", "slope"),
    [(-0.3, 0.0), (0.0, 2.0), (0.2, 2.0), (0.5, -5.0), (1.1, 10.0), (1.5, 10.0), (2.0, 10.0), (2.1, 0.0)],
)
def test_the_slope_at_a_knot_is_the_one_to_its_right(at: float, slope: float) -> None:
    def f(x):
        return np.interp(x, knots, np.array([0.0, 1.0, -2.0, 7.0]))

    np.testing.assert_allclose(grad(f)(at), slope)
    np.testing.assert_allclose(jvp(f, (at,), (1.0,))[1], slope)


@pytest.mark.parametrize("at", [0.0, 0.7, 1.7, 2.2, -3.1, 11.0 * 0.1 * 2])
@pytest.mark.parametrize("period", [2.2, -2.2])
def test_weights_of_knots_that_repeat_sum_to_one(at: float, period: float) -> None:
    def f(fp):
        return np.interp(at, np.array([3.1, 0.0, 1.7]), fp, period=period)

    weights = grad(f)(np.zeros(3))
    np.testing.assert_allclose(np.sum(weights), 1.0)
    assert np.min(weights) >= 0.0
    value = np.array([0.3, -1.0, 2.0])
    np.testing.assert_allclose(weights @ value, f(value), atol=1e-12)


def test_values_between_knots_may_be_complex_and_lists() -> None:
    def f(x, fp):
        return np.sum(np.abs(np.interp(x, [0.0, 1.0], [fp[0], fp[1] * 1j])) ** 2)

    at, values = np.array([0.25, 0.75]), np.array([1.0, 2.0])
    by_x, by_values = grad(f, argnums=(0, 1))(at, values)
    np.testing.assert_allclose(by_x, -2.0 * (1.0 - at) + 8.0 * at)
    np.testing.assert_allclose(by_values, [2.0 * np.sum((1.0 - at) ** 2), 4.0 * np.sum(at**2)])


def test_ends_that_meet_no_number_have_no_share() -> None:
    def f(left, right):
        return np.sum(np.interp(np.array([-1.0, 0.5, 9.0, 9.5]), knots, knots, left, right))

    np.testing.assert_array_equal(grad(f, argnums=(0, 1))(3.0, 4.0), [1.0, 2.0])


def test_spaced_numbers_keep_the_dtypes_of_their_ends() -> None:
    def f(a, b):
        return np.sum(np.linspace(a, b, 4) ** 2)

    by_a, by_b = grad(f, argnums=(0, 1))(np.ones(2, np.float32), np.array(2.0))
    assert by_a.dtype == np.float32 and by_b.dtype == np.float64 and by_b.shape == ()
