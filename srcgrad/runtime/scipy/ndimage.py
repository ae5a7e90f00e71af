"""Transposes of the linear filters of scipy.ndimage, at every boundary.

A filter extends its array beyond the ends, then sums products with its weights: y[i] = sum_k w[k] e[i + k].  The
transpose spreads the cotangent over the extended array, by a convolution with the weights, and folds what is beyond the
ends back to where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.convolution import narrowed
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.runtime.scipy.boundaries import extended, folded

Several = Any  # one for all axes, or a sequence with one for each
Step = tuple[int, Any, str, int]  # of a filter along one axis: the axis, its weights, the mode, how far it sees back


def unrounded(input: Any) -> Any:
    """``input``, an array of floating numbers, whose filter is linear in its weights."""
    if np.asarray(input).dtype.kind not in "fc":
        raise RefusedMode("E0507", "scipy.ndimage: the filter of an array of integers is rounded; give it floats")
    return input


def _sequence(given: Several, n: int) -> list[Any]:
    return [given] * n if isinstance(given, str) or not np.iterable(given) else list(given)


def _axes(axes: Any, ndim: int) -> list[int]:
    return list(range(ndim)) if axes is None else [int(axis) % ndim for axis in np.atleast_1d(axes)]


# --- one axis --------------------------------------------------------------------------------------------------------
def _spread(g: Any, step: Step) -> Any:
    """The transpose of a filter along one axis."""
    axis, weights, mode, before = step
    n = len(weights)
    long = extended(g, 0, n - 1, "constant", 0.0, axis)
    long = ndimage.convolve1d(long, weights, axis, mode="constant", origin=-(n // 2))
    return folded(long, before, n - 1 - before, mode, axis)


def _weighed(g: Any, input: Any, n: int, axis: int, mode: str, cval: Any, before: int) -> Any:
    """The cotangent of the n weights of a filter along one axis, each the sum of products at its shift."""
    rows = np.moveaxis(unrounded(input), axis, 0)
    long = extended(rows, before, n - 1 - before, mode, cval, 0)
    flat, length = np.moveaxis(g, axis, 0).ravel(), len(rows)
    return np.asarray([np.dot(flat, long[k : k + length].ravel()) for k in range(n)])


def uncorrelate1d(g: Any, input: Any, weights: Any, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.correlate1d(input, weights, axis, ...)``."""
    return unbroadcast(_spread(g, (axis, np.conj(weights), mode, len(weights) // 2 + origin)), input)


def unconvolve1d(g: Any, input: Any, weights: Any, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.convolve1d(input, weights, axis, ...)``."""
    weights = np.asarray(weights)[::-1]
    return unbroadcast(_spread(g, (axis, weights, mode, (len(weights) - 1) // 2 - origin)), input)


def uncorrelate1d_weights(
    g: Any, input: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The cotangent of ``weights`` where ``g`` is that of ``scipy.ndimage.correlate1d(input, weights, axis, ...)``."""
    n = len(weights)
    return narrowed(np.conj(_weighed(g, input, n, axis, mode, cval, n // 2 + origin)), weights)


def unconvolve1d_weights(
    g: Any, input: Any, weights: Any, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    """The cotangent of ``weights`` where ``g`` is that of ``scipy.ndimage.convolve1d(input, weights, axis, ...)``."""
    n = len(weights)
    return narrowed(_weighed(g, input, n, axis, mode, cval, (n - 1) // 2 - origin)[::-1], weights)


# --- several axes at once --------------------------------------------------------------------------------------------
def _window(ndim: int, weights: Any, origin: Several, axes: Any, turned: bool) -> tuple[Any, list[int]]:
    """The weights with an axis for each of the array, in reverse for a convolution, and how far they see back."""
    along = _axes(axes, ndim)
    origins = [0] * ndim
    for axis, o in zip(along if len(along) < ndim else range(ndim), _sequence(origin, len(along)), strict=True):
        origins[axis] = o
    window = np.expand_dims(weights, tuple(axis for axis in range(ndim) if axis not in along))
    if turned:
        return np.flip(window), [(n - 1) // 2 - o for n, o in zip(window.shape, origins, strict=True)]
    return np.conj(window), [n // 2 + o for n, o in zip(window.shape, origins, strict=True)]


def _spread_nd(g: Any, window: Any, before: Sequence[int], mode: str) -> Any:
    """The transpose of a filter along every axis."""
    long = np.zeros([m + n - 1 for m, n in zip(g.shape, window.shape, strict=True)], g.dtype)
    long[tuple(map(slice, g.shape))] = g
    long = ndimage.convolve(long, window, mode="constant", origin=[-(n // 2) for n in window.shape])
    for axis, (n, b) in enumerate(zip(window.shape, before, strict=True)):
        long = folded(long, b, n - 1 - b, mode, axis)
    return long


def _weighed_nd(g: Any, input: Any, shape: tuple[int, ...], before: Sequence[int], mode: str, cval: Any) -> Any:
    """The cotangent of the weights of a filter along every axis, each the sum of products at its shift."""
    long, flat = np.asarray(unrounded(input)), np.ravel(g)
    for axis, (n, b) in enumerate(zip(shape, before, strict=True)):
        long = extended(long, b, n - 1 - b, mode, cval, axis)
    result = np.empty(shape, np.result_type(flat, long))
    for shift in np.ndindex(shape):
        part = tuple(slice(k, k + n) for k, n in zip(shift, np.shape(input), strict=True))
        result[shift] = np.dot(flat, long[part].ravel())
    return result


def uncorrelate(g: Any, input: Any, weights: Any, mode: str = "reflect", origin: Several = 0, axes: Any = None) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.correlate(input, weights, ...)``."""
    return unbroadcast(_spread_nd(g, *_window(g.ndim, weights, origin, axes, turned=False), mode), input)


def unconvolve(g: Any, input: Any, weights: Any, mode: str = "reflect", origin: Several = 0, axes: Any = None) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.convolve(input, weights, ...)``."""
    return unbroadcast(_spread_nd(g, *_window(g.ndim, weights, origin, axes, turned=True), mode), input)


def uncorrelate_weights(
    g: Any, input: Any, weights: Any, mode: str = "reflect", cval: Any = 0.0, origin: Several = 0, axes: Any = None
) -> Any:
    """The cotangent of ``weights`` where ``g`` is that of ``scipy.ndimage.correlate(input, weights, ...)``."""
    window, before = _window(g.ndim, weights, origin, axes, turned=False)
    result = _weighed_nd(g, input, window.shape, before, mode, cval)
    return narrowed(np.conj(result).reshape(np.shape(weights)), weights)


def unconvolve_weights(
    g: Any, input: Any, weights: Any, mode: str = "reflect", cval: Any = 0.0, origin: Several = 0, axes: Any = None
) -> Any:
    """The cotangent of ``weights`` where ``g`` is that of ``scipy.ndimage.convolve(input, weights, ...)``."""
    window, before = _window(g.ndim, weights, origin, axes, turned=True)
    result = _weighed_nd(g, input, window.shape, before, mode, cval)
    return narrowed(np.flip(result).reshape(np.shape(weights)), weights)


# --- means -----------------------------------------------------------------------------------------------------------
def _averaged(g: Any, size: int, axis: int, mode: str, origin: int) -> Any:
    """The transpose of a running mean: a running mean."""
    long = extended(g, 0, size - 1, "constant", 0.0, axis)
    long = ndimage.uniform_filter1d(long, size, axis, mode="constant", origin=(size - 1) // 2)
    before = size // 2 + origin
    return folded(long, before, size - 1 - before, mode, axis)


def ununiform_filter1d(g: Any, input: Any, size: int, axis: int = -1, mode: str = "reflect", origin: int = 0) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.uniform_filter1d(input, size, axis, ...)``."""
    return unbroadcast(_averaged(g, size, axis, mode, origin), input)


def ununiform_filter(
    g: Any, input: Any, size: Several = 3, mode: Several = "reflect", origin: Several = 0, axes: Any = None
) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.uniform_filter(input, size, ...)``."""
    along = _axes(axes, g.ndim)
    parts = [_sequence(given, len(along)) for given in (size, mode, origin)]
    for axis, n, m, o in reversed(list(zip(along, *parts, strict=True))):
        if n > 1:
            g = _averaged(g, int(n), axis, m, o)
    return unbroadcast(g, input)


# --- filters of fixed weights, one axis after the other --------------------------------------------------------------
def _chained(g: Any, steps: Sequence[Step]) -> Any:
    for step in reversed(steps):
        g = _spread(g, step)
    return g


def _gaussian_step(sigma: Any, axis: int, order: int, mode: str, truncate: float, radius: Any) -> Step:
    """The weights of a Gaussian filter: what it makes of an impulse, in reverse."""
    reach = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    impulse = np.zeros(2 * reach + 1)
    impulse[reach] = 1.0
    weights = ndimage.gaussian_filter1d(impulse, sigma, 0, order, mode="constant", truncate=truncate, radius=radius)
    return axis, weights[::-1], mode, reach


def _gaussian(
    sigma: Several, order: Several, mode: Several, truncate: float, radius: Several, axes: Sequence[int]
) -> list[Step]:
    parts = [_sequence(given, len(axes)) for given in (sigma, order, mode, radius)]
    return [
        _gaussian_step(s, axis, o, m, truncate, r) for axis, s, o, m, r in zip(axes, *parts, strict=True) if s > 1e-15
    ]


def ungaussian_filter1d(
    g: Any,
    input: Any,
    sigma: Any,
    axis: int = -1,
    order: int = 0,
    mode: str = "reflect",
    truncate: float = 4.0,
    radius: Any = None,
) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.gaussian_filter1d(input, sigma, ...)``."""
    return unbroadcast(_spread(g, _gaussian_step(sigma, axis, order, mode, truncate, radius)), input)


def ungaussian_filter(
    g: Any,
    input: Any,
    sigma: Several,
    order: Several = 0,
    mode: Several = "reflect",
    truncate: float = 4.0,
    radius: Several = None,
    axes: Any = None,
) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.gaussian_filter(input, sigma, ...)``."""
    return unbroadcast(_chained(g, _gaussian(sigma, order, mode, truncate, radius, _axes(axes, g.ndim))), input)


def ungaussian_laplace(g: Any, input: Any, sigma: Several, mode: Several = "reflect", axes: Any = None) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.gaussian_laplace(input, sigma, ...)``."""
    along = _axes(axes, g.ndim)
    sigmas: list[Any] = [0.0] * g.ndim
    for axis, s in zip(along, _sequence(sigma, len(along)), strict=True):
        sigmas[axis] = s
    total: Any = 0.0
    for axis, m in zip(along, _sequence(mode, len(along)), strict=True):
        order = [2 if other == axis else 0 for other in range(g.ndim)]
        total = total + _chained(g, _gaussian(sigmas, order, m, 4.0, None, range(g.ndim)))
    return unbroadcast(total if along else g, input)


def unlaplace(g: Any, input: Any, mode: Several = "reflect", axes: Any = None) -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.laplace(input, mode=mode, axes=axes)``."""
    along = _axes(axes, g.ndim)
    total: Any = 0.0
    for axis, m in zip(along, _sequence(mode, len(along)), strict=True):
        total = total + _spread(g, (axis, np.array([1.0, -2.0, 1.0]), m, 1))
    return unbroadcast(total if along else g, input)


def _edges(g: Any, across: tuple[float, ...], axis: int, mode: Several) -> Any:
    """The transpose of a difference along ``axis`` that is smoothed along the others."""
    modes, axis = _sequence(mode, g.ndim), axis % g.ndim
    others = [(i, np.array(across), modes[i], 1) for i in range(g.ndim) if i != axis]
    return _chained(g, [(axis, np.array([-1.0, 0.0, 1.0]), modes[axis], 1), *others])


def unsobel(g: Any, input: Any, axis: int = -1, mode: Several = "reflect") -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.sobel(input, axis, mode=mode)``."""
    return unbroadcast(_edges(g, (1.0, 2.0, 1.0), axis, mode), input)


def unprewitt(g: Any, input: Any, axis: int = -1, mode: Several = "reflect") -> Any:
    """The cotangent of ``input`` where ``g`` is that of ``scipy.ndimage.prewitt(input, axis, mode=mode)``."""
    return unbroadcast(_edges(g, (1.0, 1.0, 1.0), axis, mode), input)
