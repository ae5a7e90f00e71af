"""Convolution, correlation and windows through the compiler, and duality for every pair of lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.table import lookup
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(27)
X = rng.standard_normal(6)


def smoothed(x):
    y = np.convolve(x, np.cos(x[:3]), "same")
    return np.sum(y * y * y)


def shifted(x):
    y = np.convolve(x[:2], x, mode="valid") + np.correlate(x, x[:2])
    return np.sum(y * y * y)


def lags(x):
    y = np.correlate(x + 1j * np.sin(x), x[:3] - 2j * x[3:], "full")
    return np.sum(np.real(y * y * y))


def windowed(x):
    y = np.kaiser(6, 2.0 + x[0]) * x
    return np.sum(y * y) + np.sum(np.hanning(6) * x)


@pytest.mark.parametrize(("f", "order"), to_the_third([smoothed, shifted, lags, windowed], by_day=[shifted]))
@pytest.mark.costly(2)
def test_orders_one_to_three(f: Any, order: int) -> None:
    check_orders(f, X, order)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_every_pair_of_lengths(f: Any, mode: str) -> None:
    rule = lookup(f)
    assert rule is not None
    names = {"a", "v", "mode"}
    for m in range(1, 8):
        for n in range(1, 8):
            a, v, a_dot, v_dot = (rng.standard_normal(k) + 1j * rng.standard_normal(k) for k in (m, n, m, n))
            y = f(a, v, mode)
            y_bar = rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)
            a_bar, v_bar = rule.compile_adjoint({"a", "v"}, names)(a, v, mode, y, y_bar)
            left = np.sum(y_bar * (f(a_dot, v, mode) + f(a, v_dot, mode))).real
            np.testing.assert_allclose(left, (a_bar @ a_dot + v_bar @ v_dot).real, rtol=1e-11, atol=1e-12)


def mixed(a, v):
    return np.sum(np.real(np.convolve(a, v)))


def test_dtypes() -> None:
    a_bar, v_bar = srcgrad.grad(mixed, argnums=(0, 1))(X.astype(np.float32), X + 1j)
    assert a_bar.dtype == np.float32 and v_bar.dtype == np.complex128
    a_bar, v_bar = srcgrad.grad(mixed, argnums=(0, 1))(2.0, X)
    assert isinstance(a_bar, float) and a_bar == pytest.approx(np.sum(X))
