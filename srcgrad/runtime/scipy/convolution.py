"""Transposes of the convolutions and correlations of scipy.signal, in every mode.

The result of a mode is a centred part of the full product: a cotangent is set into zeros of the full shape, and the
transpose of the full product is the correlation with the other factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import signal

from srcgrad.runtime.convolution import narrowed
from srcgrad.runtime.scipy.boundaries import extended, folded

Axes = int | Sequence[int] | None


def _placed(g: Any, shape: Sequence[int], start: Sequence[int] | None = None) -> Any:
    """``g`` between zeros, in the middle unless its start is given."""
    if g.shape == tuple(shape):
        return g
    if start is None:
        start = [(m - n) // 2 for m, n in zip(shape, g.shape, strict=True)]
    result = np.zeros(shape, g.dtype)
    result[tuple(slice(s, s + n) for s, n in zip(start, g.shape, strict=True))] = g
    return result


def _reversed(x: Any, axes: Axes = None) -> Any:
    return np.flip(x, axes if axes is None or isinstance(axes, int) else tuple(axes))


# --- convolve, correlate ---------------------------------------------------------------------------------------------
def _unconvolve(g: Any, like: Any, other: Any, method: str) -> Any:
    """The cotangent of a factor of a convolution, shaped as ``like``; either factor may be exchanged for the other."""
    shape = np.shape(like)
    if not shape:
        return narrowed(np.multiply(g, other), like)
    other = np.asarray(other)
    if 0 in shape or 0 in other.shape:
        return narrowed(np.zeros(shape, np.result_type(g)), like)
    if all(n == s - m + 1 for n, s, m in zip(g.shape, shape, other.shape, strict=True)):
        return narrowed(signal.convolve(g, _reversed(other), "full", method), like)
    full = _placed(g, [m + n - 1 for m, n in zip(shape, other.shape, strict=True)])
    return narrowed(signal.convolve(full, _reversed(other), "valid", method), like)


def unconvolve_first(g: Any, in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The cotangent of ``in1`` where ``g`` is that of ``scipy.signal.convolve(in1, in2, mode, method)``."""
    return _unconvolve(g, in1, in2, method)


def unconvolve_second(g: Any, in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The cotangent of ``in2`` where ``g`` is that of ``scipy.signal.convolve(in1, in2, mode, method)``."""
    return _unconvolve(g, in2, in1, method)


def uncorrelate_first(g: Any, in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The cotangent of ``in1`` where ``g`` is that of ``scipy.signal.correlate(in1, in2, mode, method)``."""
    return _unconvolve(g, in1, np.conj(_reversed(in2)), method)


def uncorrelate_second(g: Any, in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """The cotangent of ``in2``, which is conjugated, where ``g`` is that of ``scipy.signal.correlate``."""
    return narrowed(np.conj(_reversed(_unconvolve(g, in2, in1, method))), in2)


# --- fftconvolve, oaconvolve: along some axes, the others broadcast --------------------------------------------------
def _unfftconvolve(g: Any, like: Any, other: Any, axes: Axes) -> Any:
    shape = np.shape(like)
    if not shape:
        return narrowed(np.multiply(g, other), like)
    other = np.asarray(other)
    if 0 in shape or 0 in other.shape:
        return narrowed(np.zeros(shape, np.result_type(g)), like)
    along = range(g.ndim) if axes is None else [int(axis) % g.ndim for axis in np.atleast_1d(axes)]
    pairs = list(zip(shape, other.shape, strict=True))
    full = _placed(g, [m + n - 1 if axis in along else max(m, n) for axis, (m, n) in enumerate(pairs)])
    return narrowed(signal.fftconvolve(full, _reversed(other, tuple(along)), "valid", tuple(along)), like)


def unfftconvolve_first(g: Any, in1: Any, in2: Any, mode: str = "full", axes: Axes = None) -> Any:
    """The cotangent of ``in1`` where ``g`` is that of ``scipy.signal.fftconvolve(in1, in2, mode, axes)``."""
    return _unfftconvolve(g, in1, in2, axes)


def unfftconvolve_second(g: Any, in1: Any, in2: Any, mode: str = "full", axes: Axes = None) -> Any:
    """The cotangent of ``in2`` where ``g`` is that of ``scipy.signal.fftconvolve(in1, in2, mode, axes)``."""
    return _unfftconvolve(g, in2, in1, axes)


# --- convolve2d, correlate2d: the first array is extended, the rest is a product without ends ------------------------
def _margins(second: Any, mode: str, turned: bool) -> list[tuple[int, int]]:
    """By how much the first array is extended along each axis; ``turned`` is a correlation."""
    match mode:
        case "full":
            return [(n - 1, n - 1) for n in np.shape(second)]
        case "same" if turned:
            return [((n - 1) // 2, n // 2) for n in np.shape(second)]
        case "same":
            return [(n // 2, (n - 1) // 2) for n in np.shape(second)]
    return [(0, 0)] * np.ndim(second)


def _first(g: Any, second: Any, mode: str, boundary: str, turned: bool) -> Any:
    """The cotangent of the first array."""
    other = np.conj(second) if turned else _reversed(second)
    result = signal.convolve2d(g, other, "full")
    for axis, (before, after) in enumerate(_margins(second, mode, turned)):
        result = folded(result, before, after, boundary, axis)
    return result


def _second(g: Any, first: Any, second: Any, mode: str, boundary: str, fillvalue: Any, turned: bool) -> Any:
    """The cotangent of the second array."""
    long = np.asarray(first)
    for axis, (before, after) in enumerate(_margins(second, mode, turned)):
        long = extended(long, before, after, boundary, fillvalue, axis)
    result = signal.convolve2d(long, _reversed(g), "valid")
    return np.conj(result) if turned else _reversed(result)


def _is_swapped(in1: Any, in2: Any, mode: str) -> bool:
    """Whether SciPy exchanges the arrays, because the second is the larger."""
    return mode == "valid" and any(m < n for m, n in zip(np.shape(in1), np.shape(in2), strict=True))


def unconvolve2d_first(
    g: Any, in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The cotangent of ``in1`` where ``g`` is that of ``scipy.signal.convolve2d(in1, in2, mode, boundary)``."""
    if _is_swapped(in1, in2, mode):
        return narrowed(_second(g, in2, in1, mode, boundary, fillvalue, turned=False), in1)
    return narrowed(_first(g, in2, mode, boundary, turned=False), in1)


def unconvolve2d_second(
    g: Any, in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The cotangent of ``in2`` where ``g`` is that of ``scipy.signal.convolve2d(in1, in2, mode, boundary, ...)``."""
    if _is_swapped(in1, in2, mode):
        return narrowed(_first(g, in1, mode, boundary, turned=False), in2)
    return narrowed(_second(g, in1, in2, mode, boundary, fillvalue, turned=False), in2)


def uncorrelate2d_first(
    g: Any, in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The cotangent of ``in1`` where ``g`` is that of ``scipy.signal.correlate2d(in1, in2, mode, boundary)``."""
    if _is_swapped(in1, in2, mode):  # the result is in reverse then, and the conjugate of in1 is taken
        return narrowed(_second(_reversed(g), in2, in1, mode, boundary, fillvalue, turned=True), in1)
    return narrowed(_first(g, in2, mode, boundary, turned=True), in1)


def uncorrelate2d_second(
    g: Any, in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Any:
    """The cotangent of ``in2`` where ``g`` is that of ``scipy.signal.correlate2d(in1, in2, mode, boundary, ...)``."""
    if _is_swapped(in1, in2, mode):
        return narrowed(_first(_reversed(g), in1, mode, boundary, turned=True), in2)
    return narrowed(_second(g, in1, in2, mode, boundary, fillvalue, turned=True), in2)
