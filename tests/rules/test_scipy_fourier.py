"""scipy.fft through the compiler: orders 2 and 3, call forms, what the output imports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule, SrcgradError
from tests.rules.orders import check_orders, to_the_third

fft = pytest.importorskip("scipy.fft")

rng = np.random.default_rng(37)
X = rng.standard_normal(6)


def spectra(x):
    y = fft.rfft(x, 7, workers=1) * fft.fft(x, overwrite_x=False)[:4]
    z = fft.irfft(y, 5, norm="ortho")
    return np.sum(z * z * z)


def planes(x):
    a = np.reshape(x, (2, 3))
    y = fft.rfftn(a, axes=(1, 0)) ** 2
    z = fft.hfft2(fft.ihfftn(fft.irfftn(y, (3, 2), (1, 0)), (3, 4)))
    return np.sum(z * z)


def cosines(x):
    y = fft.idct(fft.dct(x, 1) ** 2, 3, 8)
    z = fft.dctn(np.reshape(y, (2, 4)), axes=0, orthogonalize=True)
    return np.sum(z**3)


def sines(x):
    y = fft.dst(fft.idst(x, n=5, norm="ortho"), type=3) ** 2
    return np.sum(fft.idstn(y * np.cos(y), norm="forward") ** 2)


@pytest.mark.parametrize(("f", "order"), to_the_third([spectra, planes, cosines, sines], by_day=[sines]))
@pytest.mark.costly(2)
def test_orders_one_to_three(f: Any, order: int) -> None:
    check_orders(f, X, order)


def energy(x):
    return np.sum(fft.dct(x, 2, norm="ortho") ** 2)


def test_an_orthogonal_transform_keeps_lengths() -> None:
    np.testing.assert_allclose(srcgrad.grad(energy)(X), 2 * X, rtol=1e-13)


def test_what_is_emitted() -> None:
    gradient = srcgrad.grad(energy)
    gradient(X)
    assert "from srcgrad.runtime.scipy.fourier import undct" in gradient.source
    assert "undct(" in gradient.source
    pushed = srcgrad.jvp(energy, (X,), (X,))[1]
    np.testing.assert_allclose(pushed, 2 * X @ X, rtol=1e-13)


def test_dtypes() -> None:
    assert srcgrad.grad(energy)(X.astype(np.float32)).dtype == np.float32


def overwritten(x):
    return np.sum(fft.dct(x, overwrite_x=True))


def planned(x):
    return np.sum(np.real(fft.fft(x, plan=1)))


def hankel(x):
    return np.sum(fft.fht(x, 0.1, 0.5))


def test_refusals() -> None:
    with pytest.raises(SrcgradError, match="overwrite_x"):
        srcgrad.grad(overwritten)(X)
    with pytest.raises(SrcgradError, match="plan"):
        srcgrad.grad(planned)(X)
    with pytest.raises(MissingRule, match="Hankel"):
        srcgrad.grad(hankel)(X)
