"""Discrete Fourier transforms of NumPy.

The matrix of a transform is symmetric and the pairing does not conjugate, so that ``np.fft.fft`` is its own transpose;
a transform of another length cuts or pads, and its transpose pads or cuts.  Half spectra count a bin that stands for
two twice; the imaginary parts that ``irfft`` ignores receive nothing.  Signs and scales: numpy.fft, *Implementation
details*.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    fitted,
    rebroadcast,
    signal_length,
    unbroadcast,
    unfftn,
    unifftn,
    unirfftn,
    unrfftn,
    weighted_bins,
)


def is_array(argument):
    """Whether an argument is an array, and no list of numbers."""
    return argument.rank is not None


# --- one axis --------------------------------------------------------------------------------------------------------
@linear(np.fft.fft, "a")
def fft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """The discrete Fourier transform, a symmetric matrix."""
    return fitted(np.fft.fft(y_bar, None, axis, norm), a)


@fft.when(n=None, a=is_array)
def fft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """Of the whole axis."""
    return unbroadcast(np.fft.fft(y_bar, None, axis, norm), a)


@linear(np.fft.ifft, "a")
def ifft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """The inverse transform, a symmetric matrix."""
    return fitted(np.fft.ifft(y_bar, None, axis, norm), a)


@ifft.when(n=None, a=is_array)
def ifft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """Of the whole axis."""
    return unbroadcast(np.fft.ifft(y_bar, None, axis, norm), a)


@linear(np.fft.rfft, "a")
def rfft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """One half of the spectrum of a real signal: the real part of the transform of y_bar, which hfft computes from the
    bins that stand for two, halved."""
    length = signal_length(a, n, axis)
    return fitted(np.fft.hfft(weighted_bins(y_bar, 0.5, length, axis), length, axis, norm), a)


@linear(np.fft.irfft, "a")
def irfft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """The real signal of half a spectrum: bins that stand for two count twice."""
    return fitted(weighted_bins(np.fft.ihfft(y_bar, None, axis, norm), 2.0, np.shape(y_bar)[axis], axis), a)


@linear(np.fft.hfft, "a")
def hfft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """The real spectrum of half a signal: elements that stand for two count twice."""
    return fitted(weighted_bins(np.fft.rfft(y_bar, None, axis, norm), 2.0, np.shape(y_bar)[axis], axis), a)


@linear(np.fft.ihfft, "a")
def ihfft(a, n=None, axis=-1, norm=None, *, y, y_bar):
    """Half of the signal of a real spectrum."""
    length = signal_length(a, n, axis)
    return fitted(np.fft.irfft(weighted_bins(y_bar, 0.5, length, axis), length, axis, norm), a)


# --- several axes ----------------------------------------------------------------------------------------------------
@linear(np.fft.fftn, "a")
def fftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """The transform along several axes."""
    return unfftn(y_bar, a, s, axes, norm)


@fftn.when(s=None, a=is_array)
def fftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """Of whole axes."""
    return unbroadcast(np.fft.fftn(y_bar, None, axes, norm), a)


@linear(np.fft.ifftn, "a")
def ifftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """The inverse transform along several axes."""
    return unifftn(y_bar, a, s, axes, norm)


@ifftn.when(s=None, a=is_array)
def ifftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """Of whole axes."""
    return unbroadcast(np.fft.ifftn(y_bar, None, axes, norm), a)


@linear(np.fft.fft2, "a")
def fft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The transform along two axes."""
    return unfftn(y_bar, a, s, axes, norm)


@fft2.when(s=None, a=is_array)
def fft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """Of whole axes."""
    return unbroadcast(np.fft.fft2(y_bar, None, axes, norm), a)


@linear(np.fft.ifft2, "a")
def ifft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The inverse transform along two axes."""
    return unifftn(y_bar, a, s, axes, norm)


@ifft2.when(s=None, a=is_array)
def ifft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """Of whole axes."""
    return unbroadcast(np.fft.ifft2(y_bar, None, axes, norm), a)


@linear(np.fft.rfftn, "a")
def rfftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """Half of the spectrum along the last axis, the transform along the others."""
    return unrfftn(y_bar, a, s, axes, norm)


@linear(np.fft.irfftn, "a")
def irfftn(a, s=None, axes=None, norm=None, *, y, y_bar):
    """The inverse transform along axes, a real signal along the last."""
    return unirfftn(y_bar, a, s, axes, norm)


@linear(np.fft.rfft2, "a")
def rfft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """Half of the spectrum along the last of two axes."""
    return unrfftn(y_bar, a, s, axes, norm)


@linear(np.fft.irfft2, "a")
def irfft2(a, s=None, axes=(-2, -1), norm=None, *, y, y_bar):
    """The inverse transform along two axes, a real signal along the last."""
    return unirfftn(y_bar, a, s, axes, norm)


# --- order of bins, frequencies --------------------------------------------------------------------------------------
@linear(np.fft.fftshift, "x")
def fftshift(x, axes=None, *, y, y_bar):
    """Frequency 0 in the middle; put back."""
    return np.fft.ifftshift(y_bar, axes)


@linear(np.fft.ifftshift, "x")
def ifftshift(x, axes=None, *, y, y_bar):
    """Frequency 0 first; put back."""
    return np.fft.fftshift(y_bar, axes)


@rule(np.fft.fftfreq, np.fft.rfftfreq)
def fftfreq(n, d=1.0, *, y, y_bar):
    """Frequencies k / (n * d)."""
    return None, unbroadcast(np.sum(y_bar * y) / -d, d)


@fftfreq.tangent
def fftfreq(n, d=1.0, *, y, d_dot):
    return -y * d_dot / d


# --- transposes ------------------------------------------------------------------------------------------------------
@linear(runtime.fitted, "g")
def fitted_(g, like, *, y, y_bar):
    """Cut or padded; padded or cut again."""
    return fitted(y_bar, g)


@linear(runtime.weighted_bins, "g")
def weighted_bins_(g, weight, n, axis=-1, *, y, y_bar):
    """A diagonal matrix."""
    return weighted_bins(y_bar, weight, n, axis)


@linear(runtime.unfftn, "g")
def unfftn_(g, a, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of np.fft.fftn."""
    return rebroadcast(np.fft.fftn(y_bar, s, axes, norm), g)


@linear(runtime.unifftn, "g")
def unifftn_(g, a, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of np.fft.ifftn."""
    return rebroadcast(np.fft.ifftn(y_bar, s, axes, norm), g)


@linear(runtime.unrfftn, "g")
def unrfftn_(g, a, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of np.fft.rfftn."""
    return rebroadcast(np.fft.rfftn(y_bar, s, axes, norm), g)


@linear(runtime.unirfftn, "g")
def unirfftn_(g, a, s=None, axes=None, norm=None, *, y, y_bar):
    """The transpose of np.fft.irfftn."""
    return rebroadcast(np.fft.irfftn(y_bar, s, axes, norm), g)


# --- facts -----------------------------------------------------------------------------------------------------------
SPECTRA = {"float32": "complex64", "float64": "complex128", "complex64": "complex64", "complex128": "complex128"}
SIGNALS = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}


def same_axes(name, dtypes):
    """What infers a transform of whole axes: their lengths are kept; of other lengths, only how many there are."""

    def infer(arguments, literals):
        a = as_array(arguments[name])
        dtype = dtypes.get(a.dtype or "")
        if not a.shape:
            return Array(None, dtype)
        whole = literals.get("n", literals.get("s", 0)) is None
        return Array(a.shape if whole else (None,) * len(a.shape), dtype)

    return infer


def other_axes(name, dtypes):
    """What infers a transform that changes the lengths of axes."""

    def infer(arguments, literals):
        a = as_array(arguments[name])
        return Array((None,) * len(a.shape) if a.shape else None, dtypes.get(a.dtype or ""))

    return infer


for transform in (fft, ifft, fftn, ifftn, fft2, ifft2):
    transform.infer(same_axes("a", SPECTRA))
for transform in (rfft, ihfft, rfftn, rfft2):
    transform.infer(other_axes("a", SPECTRA))
for transform in (irfft, hfft, irfftn, irfft2):
    transform.infer(other_axes("a", SIGNALS))
for shifted in (fftshift, ifftshift):
    shifted.infer(lambda arguments, literals: as_array(arguments["x"]))
for transposed in (unfftn_, unifftn_, unrfftn_, unirfftn_):
    transposed.infer(cotangent_of("a"))
fitted_.infer(cotangent_of("like"))
weighted_bins_.infer(lambda arguments, literals: as_array(arguments["g"]))
