"""Adjoints of numbers that meet arrays: summed once, and contracted where what is summed is a product of two arrays."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])
GRID = np.array([[0.6, -0.9, 1.3], [0.4, 0.2, -0.7]])


def scaled(a, x):
    return np.sum(np.sin(x) * (a * x))


def divided(a, x):
    y = np.sin(x) / (1.0 + 2.0 * a - a * a)
    return np.sum(y * y)


def of_a_grid(a, x):
    return np.sum(np.cos(x * a) * x)


def with_a_row(a, x):
    return np.sum((a * x) * np.sum(x, axis=0))


def chained(a, x):
    b = a * a
    c = b + a
    return np.sum((c * x) ** 2)


def of_no_elements(a, x):
    return np.sum(np.sin(x[:0]) * (a * x[:0])) + a


@pytest.mark.parametrize("x", [X[::-2], GRID.T], ids=["vector", "grid"])
@pytest.mark.parametrize("program", [scaled, divided, of_a_grid, with_a_row, chained, of_no_elements])
def test_a_number_and_an_array(program, x) -> None:
    found, other = srcgrad.grad(program, (0, 1))(0.7, x)
    assert found == pytest.approx(numeric_gradient(lambda a: program(float(a[0]), x), np.array([0.7]))[0], rel=1e-6)
    np.testing.assert_allclose(other, numeric_gradient(lambda x: program(0.7, x), x), rtol=1e-6, atol=1e-9)
    second = srcgrad.grad(lambda a: srcgrad.grad(program)(a, x))(0.7)
    near = [srcgrad.grad(program)(0.7 + h, x) for h in (1e-5, -1e-5)]
    assert second == pytest.approx((near[0] - near[1]) / 2e-5, rel=1e-5, abs=1e-8)


def test_the_adjoint_of_a_number_is_summed_before_that_of_what_made_it() -> None:
    gradient = srcgrad.grad(divided)
    gradient(0.7, X)
    assert "np.sum" not in gradient.source.replace("np.sum(y * y)", "")
    assert "y_bar @ " in gradient.source


def test_single_precision_is_summed_as_before() -> None:
    gradient = srcgrad.grad(scaled)
    found = gradient(0.7, X.astype(np.float32))
    assert "@" not in gradient.source
    assert found == pytest.approx(srcgrad.grad(scaled)(0.7, X), rel=1e-5)


def taken_off(x):
    y = np.zeros(4)
    y[1:] -= x[1:] * x[:-1]
    return y @ y


def test_what_is_taken_off_a_place_is_negated_once() -> None:
    gradient = srcgrad.grad(taken_off)
    np.testing.assert_allclose(gradient(X), numeric_gradient(taken_off, X), rtol=1e-6)
    assert "own(" not in gradient.source


def inverse(x):
    return np.sum(x**-1.5 + x**-3)


def test_inverse_powers_take_no_other_power() -> None:
    gradient, x = srcgrad.grad(inverse), np.array([0.5, 1.5, 40.0])
    np.testing.assert_allclose(gradient(x), -1.5 * x**-2.5 - 3.0 * x**-4.0, rtol=1e-14)
    assert "-2.5" not in gradient.source
    np.testing.assert_allclose(
        np.diag(srcgrad.hessian(inverse)(x)), 3.75 * x**-3.5 + 12.0 * x**-5.0, rtol=1e-13
    )


def test_inverse_powers_at_the_ends_of_the_scale() -> None:
    x = np.array([0.0, np.inf, 1e200, 1e-160, np.nan])
    with np.errstate(all="ignore"):
        found = srcgrad.grad(lambda x: np.sum(x**-1.5))(x)
        np.testing.assert_array_equal(found, -1.5 * x**-2.5)


def normalised(x):
    e = np.exp(x)
    return np.sum(np.sin(e / np.sum(e, axis=-1, keepdims=True)))


def scaled_rows(x, r):
    return np.sum(np.cos(-x * x / r) * r)


def added_to_a_buffer(x):
    y = x * x
    y[0] += x[1]
    return np.sum(y) + np.sum(np.sin(y)) + np.sum(np.max(y, axis=1, keepdims=True) ** 2)


def test_what_is_the_same_along_an_axis_is_left_outside_of_its_sum() -> None:
    x = np.linspace(-1.0, 2.0, 150 * 70).reshape(150, 70)[:, ::-1]
    r = np.linspace(0.5, 1.5, 70)
    direction = np.random.default_rng(3).normal(size=x.shape)
    for program in (normalised, lambda x: scaled_rows(x, r), added_to_a_buffer):
        gradient = srcgrad.grad(program)(x)
        near = [program(x + h * direction) for h in (1e-6, -1e-6)]
        assert np.sum(gradient * direction) == pytest.approx((near[0] - near[1]) / 2e-6, rel=1e-6, abs=1e-6)
    found = srcgrad.grad(scaled_rows, 1)(x, r)
    expected = numeric_gradient(lambda r: scaled_rows(x, r), r)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    kept = srcgrad.grad(normalised)
    kept(x)
    assert "unproduct(" in kept.source and "+= unreduce(" not in kept.source


def test_second_derivatives_of_what_is_left_outside() -> None:
    direction = np.array([[0.3, -0.2, 0.5], [0.7, 0.1, -0.4]])
    for program in (normalised, added_to_a_buffer):
        near = [srcgrad.grad(program)(GRID + h * direction) for h in (1e-5, -1e-5)]
        found = srcgrad.hvp(program)(GRID, direction)
        np.testing.assert_allclose(found, (near[0] - near[1]) / 2e-5, rtol=1e-5, atol=1e-7)
