"""Filters of scipy.ndimage through the compiler, and duality at every boundary, origin and pair of lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule, SrcgradError
from srcgrad.programs import options
from srcgrad.rules.table import lookup
from tests.rules.orders import check_orders, to_the_third

ndimage = pytest.importorskip("scipy.ndimage")
fft = pytest.importorskip("scipy.fft")

rng = np.random.default_rng(47)
X = rng.standard_normal(6)
IMAGE = np.arange(6.0)
MODES = ["reflect", "constant", "nearest", "mirror", "wrap"]


def smoothed(x):
    y = ndimage.convolve1d(x, np.cos(x[:4]), mode="mirror", origin=1)
    return np.sum(y * y * y)


def with_edges(x):
    y = ndimage.correlate1d(x * x, x[:3], mode="constant", cval=0.7)
    return np.sum(y * y)


def planes(x):
    a = np.reshape(x, (2, 3))
    y = ndimage.correlate(a, np.sin(a), mode="wrap", origin=(0, 1)) * ndimage.convolve(a, a, mode="nearest")
    return np.sum(y * y)


def fixed_weights(x):
    a = np.reshape(x, (2, 3))
    y = ndimage.gaussian_filter(a * a, 0.6, order=(0, 1)) + ndimage.uniform_filter(a, 2, mode="mirror")
    z = ndimage.sobel(y * y, axis=0) * ndimage.laplace(a) + ndimage.gaussian_laplace(a, 0.7)
    return np.sum(z * z)


@pytest.mark.parametrize(("f", "order"), to_the_third([smoothed, with_edges, planes, fixed_weights]))
@pytest.mark.costly(2)
def test_orders_one_to_three(f: Any, order: int) -> None:
    check_orders(f, X, order)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["correlate1d", "convolve1d", "correlate", "convolve", "uniform_filter1d"])
def test_duality_of_every_length_and_origin(name: str, mode: str) -> None:
    f = getattr(ndimage, name)
    rule = lookup(f)
    assert rule is not None
    second = rule.parameters[1]
    wanted = [p for p in rule.parameters if p in rule.differentiable]
    adjoint = rule.compile_adjoint(wanted, {"input", second, "mode", "origin"})
    for n in range(1, 6):
        for m in range(1, 9):
            for origin in (0, -(m // 2), (m - 1) // 2):
                x, x_dot, y_bar = rng.standard_normal((3, n))
                w = rng.standard_normal(m)
                given = m if name == "uniform_filter1d" else w
                bars = adjoint(x, given, mode, origin, None, y_bar)
                left = y_bar @ f(x_dot, given, mode=mode, origin=origin)
                np.testing.assert_allclose(left, bars[0] @ x_dot, rtol=1e-12, atol=1e-12)
                if len(bars) > 1:
                    w_dot = rng.standard_normal(m)
                    left = y_bar @ f(x, w_dot, mode=mode, origin=origin)
                    np.testing.assert_allclose(left, bars[1] @ w_dot, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_duality_in_the_plane(mode: str) -> None:
    for f in (ndimage.correlate, ndimage.convolve):
        rule = lookup(f)
        assert rule is not None
        adjoint = rule.compile_adjoint({"input", "weights"}, {"input", "weights", "mode", "origin"})
        for _ in range(30):
            shape, size = rng.integers(1, 6, 2), rng.integers(1, 7, 2)
            origin = [int(rng.integers(-(k // 2), (k - 1) // 2 + 1)) for k in size]
            x, x_dot, y_bar = rng.standard_normal((3, *shape))
            w, w_dot = rng.standard_normal((2, *size))
            x_bar, w_bar = adjoint(x, w, mode, origin, None, y_bar)
            left = np.sum(y_bar * (f(x_dot, w, mode=mode, origin=origin) + f(x, w_dot, mode=mode, origin=origin)))
            np.testing.assert_allclose(left, np.sum(x_bar * x_dot) + np.sum(w_bar * w_dot), rtol=1e-11, atol=1e-12)


def of_weights(w, x):
    return 0.5 * np.sum(ndimage.correlate1d(x, w) ** 2)


def test_dtypes() -> None:
    w_bar, x_bar = srcgrad.grad(of_weights, argnums=(0, 1))(X[:3], X.astype(np.float32))
    assert w_bar.dtype == np.float64 and x_bar.dtype == np.float32


def test_a_filter_of_integers_is_rounded_and_refused() -> None:
    with pytest.raises(NotImplementedError, match="rounded"):
        srcgrad.grad(of_weights)(X[:3], np.arange(6))


@pytest.mark.parametrize("filtered", [ndimage.correlate1d, ndimage.convolve1d, ndimage.correlate, ndimage.convolve])
@pytest.mark.parametrize("array", [np.arange(6), np.arange(6) > 2])
def test_a_filter_of_integers_has_no_tangent(filtered, array) -> None:
    def f(w):
        return np.sum(filtered(array, w))

    for specialise in (True, False):
        with options(specialise=specialise), pytest.raises(NotImplementedError, match="rounded"):
            srcgrad.jvp(f, (X[:3],), (np.ones(3),))


def boundary(x, c):
    return np.sum(ndimage.correlate1d(x, [1.0, 2.0, 1.0], mode="constant", cval=c))


def width(x, sigma):
    return np.sum(ndimage.gaussian_filter(x, sigma) ** 2)


def stored(x, out):
    return np.sum(ndimage.laplace(x, out))


def test_widths_that_are_not_differentiated() -> None:
    """A tuple of widths is handed through orders 1 and 2 without being taken for active."""
    a, v = np.reshape(X, (2, 3)), rng.standard_normal((2, 3))
    gradient = srcgrad.grad(width)
    expected = 2 * ndimage.gaussian_filter(v, (0.6, 0.8))
    for sigma in ((0.6, 0.8), [0.6, 0.8], np.array([0.6, 0.8])):
        np.testing.assert_allclose(np.sum(gradient(a, sigma) * v), np.sum(expected * ndimage.gaussian_filter(a, sigma)))
        np.testing.assert_allclose(srcgrad.hvp(width)(a, sigma, v), gradient(v, sigma), rtol=1e-12)


def stored_for_its_effect(x):
    buffer = np.zeros(6)
    ndimage.gaussian_filter1d(IMAGE, 1.0, output=buffer)
    return np.sum(buffer * x)


def stored_at_its_place(x):
    buffer = np.zeros(6)
    ndimage.laplace(IMAGE, buffer)
    return np.sum(buffer * x)


def stored_by_an_unruled_function(x):
    buffer = np.zeros(6)
    y = ndimage.maximum_filter(IMAGE, 3, output=buffer)
    return np.sum(buffer * y * x)


def overwritten(x):
    z = IMAGE + 0j
    fft.fft(z, overwrite_x=True)
    return np.sum(np.real(z) * x)


def in_another_dtype(x):
    return np.sum(ndimage.maximum_filter(IMAGE, 3, output=np.float64) * x)


@pytest.mark.parametrize("f", [stored_for_its_effect, stored_at_its_place, stored_by_an_unruled_function, overwritten])
def test_arrays_that_are_stored_into(f: Any) -> None:
    """Although nothing that is differentiated is stored there: what is read later would be what was there before."""
    with pytest.raises(SrcgradError, match="stores into an array"):
        srcgrad.grad(f)(X)


def test_a_dtype_as_output_is_no_array() -> None:
    np.testing.assert_allclose(srcgrad.grad(in_another_dtype)(X), ndimage.maximum_filter(IMAGE, 3))


def greatest(x):
    return np.sum(ndimage.maximum_filter(x, 3))


def test_refusals() -> None:
    np.testing.assert_allclose(srcgrad.grad(boundary)(X, 0.3), [3.0, 4.0, 4.0, 4.0, 4.0, 3.0])
    with pytest.raises(MissingRule, match="cval"):
        srcgrad.grad(boundary, argnums=1)(X, 0.3)
    with pytest.raises(MissingRule, match="sigma"):
        srcgrad.grad(width, argnums=1)(X, 0.8)
    with pytest.raises(SrcgradError, match="output"):
        srcgrad.grad(stored)(X, np.zeros(6))
    with pytest.raises(MissingRule, match="by order"):
        srcgrad.grad(greatest)(X)


def by_the_core(x):
    y = np.zeros(3)
    ndimage._nd_image.min_or_max_filter1d(x, 2, 0, y, 4, 0.0, 0, 0)
    return np.sum(y)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(ndimage.maximum_filter1d(x, 2)),
        lambda x: np.sum(ndimage.map_coordinates(x, np.array([[0.5, 1.2]]), order=1)),
        lambda x: np.sum(ndimage.shift(x, [0.5], order=1)),
        lambda x: np.sum(ndimage.zoom(x, [2], order=1)),
        lambda x: np.sum(ndimage.spline_filter1d(x)),
        by_the_core,
    ],
)
def test_what_stores_into_arrays_in_compiled_code_is_refused(f):
    with pytest.raises(srcgrad.SrcgradError, match="has no derivative|is not known"):
        srcgrad.grad(f)(np.array([1.0, 3.0, 2.0]))
