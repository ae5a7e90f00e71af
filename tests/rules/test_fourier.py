"""Fourier transforms through the compiler: orders 2 and 3, half spectra, lengths, dtypes, PyTorch's convention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.table import lookup
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(7)
X = rng.standard_normal(6)
W = rng.standard_normal(9) + 1j * rng.standard_normal(9)


def spectrum(x):
    y = np.fft.fft(x, 9, norm="ortho")
    return np.sum(np.real(y * y * y * W))


def half_spectrum(x):
    y = np.fft.rfft(x, n=5)
    return np.sum(np.real(y * y * y * W[:3]))


def signal_of_half(x):
    y = np.fft.irfft(x * W[:6], 7, -1, "forward")
    return np.sum(y * y * y)


def hermitian(x):
    y = np.fft.hfft(x * W[:6])
    z = np.fft.ihfft(y * y)
    return np.sum(np.real(z * z * W[:6]))


def planes(x):
    a = np.reshape(x, (2, 3))
    y = np.fft.fft2(a) * np.fft.fftn(a, (2, 3), (0, 1))
    z = np.fft.irfft2(y, (3, 4))
    return np.sum(z * z)


def volumes(x):
    a = np.reshape(x, (2, 3))
    y = np.fft.rfftn(a, axes=(1, 0)) ** 2
    z = np.fft.irfftn(y, s=(3, 2), axes=(1, 0))
    return np.sum(np.fft.ifftn(z * z).real ** 2) + np.sum(np.real(np.fft.ifft2(z)) ** 3)


def repeated_axes(x):
    a = np.reshape(x, (3, 2))
    y = np.fft.fftn(a, (4, 2), (0, 0)) * np.fft.ifftn(a, (4, 2), (0, 0))
    return np.sum(np.real(np.fft.ifft(y, axis=0)) ** 3)


def centred(x):
    y = np.fft.fftshift(np.fft.fft(x))
    return np.sum(np.imag(np.fft.ifft(np.fft.ifftshift(y * y * W[:6]))) ** 2)


def spacing(x):
    f = np.fft.fftfreq(5, 2.0 + np.sin(x[0])) + np.sum(np.fft.rfftfreq(4, d=2.0 + x[1] * x[2]))
    return np.sum(f * f * f)


TO_THE_THIRD = [half_spectrum, hermitian, planes, spacing]
TO_THE_SECOND = [spectrum, signal_of_half, volumes, repeated_axes, centred]


@pytest.mark.parametrize(("f", "order"), to_the_third(TO_THE_THIRD + TO_THE_SECOND, [spacing], TO_THE_THIRD))
@pytest.mark.costly(2)
def test_orders(f: Any, order: int) -> None:
    check_orders(f, X, order)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 11])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"])
def test_lengths(name: str, n: int) -> None:
    """The transpose of the matrix, for every length against every length."""
    transform = getattr(np.fft, name)
    rule = lookup(transform)
    half = name in ("irfft", "hfft")
    for size in range(1, 10):
        x = rng.standard_normal(size) + (1j * rng.standard_normal(size) if half else 0.0)
        for norm in (None, "ortho", "forward"):
            y = transform(x, n, norm=norm)
            y_bar = rng.standard_normal(y.shape) + (0.0 if half else 1j * rng.standard_normal(y.shape))
            (x_bar,) = rule.compile_adjoint({"a"}, {"a", "n", "axis", "norm"})(x, n, -1, norm, y, y_bar)
            x_dot = rng.standard_normal(size) + (1j * rng.standard_normal(size) if half else 0.0)
            assert x_bar.dtype == x.dtype
            left, right = np.sum(y_bar * transform(x_dot, n, norm=norm)).real, np.sum(x_bar * x_dot).real
            np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-12)


def energy(x):
    return np.sum(np.real(np.fft.rfft(x)) ** 2)


def half_energy(z):
    return np.sum(np.fft.irfft(z, 6) ** 3)


def test_dtypes() -> None:
    assert srcgrad.grad(energy)(X.astype(np.float32)).dtype == np.float32
    assert srcgrad.grad(half_energy)(W[:4].astype(np.complex64)).dtype == np.complex64
    assert srcgrad.grad(half_energy)(X[:4]).dtype == np.float64


def test_imaginary_parts_that_are_ignored_receive_nothing() -> None:
    z_bar = srcgrad.grad(half_energy)(W[:4])
    assert z_bar[0].imag == 0 and z_bar[3].imag == 0
    assert np.all(z_bar[1:3].imag != 0)


def test_the_gradient_is_the_conjugate_of_that_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    z = torch.tensor(W[:4], requires_grad=True)
    torch.sum(torch.fft.irfft(z, 6) ** 3).backward()
    np.testing.assert_allclose(srcgrad.grad(half_energy)(W[:4]), np.conj(z.grad.numpy()), rtol=1e-12, atol=1e-14)


def of_numbers(a, b):
    return np.sum(np.real(np.fft.fft([a, b, a * b]) * W[:3])) + np.sum(np.fft.irfft([a, b], 3) ** 2)


def test_lists_of_numbers() -> None:
    point, steps = np.array([0.4, -0.7]), 1e-6 * np.eye(2)
    expected = [(of_numbers(*(point + s)) - of_numbers(*(point - s))) / 2e-6 for s in steps]
    np.testing.assert_allclose(srcgrad.grad(of_numbers, argnums=(0, 1))(*map(float, point)), expected, rtol=1e-8)


def stored(x, out):
    y = np.fft.fft(x * x, out=out)
    return np.sum(np.real(y * out))


def test_out_is_stored_into() -> None:
    out, v = np.zeros(6, complex), np.linspace(-1.0, 1.0, 6)
    expected = (stored(X + 1e-6 * v, out) - stored(X - 1e-6 * v, out)) / 2e-6
    out[:] = 0.0
    np.testing.assert_allclose(np.sum(srcgrad.grad(stored)(X, out) * v), expected, rtol=1e-7)
    np.testing.assert_array_equal(out, 0.0)
