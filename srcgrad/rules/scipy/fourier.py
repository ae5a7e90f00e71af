"""Fourier, cosine and sine transforms of scipy.fft.

As in ``numpy.fft`` (``srcgrad.rules.fourier``): the transform is its own transpose, other lengths cut or pad.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import fft

from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import as_array
from srcgrad.rules.fourier import SIGNALS, SPECTRA, other_axes, same_axes
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.table import constant, linear, refused, rule
from srcgrad.runtime import fitted, rebroadcast, signal_length, unbroadcast, weighted_bins
from srcgrad.runtime.scipy import fourier
from srcgrad.runtime.scipy.fourier import (
    undct,
    undctn,
    undst,
    undstn,
    unhfftn,
    unidct,
    unidctn,
    unidst,
    unidstn,
    unihfftn,
    unirfftn,
    unrfftn,
)


# --- one axis --------------------------------------------------------------------------------------------------------
@linear(fft.fft, "x")
def fft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """The discrete Fourier transform, a symmetric matrix."""
    return fitted(fft.fft(y_bar, None, axis, norm), x)


@linear(fft.ifft, "x")
def ifft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """The inverse transform, a symmetric matrix."""
    return fitted(fft.ifft(y_bar, None, axis, norm), x)


@linear(fft.rfft, "x")
def rfft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """Half of the spectrum of a real signal; bins that stand for two are halved."""
    length = signal_length(x, n, axis)
    return fitted(fft.hfft(weighted_bins(y_bar, 0.5, length, axis), length, axis, norm), x)


@linear(fft.irfft, "x")
def irfft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """The real signal of half a spectrum; bins that stand for two count twice."""
    return fitted(weighted_bins(fft.ihfft(y_bar, None, axis, norm), 2.0, np.shape(y_bar)[axis], axis), x)


@linear(fft.hfft, "x")
def hfft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """The real spectrum of half a signal; elements that stand for two count twice."""
    return fitted(weighted_bins(fft.rfft(y_bar, None, axis, norm), 2.0, np.shape(y_bar)[axis], axis), x)


@linear(fft.ihfft, "x")
def ihfft_(x, n=None, axis=-1, norm=None, *, y, y_bar):
    """Half of the signal of a real spectrum."""
    length = signal_length(x, n, axis)
    return fitted(fft.irfft(weighted_bins(y_bar, 0.5, length, axis), length, axis, norm), x)


# --- several axes, each of them once ---------------------------------------------------------------------------------
@linear(fft.fftn, "x")
def fftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """The transform along several axes."""
    return fitted(fft.fftn(y_bar, s, axes, norm), x)


@linear(fft.ifftn, "x")
def ifftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """The inverse transform along several axes."""
    return fitted(fft.ifftn(y_bar, s, axes, norm), x)


@linear(fft.fft2, "x")
def fft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The transform along two axes."""
    return fitted(fft.fft2(y_bar, s, axes, norm), x)


@linear(fft.ifft2, "x")
def ifft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The inverse transform along two axes."""
    return fitted(fft.ifft2(y_bar, s, axes, norm), x)


@linear(fft.rfftn, "x")
def rfftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """Half of the spectrum along the last axis."""
    return unrfftn(y_bar, x, s, axes, norm)


@linear(fft.rfft2, "x")
def rfft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """Half of the spectrum along the last axis."""
    return unrfftn(y_bar, x, s, axes, norm)


@linear(fft.irfftn, "x")
def irfftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """The real signal of a spectrum that is half along the last axis."""
    return unirfftn(y_bar, x, s, axes, norm)


@linear(fft.irfft2, "x")
def irfft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The real signal of a spectrum that is half along the last axis."""
    return unirfftn(y_bar, x, s, axes, norm)


@linear(fft.hfftn, "x")
def hfftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """The real spectrum of a signal that is half along the last axis."""
    return unhfftn(y_bar, x, s, axes, norm)


@linear(fft.hfft2, "x")
def hfft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The real spectrum of a signal that is half along the last axis."""
    return unhfftn(y_bar, x, s, axes, norm)


@linear(fft.ihfftn, "x")
def ihfftn_(x, s=None, axes=None, norm=None, *, y, y_bar):
    """Half of the signal along the last axis."""
    return unihfftn(y_bar, x, s, axes, norm)


@linear(fft.ihfft2, "x")
def ihfft2_(x, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """Half of the signal along the last axis."""
    return unihfftn(y_bar, x, s, axes, norm)


# --- cosine and sine transforms --------------------------------------------------------------------------------------
@linear(fft.dct, "x")
def dct_(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """A discrete cosine transform."""
    return undct(y_bar, x, type, n, axis, norm, orthogonalize)


@linear(fft.dctn, "x")
def dctn_(x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """A discrete cosine transform along several axes."""
    return undctn(y_bar, x, type, s, axes, norm, orthogonalize)


@linear(fft.idct, "x")
def idct_(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The inverse of a discrete cosine transform."""
    return unidct(y_bar, x, type, n, axis, norm, orthogonalize)


@linear(fft.idctn, "x")
def idctn_(x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The inverse of a discrete cosine transform along several axes."""
    return unidctn(y_bar, x, type, s, axes, norm, orthogonalize)


@linear(fft.dst, "x")
def dst_(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """A discrete sine transform."""
    return undst(y_bar, x, type, n, axis, norm, orthogonalize)


@linear(fft.dstn, "x")
def dstn_(x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """A discrete sine transform along several axes."""
    return undstn(y_bar, x, type, s, axes, norm, orthogonalize)


@linear(fft.idst, "x")
def idst_(x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The inverse of a discrete sine transform."""
    return unidst(y_bar, x, type, n, axis, norm, orthogonalize)


@linear(fft.idstn, "x")
def idstn_(x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The inverse of a discrete sine transform along several axes."""
    return unidstn(y_bar, x, type, s, axes, norm, orthogonalize)


# --- their transposes ------------------------------------------------------------------------------------------------
@linear(fourier.unrfftn, "g")
def unrfftn_(g, x, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of scipy.fft.rfftn."""
    return rebroadcast(fft.rfftn(y_bar, s, axes, norm), g)


@linear(fourier.unirfftn, "g")
def unirfftn_(g, x, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of scipy.fft.irfftn."""
    return rebroadcast(fft.irfftn(y_bar, s, axes, norm), g)


@linear(fourier.unhfftn, "g")
def unhfftn_(g, x, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of scipy.fft.hfftn."""
    return rebroadcast(fft.hfftn(y_bar, s, axes, norm), g)


@linear(fourier.unihfftn, "g")
def unihfftn_(g, x, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of scipy.fft.ihfftn."""
    return rebroadcast(fft.ihfftn(y_bar, s, axes, norm), g)


@linear(fourier.undct, "g")
def undct_(g, x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.dct."""
    return rebroadcast(fft.dct(y_bar, type, n, axis, norm, orthogonalize=orthogonalize), g)


@linear(fourier.undctn, "g")
def undctn_(g, x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.dctn."""
    return rebroadcast(fft.dctn(y_bar, type, s, axes, norm, orthogonalize=orthogonalize), g)


@linear(fourier.unidct, "g")
def unidct_(g, x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.idct."""
    return rebroadcast(fft.idct(y_bar, type, n, axis, norm, orthogonalize=orthogonalize), g)


@linear(fourier.unidctn, "g")
def unidctn_(g, x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.idctn."""
    return rebroadcast(fft.idctn(y_bar, type, s, axes, norm, orthogonalize=orthogonalize), g)


@linear(fourier.undst, "g")
def undst_(g, x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.dst."""
    return rebroadcast(fft.dst(y_bar, type, n, axis, norm, orthogonalize=orthogonalize), g)


@linear(fourier.undstn, "g")
def undstn_(g, x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.dstn."""
    return rebroadcast(fft.dstn(y_bar, type, s, axes, norm, orthogonalize=orthogonalize), g)


@linear(fourier.unidst, "g")
def unidst_(g, x, type=2, n=None, axis=-1, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.idst."""
    return rebroadcast(fft.idst(y_bar, type, n, axis, norm, orthogonalize=orthogonalize), g)


@linear(fourier.unidstn, "g")
def unidstn_(g, x, type=2, s=None, axes=None, norm=None, orthogonalize=None, *, y, y_bar):
    """The transpose of scipy.fft.idstn."""
    return rebroadcast(fft.idstn(y_bar, type, s, axes, norm, orthogonalize=orthogonalize), g)


# --- order of bins, frequencies --------------------------------------------------------------------------------------
@linear(fft.fftshift, "x")
def fftshift_(x, axes=None, *, y, y_bar):
    """Frequency 0 in the middle; put back."""
    return fft.ifftshift(y_bar, axes)


@linear(fft.ifftshift, "x")
def ifftshift_(x, axes=None, *, y, y_bar):
    """Frequency 0 first; put back."""
    return fft.fftshift(y_bar, axes)


@rule(fft.fftfreq, fft.rfftfreq)
def fftfreq_(n, d=1.0, *, y, y_bar):
    """Frequencies k / (n * d)."""
    return None, unbroadcast(np.sum(y_bar * y) / -d, d)


@fftfreq_.tangent
def fftfreq_(n, d=1.0, *, y, d_dot):
    return -y * d_dot / d


# --- call forms, facts, the rest -------------------------------------------------------------------------------------
_complex = (fft_, ifft_, fftn_, ifftn_, fft2_, ifft2_)
_halves = (rfft_, ihfft_, rfftn_, ihfftn_, rfft2_, ihfft2_)
_reals = (irfft_, hfft_, irfftn_, hfftn_, irfft2_, hfft2_)
_waves = (dct_, idct_, dst_, idst_, dctn_, idctn_, dstn_, idstn_)
for transform in (*_complex, *_halves, *_reals, *_waves):
    transform.accept(ignored=("workers",))
for transform in _complex:
    transform.infer(same_axes("x", SPECTRA))
for transform in _halves:
    transform.infer(other_axes("x", SPECTRA))
for transform in _reals:
    transform.infer(other_axes("x", SIGNALS))
for transform in _waves:
    transform.infer(same_axes("x", {dtype: dtype for dtype in SPECTRA}))
for shifted in (fftshift_, ifftshift_):
    shifted.infer(lambda arguments, literals: as_array(arguments["x"]))
_transposes = (
    unrfftn_, unirfftn_, unhfftn_, unihfftn_, undct_, unidct_, undst_, unidst_, undctn_, unidctn_, undstn_, unidstn_,
)  # fmt: skip
for transposed in _transposes:
    transposed.infer(cotangent_of("x"))
    reads_shape(transposed.functions[0], 1)

constant(
    fft.next_fast_len, fft.get_workers, fft.set_workers, fft.set_backend, fft.skip_backend, fft.set_global_backend,
    fft.register_backend, fft.test,
)  # fmt: skip
if hasattr(fft, "prev_fast_len"):  # SciPy 1.14
    constant(fft.prev_fast_len)
refused(
    "E0503", "the derivative of a Hankel transform over logarithmic points is not written",
    fft.fht,
    fft.ifht,
    fft.fhtoffset,
    hint="write it with scipy.fft.rfft and irfft, and its kernel with scipy.special.loggamma",
)
