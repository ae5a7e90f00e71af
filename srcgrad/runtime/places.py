"""Places in arrays, as indices: where NumPy's functions that store into an array put what they are given.

An index is memory of its own, so that it stays what it was when something is stored into what it was made from.

>>> y = np.zeros((2, 2))
>>> y[flat_places(y, [0, 3])] = 1.0
>>> y
array([[1., 0.],
       [0., 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.attempts import PartlyStored
from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.refusals import RefusedMode, RefusedType


def flat_places(y: Any, index: Any, mode: str | None = None) -> tuple[Any, ...]:
    """The index by which ``y.flat[index]`` is stored; ``mode`` is that of ``np.put`` for numbers out of range, to which
    truth values are the numbers 0 and 1."""
    if not np.ndim(y):
        raise RefusedType("E0302", "a flat place of an array without axes, or of a number; store by y[()]")
    if isinstance(index, tuple) and len(index) == 1 and mode is None:
        (index,) = index
    if mode is not None:
        index = np.array(index)
        index = index.astype(np.intp) if index.dtype.kind == "b" else index
    elif isinstance(index, slice) or index is Ellipsis or (isinstance(index, np.ndarray) and index.dtype.kind == "b"):
        index = np.arange(y.size)[index]
    index = np.asarray(index)
    if not index.size:
        index = index.astype(np.intp)
    if mode == "wrap":
        index = index % y.size
    elif mode == "clip":
        index = np.clip(index, 0, y.size - 1)
    elif np.any(outside := (index < -y.size) | (index >= y.size)):
        kind = IndexError if outside.flat[0] else PartlyStored
        raise kind(f"an index is out of range for {y.size} elements")
    return np.unravel_index(np.where(index < 0, index + y.size, index), y.shape)


def mask_places(y: Any, mask: Any) -> Any:
    """A mask of any shape over the elements of ``y``, as ``np.place`` and ``np.putmask`` read it."""
    return np.array(np.reshape(mask, y.shape), bool)


def where_places(y: Any, where: Any) -> Any:
    """A ``where=`` argument as a mask over the output ``y``."""
    return np.array(np.broadcast_to(where, y.shape), bool)


def along_places(y: Any, indices: Any, axis: int | None) -> tuple[Any, ...]:
    """The index by which ``np.put_along_axis`` stores."""
    indices = np.array(indices)
    if axis is None and indices.ndim != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")
    if axis is None:
        return flat_places(y, indices)
    if indices.ndim != y.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = range(y.ndim)[axis]
    grid = np.ogrid[tuple(slice(n) for n in y.shape)]
    return tuple(indices if j == axis else grid[j] for j in range(y.ndim))


def diagonal_places(y: Any, wrap: bool = False) -> tuple[Any, ...]:
    """The index by which ``np.fill_diagonal`` stores."""
    if y.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if y.ndim > 2:
        if len(set(y.shape)) > 1:
            raise ValueError("All dimensions of input must be of equal length")
        same = np.arange(y.shape[0])
        return tuple(same for _ in range(y.ndim))
    rows, columns = y.shape
    end = y.size if wrap else min(columns * columns, y.size)
    found: tuple[Any, ...] = np.unravel_index(np.arange(y.size)[: end : columns + 1], (rows, columns))
    return found


def place_in_memory(y: Any, at: int) -> tuple[int, ...]:
    """The index of the element that ``np.nditer(y)`` gives when so many were given: it runs in the order of the memory.
    """
    y = np.asarray(y)
    if any(stride <= 0 for stride, length in zip(y.strides, y.shape, strict=True) if length > 1):
        raise RefusedMode("E0708", "np.nditer over an array that is reversed or broadcast; iterate over a copy of it")
    axes = sorted(range(y.ndim), key=lambda axis: -y.strides[axis])
    found = np.unravel_index(at, [y.shape[axis] for axis in axes])
    return tuple(int(found[axes.index(axis)]) for axis in range(y.ndim))


def require_rows(*arrays: Any) -> None:
    """Refuse arrays that ``np.vectorize`` goes over in another order than that of their indices: as they lie in memory,
    of which its result is a copy."""
    for array in arrays:
        if isinstance(array, np.ndarray) and not np.empty_like(array).flags.c_contiguous:
            raise RefusedMode("E0708", "np.vectorize over arrays that do not lie row by row; give it x.copy(order='C')")


def shuffled(rng: Any, y: Any, axis: int = 0) -> Any:
    """The order in which ``rng.shuffle(y)`` puts the parts of ``y``; draws what it would draw."""
    if not isinstance(y, np.ndarray):
        raise RefusedType("E0405", f"a {type(y).__name__} is shuffled: only arrays are, under a derivative")
    shape = [1] * y.ndim
    shape[axis] = y.shape[axis]
    order = np.arange(y.shape[axis]).reshape(shape)
    if axis == 0:
        rng.shuffle(order)
    else:
        rng.shuffle(order, axis=axis)
    return order.reshape(-1)


def at_mask(x: Any, mask: Any) -> Any:
    """The elements of ``x``, broadcast to the mask, where it is true; one number stays one number."""
    return x if np.ndim(x) == 0 else np.broadcast_to(x, mask.shape)[mask]


def off_mask(g: Any, x: Any, mask: Any) -> Any:
    """The transpose of ``at_mask``."""
    if np.ndim(x) == 0:
        return unbroadcast(g, x)
    made = np.zeros(mask.shape, np.asarray(g).dtype)
    made[mask] = g
    return unbroadcast(made, x)
