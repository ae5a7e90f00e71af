"""Transposes of what moves array elements: joined arrays taken apart, permutations and repetitions undone.

>>> unconcatenate(np.arange(3.0), [np.zeros(1), np.zeros(2)])
[array([0.]), array([1., 2.])]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast
from srcgrad.runtime.cotangents import zeros_like


# --- arrays joined ---------------------------------------------------------------------------------------------------
def _pieces(g: Any, arrays: Any, sizes: Sequence[int], axis: int) -> Any:
    if sum(sizes) != np.shape(g)[axis]:
        raise ValueError(f"a cotangent of length {np.shape(g)[axis]} does not fit pieces of {list(sizes)}")
    parts = np.split(g, np.cumsum(sizes)[:-1], axis)
    made = [unbroadcast(np.reshape(part, np.shape(a)), a) for part, a in zip(parts, arrays, strict=True)]
    return np.stack(made) if isinstance(arrays, np.ndarray) else made


def unconcatenate(g: Any, arrays: Any, axis: int | None = 0) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.concatenate(arrays, axis)``."""
    if axis is None:
        return _pieces(g, arrays, [np.size(a) for a in arrays], 0)
    return _pieces(g, arrays, [np.shape(a)[axis] for a in arrays], axis)


def unstack(g: Any, arrays: Any, axis: int = 0) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.stack(arrays, axis)``."""
    return _pieces(g, arrays, [1] * len(arrays), axis)


def unvstack(g: Any, arrays: Any) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.vstack(arrays)``."""
    return _pieces(g, arrays, [np.shape(a)[0] if np.ndim(a) > 1 else 1 for a in arrays], 0)


def unhstack(g: Any, arrays: Any) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.hstack(arrays)``."""
    axis = 0 if np.ndim(g) == 1 else 1
    return _pieces(g, arrays, [np.shape(a)[axis] if np.ndim(a) else 1 for a in arrays], axis)


def uncolumn_stack(g: Any, arrays: Any) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.column_stack(arrays)``."""
    return _pieces(g, arrays, [np.shape(a)[1] if np.ndim(a) > 1 else 1 for a in arrays], 1)


# --- axes ------------------------------------------------------------------------------------------------------------
def unpermute(g: Any, axes: Sequence[int]) -> Any:
    """The transpose of ``np.transpose(a, axes)``: axes put back where they were."""
    return np.transpose(g, np.argsort([axis % np.ndim(g) for axis in axes]))


def astype(a: Any, dtype: Any) -> Any:
    """``a.astype(dtype)``, for numbers too."""
    return np.asarray(a).astype(dtype)[()] if not isinstance(a, np.ndarray) else a.astype(dtype)


def unastype(g: Any, a: Any, dtype: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``a.astype(dtype)``: zero through a dtype that is not floating."""
    return unbroadcast(g, a) if np.dtype(dtype).kind in "fc" else zeros_like(a)


# --- repetition ------------------------------------------------------------------------------------------------------
def untile(g: Any, a: Any, reps: int | Sequence[int]) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.tile(a, reps)``."""
    counts = (reps,) if isinstance(reps, int | np.integer) else tuple(reps)
    rank = max(len(counts), np.ndim(a))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - np.ndim(a)) + np.shape(a)
    split = [n for pair in zip(counts, shape, strict=True) for n in pair]
    summed = np.sum(np.reshape(g, split), axis=tuple(range(0, 2 * rank, 2)))
    return unbroadcast(np.reshape(summed, np.shape(a)), a)


def unrepeat(g: Any, a: Any, repeats: Any, axis: int | None = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.repeat(a, repeats, axis)``."""
    length = np.size(a) if axis is None else np.shape(a)[axis]
    places = np.repeat(np.arange(length), repeats)
    along = 0 if axis is None else axis % np.ndim(a)
    shape = (length,) if axis is None else np.shape(a)
    result = np.zeros(shape, floating(a, g))
    index: Any = (slice(None),) * along + (places,)
    np.add.at(result, index, real_for(g, result.dtype))
    return unbroadcast(np.reshape(result, np.shape(a)), a)


def unpad(g: Any, array: Any, pad_width: Any) -> Any:
    """The cotangent of ``array`` where ``g`` is that of ``np.pad(array, pad_width)``: the part inside the padding."""
    if isinstance(pad_width, dict):
        pairs = np.zeros((np.ndim(array), 2), int)
        for axis, width in pad_width.items():
            pairs[axis] = width
    else:
        pairs = np.broadcast_to(np.asarray(pad_width), (np.ndim(array), 2))
    inside = tuple(slice(int(p), int(p) + n) for (p, _), n in zip(pairs, np.shape(array), strict=True))
    return unbroadcast(np.asarray(g)[inside], array)


# --- diagonals -------------------------------------------------------------------------------------------------------
def undiagonal(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.diagonal(a, offset, axis1, axis2)``."""
    result = np.zeros(np.shape(a), floating(a, g))
    turned = np.moveaxis(result, (axis1, axis2), (-2, -1))
    rows, columns = _diagonal_places(turned.shape, offset)
    turned[..., rows, columns] = real_for(g, result.dtype)
    return result


def untrace(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.trace(a, offset, axis1, axis2)``."""
    return undiagonal(np.asarray(g)[..., None], a, offset, axis1, axis2)


def undiag(g: Any, v: Any, k: int = 0) -> Any:
    """The cotangent of ``v`` where ``g`` is that of ``np.diag(v, k)``."""
    return unbroadcast(np.diagonal(g, k), v) if np.ndim(v) == 1 else undiagonal(g, v, k)


def _diagonal_places(shape: tuple[int, ...], offset: int) -> tuple[Any, Any]:
    rows, columns = shape[-2:]
    start = max(-offset, 0)
    length = max(min(rows - start, columns - max(offset, 0)), 0)
    return np.arange(length) + start, np.arange(length) + max(offset, 0)


# --- gathers ---------------------------------------------------------------------------------------------------------
def untake_axis(g: Any, a: Any, indices: Any, axis: int | None = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.take(a, indices, axis)``."""
    if axis is None:
        result = np.zeros(np.size(a), floating(a, g))
        np.add.at(result, indices, real_for(g, result.dtype))
        return unbroadcast(np.reshape(result, np.shape(a)), a)
    result = np.zeros(np.shape(a), floating(a, g))
    np.add.at(result, (slice(None),) * (axis % np.ndim(a)) + (indices,), real_for(g, result.dtype))
    return result


def untake_along(g: Any, arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """The cotangent of ``arr`` where ``g`` is that of ``np.take_along_axis(arr, indices, axis)``."""
    if axis is None:
        return untake_axis(g, arr, indices)
    result = np.zeros(np.shape(arr), floating(arr, g))
    indices = np.asarray(indices)
    axis = axis % indices.ndim
    places: list[Any] = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    places[axis] = indices
    np.add.at(result, tuple(places), real_for(g, result.dtype))
    return result
