"""Convolutions and filters of scipy.signal through the compiler: orders 2 and 3, states, duality in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule, SrcgradError
from srcgrad.rules.table import lookup
from tests.rules.orders import check_orders, to_the_third

signal = pytest.importorskip("scipy.signal")

rng = np.random.default_rng(57)
X = rng.standard_normal(6)
B, A = [0.5, 0.3, -0.2], [1.3, -0.6, 0.2]
SECTIONS = np.array([[0.4, 0.2, 0.1, 1.0, -0.5, 0.2]])


def convolved(x):
    a = np.reshape(x, (2, 3))
    y = signal.convolve(a, np.cos(a), "same") + signal.fftconvolve(a, a, "full", axes=1)[:, :3]
    return np.sum(y * y * y)


def correlated(x):
    y = signal.correlate(x, x[:3] * x[3:], mode="valid")
    z = signal.oaconvolve(x, y, "same")
    return np.sum(z * z)


def in_the_plane(x):
    a = np.reshape(x, (2, 3))
    y = signal.convolve2d(a, a, "same", "symm") * signal.correlate2d(a, np.sin(a), "same", "wrap")
    z = signal.convolve2d(y, a, boundary="fill", fillvalue=0.3)
    return np.sum(z * z)


def filtered(x):
    y = signal.lfilter(np.sin(x[:3]), 2.0 + np.cos(x[2:5]), x)
    return np.sum(y * y * y)


def filtered_signal(x):
    y = signal.lfilter(B, A, x * x, zi=None)
    return np.sum(y * y)


def with_a_state(x):
    y, end = signal.lfilter(np.sin(x[:2]), 2.0 + np.cos(x[2:5]), x, zi=x[:2] * x[1:3])
    return np.sum(y * y * y) + np.sum(end**2) * y[0]


def shaped(x):
    y = signal.filtfilt(B, A, x * x, padlen=3) * signal.sosfilt(SECTIONS, x)
    z = signal.savgol_filter(signal.detrend(y), 5, 2) * signal.sosfiltfilt(SECTIONS, x, padtype="even", padlen=2)
    return np.sum(np.real(signal.hilbert(z) ** 2 * (1.0 + 0.5j)))


@pytest.mark.parametrize(("f", "order"), to_the_third([filtered, filtered_signal]))
@pytest.mark.costly(1, first=1)
def test_orders_one_to_three(f: Any, order: int) -> None:
    check_orders(f, X, order)


@pytest.mark.parametrize("f", [convolved, correlated, in_the_plane, with_a_state, shaped], ids=lambda f: f.__name__)
@pytest.mark.costly(2, first=1)
def test_orders_one_and_two(f: Any) -> None:
    check_orders(f, X, order=2)


@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve", "oaconvolve"])
@pytest.mark.costly(2)
def test_every_pair_of_lengths(name: str) -> None:
    f = getattr(signal, name)
    rule = lookup(f)
    assert rule is not None
    adjoint = rule.compile_adjoint({"in1", "in2"}, {"in1", "in2", "mode"})
    for mode in ("full", "same", "valid"):
        for m in range(1, 7):
            for n in range(1, 7):
                a, b, a_dot, b_dot = (rng.standard_normal(k) + 1j * rng.standard_normal(k) for k in (m, n, m, n))
                y = f(a, b, mode)
                y_bar = rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)
                a_bar, b_bar = adjoint(a, b, mode, y, y_bar)
                left = np.sum(y_bar * (f(a_dot, b, mode) + f(a, b_dot, mode))).real
                np.testing.assert_allclose(left, (a_bar @ a_dot + b_bar @ b_dot).real, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
def test_boundaries_in_the_plane(name: str, boundary: str) -> None:
    """Also where the second array is the larger one, so that the first is repeated several times."""
    f = getattr(signal, name)
    rule = lookup(f)
    assert rule is not None
    adjoint = rule.compile_adjoint({"in1", "in2"}, {"in1", "in2", "mode", "boundary"})
    for mode in ("full", "same", "valid"):
        for _ in range(25):
            shape, size = rng.integers(1, 6, 2), rng.integers(1, 8, 2)
            if mode == "valid":
                shape, size = np.maximum(shape, size), np.minimum(shape, size)
                if rng.integers(2):
                    shape, size = size, shape
            a, a_dot = rng.standard_normal((2, *shape)) + 1j * rng.standard_normal((2, *shape))
            b, b_dot = rng.standard_normal((2, *size)) + 1j * rng.standard_normal((2, *size))
            y = f(a, b, mode, boundary)
            y_bar = rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)
            a_bar, b_bar = adjoint(a, b, mode, boundary, y, y_bar)
            left = np.sum(y_bar * (f(a_dot, b, mode, boundary) + f(a, b_dot, mode, boundary))).real
            right = np.sum(a_bar * a_dot).real + np.sum(b_bar * b_dot).real
            np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-11)


def filter_of(b, a, x):
    return np.sum(signal.lfilter(b, a, x) ** 2)


def test_coefficients_as_lists_numbers_and_float32() -> None:
    b_bar, a_bar, x_bar = srcgrad.grad(filter_of, argnums=(0, 1, 2))(0.7, 1.3, X.astype(np.float32))
    assert isinstance(b_bar, float) and isinstance(a_bar, float) and x_bar.dtype == np.float32
    np.testing.assert_allclose(b_bar * 0.7 + a_bar * 1.3, 0.0, atol=1e-12)  # a common factor changes nothing
    np.testing.assert_allclose(srcgrad.grad(filter_of, argnums=2)(B, A, X), numeric_slope(X), rtol=1e-6)


def numeric_slope(x: Any) -> Any:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(filter_of(B, A, x + s) - filter_of(B, A, x - s)) / 2e-6 for s in steps])


def from_numbers(b0, a1, w):
    y = signal.lfilter([b0, 0.3], [1.0, a1], X) + np.convolve(X, [w, 1.0, w], "same")
    return np.sum(y * y) + np.polyval([b0, w, a1], 0.5) + np.sum(np.poly([w, a1])) + np.polymul([w, 1.0], [a1, w])[1]


def test_lists_of_numbers() -> None:
    point = (0.7, -0.4, 0.2)
    steps = 1e-6 * np.eye(3)
    expected = [(from_numbers(*(point + s)) - from_numbers(*(point - s))) / 2e-6 for s in steps]
    np.testing.assert_allclose(srcgrad.grad(from_numbers, argnums=(0, 1, 2))(*point), expected, rtol=1e-7)
    forward = [srcgrad.jvp(from_numbers, point, tuple(s))[1] for s in np.eye(3)]
    np.testing.assert_allclose(forward, expected, rtol=1e-7)


def of_any_state(x, zi):
    return np.sum(signal.lfilter(B, A, x, zi=zi)[0])


def designed(x):
    return np.sum(signal.butter(3, x[0] ** 2)[0])


def coefficients(b, x):
    return np.sum(signal.filtfilt(b, A, x, padlen=2))


def gust(x):
    return np.sum(signal.filtfilt(B, A, x, method="gust"))


def test_refusals() -> None:
    rule = lookup(signal.lfilter)
    assert rule is not None
    y = signal.lfilter(B, A, np.ones((2, 3)))
    adjoint = rule.compile_adjoint({"x"}, {"b", "a", "x", "zi"})
    with pytest.raises(NotImplementedError, match="literal None"):
        adjoint(B, A, np.ones((2, 3)), None, y, y)
    with pytest.raises(MissingRule, match="design of filters"):
        srcgrad.grad(designed)(X)
    with pytest.raises(MissingRule, match="'b'"):
        srcgrad.grad(coefficients)(np.array(B), X)
    with pytest.raises(SrcgradError, match="method"):
        srcgrad.grad(gust)(X)
