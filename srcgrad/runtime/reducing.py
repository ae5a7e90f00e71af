"""Reductions undone: cotangents spread over what was summed, shares of ties, orders of norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast

Axis = int | tuple[int, ...] | None


def _kept(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The shape of a reduction with ``keepdims=True``."""
    if axis is None:
        return (1,) * len(shape)
    axes = {
        np.lib.array_utils.normalize_axis_index(a, len(shape)) for a in (axis if isinstance(axis, tuple) else (axis,))
    }
    return tuple(1 if a in axes else n for a, n in enumerate(shape))


def unreduce(g: Any, a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Spread the cotangent ``g`` of a reduction of ``a`` over the shape of ``a``: a fresh array of its dtype."""
    if axis is None and type(a) is np.ndarray and a.dtype == np.float64 and isinstance(g, float):
        result = np.empty(a.shape)
        result.fill(g)
        return result
    shape = np.shape(a)
    if not shape:
        return unbroadcast(g, a)
    dtype = floating(a, g)
    g = real_for(g, dtype)
    result = np.empty(shape, dtype)
    if axis is None:
        if np.size(g) != 1:
            raise ValueError(f"a cotangent of shape {np.shape(g)} does not fit a reduction over every axis")
        result.fill(np.reshape(g, ()) if np.ndim(g) else g)
        return result
    kept = _kept(shape, axis)
    given = np.shape(g)
    if given != kept and (keepdims or given != _dropped(kept, shape, axis)):
        raise ValueError(f"a cotangent of shape {given} does not fit a reduction of shape {shape} over axis {axis}")
    result[...] = np.reshape(g, kept)
    return result


def _dropped(kept: tuple[int, ...], shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    axes = {a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))}  # type: ignore[operator]
    return tuple(n for a, n in enumerate(kept) if a not in axes)


def _spread(y: Any, a: Any, axis: Axis) -> Any:
    """A reduction in a shape that broadcasts against ``a``."""
    return np.reshape(y, _kept(np.shape(a), axis))


def ties(a: Any, y: Any, axis: Axis = None) -> Any:
    """The share of each element of ``a`` in the extremum ``y``: one, or evenly divided among equals."""
    if not np.shape(a):
        return 1.0
    with np.errstate(invalid="ignore"):
        equal = a == _spread(y, a, axis)
        dtype = floating(a, a)
        weights = equal.astype(dtype if dtype.kind == "f" else np.float64)
        return weights / np.sum(weights, axis=axis, keepdims=True)


def count(a: Any, axis: Axis = None) -> int:
    """How many elements of ``a`` each result of a reduction takes."""
    shape = np.shape(a)
    if axis is None:
        return math.prod(shape)
    return math.prod(shape[axis] for axis in (axis if isinstance(axis, tuple) else (axis,)))


def uncumsum(g: Any, a: Any, axis: int | None = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.cumsum(a, axis)``: the running sum from the end."""
    if axis is None:
        return np.reshape(np.cumsum(np.ravel(g)[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


def undiff(g: Any, a: Any, n: int = 1, axis: int = -1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.diff(a, n, axis)``: differences of ``g`` between zeros."""
    widths = [(0, 0)] * np.ndim(a)
    widths[axis] = (1, 1)
    for _ in range(n):
        g = -np.diff(np.pad(g, widths), axis=axis)
    return unbroadcast(g, a)


def vector_axis(x: Any, axis: Axis = None) -> Axis:
    """``axis`` itself, where ``np.linalg.norm`` with an order is a norm of vectors; a norm of matrices raises."""
    if isinstance(axis, tuple) and len(axis) == 1:
        return axis[0]
    if isinstance(axis, tuple) or (axis is None and np.ndim(x) != 1):
        raise NotImplementedError("np.linalg.norm: the derivative of a matrix norm with this ord is not known")
    return axis


def norm_order(x: Any, ord: Any = None, axis: Axis = None) -> float:
    """The p of the vector norm that ``np.linalg.norm`` computes; orders without a derivative here raise."""
    if ord is None or ord == "fro":
        return 2.0
    vector_axis(x, axis)
    if isinstance(ord, str) or ord < 1:
        raise NotImplementedError(f"np.linalg.norm: the derivative of the norm of order {ord!r} is not known")
    return float(ord)
