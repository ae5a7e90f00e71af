"""Transposes of truncation, zero padding and half spectra: what the adjoints of Fourier transforms need.

A transform of length n of a signal of another length cuts the signal or pads it with zeros; a real transform keeps one
half of the spectrum, in which most bins stand for two.

>>> fitted(np.array([1.0, 2.0, 3.0]), np.zeros(2))
array([1., 2.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from srcgrad.runtime.convolution import narrowed

Norm = Literal["backward", "ortho", "forward"] | None
Sizes = Sequence[int] | None


def fitted(g: Any, like: Any) -> Any:
    """``g`` cut or padded with zeros at the end of each axis to the shape of ``like``, in its dtype."""
    shape = np.shape(like)
    if g.shape == shape:
        return narrowed(g, like)
    if len(shape) != g.ndim:
        raise ValueError(f"a cotangent of rank {g.ndim} does not fit a value of rank {len(shape)}")
    part = g[tuple(map(slice, shape))]
    if part.shape != shape:
        padded = np.zeros(shape, g.dtype)
        padded[tuple(map(slice, part.shape))] = part
        part = padded
    return narrowed(part, like)


def signal_length(a: Any, n: int | None = None, axis: int = -1) -> int:
    """The length of a transform: ``n``, or all of the axis."""
    return int(np.shape(a)[axis]) if n is None else n


def weighted_bins(g: Any, weight: float, n: int, axis: int = -1) -> Any:
    """The half spectrum ``g`` of a real signal of length ``n``, times ``weight`` where a bin stands for two: everywhere
    but at frequency 0 and, for even ``n``, at the highest."""
    result = np.array(g)
    if axis == -1:
        result[..., 1 : (n + 1) // 2] *= weight
    else:
        np.moveaxis(result, axis, -1)[..., 1 : (n + 1) // 2] *= weight
    return result


# --- several axes: each has a transform of its own, undone last to first ----------------------------------------------
def _lengths(a: Any, s: Sizes, axes: Sequence[int] | None, half: bool = False) -> list[tuple[int, int]]:
    """The axes of a transform of ``a`` and the lengths along them; ``half``: the last axis is half a spectrum."""
    shape = np.shape(a)
    if axes is None:
        axes = range(-(len(shape) if s is None else len(s)), 0)
    lengths = [shape[axis] for axis in axes] if s is None else list(s)
    if half and s is None:
        lengths[-1] = 2 * (lengths[-1] - 1)
    return [(axis, shape[axis] if n == -1 else int(n)) for axis, n in zip(axes, lengths, strict=True)]


def _cut(g: Any, n: int, axis: int) -> Any:
    """``g`` cut or padded with zeros to length ``n`` along one axis."""
    if g.shape[axis] == n:
        return g
    shape = list(g.shape)
    shape[axis] = n
    return fitted(g, np.empty(shape, g.dtype))


def _before(shape: tuple[int, ...], steps: Sequence[tuple[int, int]]) -> list[int]:
    """The length that each axis has before its step, where steps of (axis, length after) follow each other."""
    lengths, found = list(shape), []
    for axis, n in steps:
        found.append(lengths[axis])
        lengths[axis] = n
    return found


def _unfftn(transform: Any, g: Any, a: Any, s: Sizes, axes: Sequence[int] | None, norm: Norm) -> Any:
    steps = _lengths(a, s, axes)[::-1]
    for (axis, _), n in zip(steps[::-1], _before(np.shape(a), steps)[::-1], strict=True):
        g = _cut(transform(g, None, axis, norm), n, axis)
    return narrowed(g, a)


def unfftn(g: Any, a: Any, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.fft.fftn(a, s, axes, norm)``."""
    return _unfftn(np.fft.fft, g, a, s, axes, norm)


def unifftn(g: Any, a: Any, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.fft.ifftn(a, s, axes, norm)``."""
    return _unfftn(np.fft.ifft, g, a, s, axes, norm)


def unrfftn(g: Any, a: Any, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.fft.rfftn(a, s, axes, norm)``."""
    *others, (last, length) = _lengths(a, s, axes)
    steps = [(last, length // 2 + 1), *others[::-1]]
    *befores, before = _before(np.shape(a), steps)[::-1]
    for (axis, _), n in zip(others, befores, strict=True):
        g = _cut(np.fft.fft(g, None, axis, norm), n, axis)
    g = np.fft.hfft(weighted_bins(g, 0.5, length, last), length, last, norm)
    return narrowed(_cut(g, before, last), a)


def unirfftn(g: Any, a: Any, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.fft.irfftn(a, s, axes, norm)``."""
    *others, (last, length) = _lengths(a, s, axes, half=True)
    before, *befores = _before(np.shape(a), [*others, (last, length)])[::-1]
    g = _cut(weighted_bins(np.fft.ihfft(g, None, last, norm), 2.0, length, last), before, last)
    for (axis, _), n in zip(others[::-1], befores, strict=True):
        g = _cut(np.fft.ifft(g, None, axis, norm), n, axis)
    return narrowed(g, a)
