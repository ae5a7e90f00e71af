"""Transposes of gathers: elements taken by position, mask, choice or order are put back, and add where they meet.

>>> untake_axis(np.ones(3), np.zeros(2), [0, 1, 0])
array([2., 1.])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.cotangents import add_at, zeros_like
from srcgrad.runtime.refusals import RefusedMode


# --- positions -------------------------------------------------------------------------------------------------------
def _bounded(indices: Any, length: int, mode: str) -> Any:
    """The positions that ``np.take`` reads in this mode."""
    indices = np.asarray(indices, np.intp)
    if mode == "wrap":
        return np.remainder(indices, length)
    return np.clip(indices, 0, length - 1) if mode == "clip" else indices


def untake_axis(g: Any, a: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.take(a, indices, axis, mode=mode)``."""
    shape = np.shape(a)
    if axis is None or len(shape) < 2:
        size = math.prod(shape)
        result = np.zeros(size, floating(a, g))
        np.add.at(result, _bounded(indices, size, mode), real_for(g, result.dtype))
        return unarray(result if len(shape) == 1 else np.reshape(result, shape), a)
    result = np.zeros(shape, floating(a, g))
    axis = int(axis) % len(shape)
    indices = _bounded(indices, shape[axis], mode)
    add_at(result, (slice(None),) * axis + (indices,), real_for(g, result.dtype))
    return unarray(result, a)


def untake_along(g: Any, arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """The cotangent of ``arr`` where ``g`` is that of ``np.take_along_axis(arr, indices, axis)``."""
    if axis is None:
        return untake_axis(g, arr, indices)
    shape = np.shape(arr)
    if len(shape) == 1:
        return untake_axis(g, arr, indices)
    axis %= len(shape)
    result = np.zeros(shape, floating(arr, g))
    places: list[Any] = list(np.ogrid[tuple(slice(n) for n in shape)])
    places[axis] = indices
    add_at(result, tuple(places), real_for(g, result.dtype))
    return unarray(result, arr)


def unpermute_along(g: Any, arr: Any, places: Any, axis: int | None = -1) -> Any:
    """The cotangent of ``arr`` where ``g`` is that of its elements in another order: none is met twice."""
    result = np.empty(np.shape(arr), floating(arr, g))
    if axis is None or result.ndim == 1:
        result.reshape(-1)[places] = real_for(g, result.dtype)
    else:
        np.put_along_axis(result, places, real_for(g, result.dtype), axis)
    return unarray(result, arr)


def permute_along(a: Any, places: Any, axis: int | None = -1) -> Any:
    """The elements of ``a`` in another order along ``axis``."""
    return np.take_along_axis(np.asarray(a), places, axis)


def item(a: Any, *args: Any) -> Any:
    """``a.item(*args)``."""
    return pick(a, args)


def pick(a: Any, args: tuple[Any, ...]) -> Any:
    """``a.item(*args)``, the positions in a tuple."""
    return a.item(*args) if isinstance(a, np.ndarray | np.generic) else np.asarray(a).item(*args)


def unpick(g: Any, a: Any, args: tuple[Any, ...]) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``a.item(*args)``."""
    if not np.ndim(a):
        return unbroadcast(g, a)
    result = zeros_like(a)
    places: Any = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
    if len(places) < 2:
        places = np.unravel_index((places[0] if places else 0) % np.size(a), np.shape(a))
    result[tuple(places)] = real_for(g, result.dtype)
    return result


# --- orders ----------------------------------------------------------------------------------------------------------
def sorting(a: Any, y: Any, axis: int | None = -1) -> Any:
    """The positions in ``a`` of what stands in ``y``, its elements in order along ``axis``: equals in their old order.

    Where no two are equal the faster algorithm, which does not keep the order of equals, is as good.
    """
    if np.size(y) < _FEW:
        return np.argsort(a, axis, kind="stable")
    along = 0 if axis is None else axis
    upper = np.moveaxis(np.asarray(y), along, 0)
    has_equals = bool(np.any(upper[1:] == upper[:-1]))
    return np.argsort(a, axis, kind="stable" if has_equals else None)


_FEW = 4096


def arranging(a: Any, y: Any, axis: int | None = -1) -> Any:
    """The positions in ``a`` of what stands in ``y``, the same elements in any order along ``axis``."""
    along = 0 if axis is None else axis
    kind: Any = "stable"
    if np.size(y) >= _FEW:
        upper = np.moveaxis(np.sort(y, along), along, 0)
        kind = "stable" if np.any(upper[1:] == upper[:-1]) else None
    places = np.argsort(a, axis, kind=kind)
    result = np.empty_like(places)
    np.put_along_axis(result, np.argsort(y, along, kind=kind), places, axis)
    return result


# --- choices ---------------------------------------------------------------------------------------------------------
def compressed(a: Any, condition: Any, axis: int | None = None) -> Any:
    """``a.compress(condition, axis)``."""
    return np.compress(condition, a, axis)


def unchoose(g: Any, a: Any, choices: Any, mode: str = "raise") -> Any:
    """The cotangents of ``choices`` where ``g`` is that of ``np.choose(a, choices, mode=mode)``."""
    chosen = _bounded(a, len(choices), mode)
    made = []
    for i, choice in enumerate(choices):
        part = np.where(np.equal(chosen, i), g, 0)
        if isinstance(choice, tuple | list):
            made.append(unarray(unbroadcast(part, np.empty(np.shape(choice), part.dtype)), choice))
        else:
            made.append(unbroadcast(part, choice))
    return np.stack(made) if isinstance(choices, np.ndarray) and made else made


def rechoose(choices: Any, a: Any, mode: str = "raise") -> Any:
    """``np.choose(a, choices, mode=mode)``, and zero where ``a`` is their count, the place of a default."""
    if mode != "raise":
        return np.choose(a, choices, mode=mode)  # type: ignore[call-overload]
    return np.choose(a, [*choices, np.zeros((), np.result_type(*choices))])


def selected(condlist: Sequence[Any], y: Any) -> Any:
    """The number of the first condition of ``np.select`` that holds, at every place of ``y``; of none, their count."""
    result = np.full(np.shape(y), len(condlist))
    for i in range(len(condlist) - 1, -1, -1):
        result[np.broadcast_to(condlist[i], result.shape)] = i
    return result


def span_of(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """The index of what ``np.trim_zeros(filt, trim, axis)`` keeps: nothing where there is nothing but zeros."""
    rank = np.ndim(filt)
    if not rank:
        raise RefusedMode("E0707", "np.trim_zeros: no derivative is known of an array without axes")
    places = np.nonzero(filt)
    index = [slice(None)] * rank
    for k in range(rank) if axis is None else np.atleast_1d(axis) % rank:
        found = bool(len(places[k]))
        start = int(places[k].min()) if found and "f" in trim.lower() else 0
        stop = (int(places[k].max()) + 1 if "b" in trim.lower() else None) if found else 0
        index[k] = slice(start, stop)
    return tuple(index) if rank > 1 else index[0]


# --- diagonals -------------------------------------------------------------------------------------------------------
def undiagonal(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.diagonal(a, offset, axis1, axis2)``."""
    result = np.zeros(np.shape(a), floating(a, g))
    diagonal = result.diagonal(offset, axis1, axis2)
    diagonal.flags.writeable = True  # a view of zeros that are nobody else's
    diagonal[...] = real_for(g, result.dtype)
    return unarray(result, a)


def untrace(g: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.trace(a, offset, axis1, axis2)``."""
    return undiagonal(np.asarray(g)[..., None], a, offset, axis1, axis2)


def undiag(g: Any, v: Any, k: int = 0) -> Any:
    """The cotangent of ``v`` where ``g`` is that of ``np.diag(v, k)``."""
    return unarray(np.diagonal(g, k), v) if np.ndim(v) == 1 else undiagonal(g, v, k)
