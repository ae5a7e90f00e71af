"""Transposes of what joins arrays, puts parts in, takes parts out or takes them apart.

>>> unconcatenate(np.arange(3.0), [np.zeros(1), np.zeros(2)])
[array([0.]), array([1., 2.])]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.refusals import RefusedType


# --- arrays joined ---------------------------------------------------------------------------------------------------
def _pieces(g: Any, arrays: Any, sizes: Sequence[int], axis: int) -> Any:
    """Consecutive parts of ``g`` along ``axis``, each in the shape and dtype of its array."""
    given = g.shape[axis]
    if sum(sizes) != given:
        raise ValueError(f"a cotangent of length {given} does not fit pieces of {list(sizes)}")
    before = (slice(None),) * (int(axis) % g.ndim)
    made: list[Any] = []
    start = 0
    for size, a in zip(sizes, arrays, strict=True):
        part = g[(*before, slice(start, start + size))]
        start += size
        if isinstance(a, tuple | list):
            made.append(unarray(np.reshape(part, np.shape(a)), a))
        else:
            shape = np.shape(a)
            made.append(unbroadcast(part if part.shape == shape else part.reshape(shape), a))
    return np.stack(made) if isinstance(arrays, np.ndarray) and made else made


def unconcatenate(g: Any, arrays: Any, axis: int | None = 0) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.concatenate(arrays, axis)``."""
    if axis is None:
        return _pieces(g, arrays, [np.size(a) for a in arrays], 0)
    return _pieces(g, arrays, [np.shape(a)[axis] for a in arrays], axis)


def unappend(g: Any, arr: Any, values: Any, axis: int | None = None) -> Any:
    """The cotangents of ``arr`` and ``values`` where ``g`` is that of ``np.append(arr, values, axis)``."""
    return unconcatenate(g, (arr, values), axis)


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


def undstack(g: Any, arrays: Any) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.dstack(arrays)``."""
    return _pieces(g, arrays, [np.shape(a)[2] if np.ndim(a) > 2 else 1 for a in arrays], 2)


def uncolumn_stack(g: Any, arrays: Any) -> Any:
    """The cotangents of ``arrays`` where ``g`` is that of ``np.column_stack(arrays)``."""
    return _pieces(g, arrays, [np.shape(a)[1] if np.ndim(a) > 1 else 1 for a in arrays], 1)


def join_rows(items: Sequence[Any]) -> Any:
    """``np.r_[items]``: arrays along their first axis, numbers and lists as vectors.

    >>> join_rows((np.arange(2.0), 5.0))
    array([0., 1., 5.])
    """
    return np.r_[_joinable(items, "np.r_")]


def join_columns(items: Sequence[Any]) -> Any:
    """``np.c_[items]``: arrays along their last axis, vectors and numbers as columns.

    >>> join_columns((np.arange(2.0), np.ones((2, 1))))
    array([[0., 1.],
           [1., 1.]])
    """
    return np.c_[_joinable(items, "np.c_")]


def _joinable(items: Sequence[Any], where: str) -> tuple[Any, ...]:
    """The items, none of which means something else than its numbers: a range, a directive, several items in one."""
    for item in items:
        if isinstance(item, slice | str) or (isinstance(item, tuple) and len(items) == 1):
            raise RefusedType(
                "E0420", f"an item of {where} is a {type(item).__name__} at run time; write it in the brackets"
            )
    return tuple(items)


def unjoin_rows(g: Any, items: Sequence[Any]) -> Any:
    """The cotangents of ``items`` where ``g`` is that of ``np.r_[items]``."""
    return _pieces(g, items, [np.shape(item)[0] if np.ndim(item) else 1 for item in items], 0)


def unjoin_columns(g: Any, items: Sequence[Any]) -> Any:
    """The cotangents of ``items`` where ``g`` is that of ``np.c_[items]``."""
    return _pieces(g, items, [np.shape(item)[-1] if np.ndim(item) > 1 else 1 for item in items], -1)


def _nesting(arrays: Any) -> tuple[int, int]:
    """How deeply blocks are nested, and the greatest rank of a block."""
    if not isinstance(arrays, list):
        return 0, np.ndim(arrays)
    inner = [_nesting(item) for item in arrays]
    return 1 + max(depth for depth, _ in inner), max(rank for _, rank in inner)


def _block_length(arrays: Any, axis: int, depth: int) -> int:
    """The length along ``axis``, counted from the end, of blocks nested ``depth`` deep."""
    if isinstance(arrays, list):
        lengths = (_block_length(item, axis, depth - 1) for item in arrays)
        return sum(lengths) if depth == -axis else next(lengths)
    shape = np.shape(arrays)
    return shape[axis] if -axis <= len(shape) else 1


def unblock(g: Any, arrays: Any) -> Any:
    """The cotangents of nested ``arrays`` where ``g`` is that of ``np.block(arrays)``."""
    return _unblock(g, arrays, _nesting(arrays)[0])


def _unblock(g: Any, arrays: Any, depth: int) -> Any:
    if not isinstance(arrays, list):
        return unbroadcast(np.reshape(g, np.shape(arrays)), arrays)
    axis = -depth
    made: list[Any] = []
    start = 0
    for item in arrays:
        stop = start + _block_length(item, axis, depth - 1)
        index = (slice(None),) * (np.ndim(g) + axis) + (slice(start, stop),)
        made.append(_unblock(g[index], item, depth - 1))
        start = stop
    return made


# --- parts put in ----------------------------------------------------------------------------------------------------
def _origins(arr: Any, obj: Any, count: int, axis: int | None) -> Any:
    """Along the axis of ``np.insert``: the number of the inserted part, or -1 for what was there."""
    length = np.size(arr) if axis is None else np.shape(arr)[axis]
    return np.insert(np.full(length, -1), obj, np.arange(count))


def _inserted(g: Any, arr: Any, obj: Any, axis: int | None) -> tuple[int, Any]:
    """The axis along which ``np.insert`` works, and where the parts came from."""
    along = 0 if axis is None else axis % np.ndim(arr)
    length = np.size(arr) if axis is None else np.shape(arr)[along]
    return along, _origins(arr, obj, np.shape(g)[along] - length, axis)


def uninsert(g: Any, arr: Any, values: Any, obj: Any, axis: int | None = None) -> Any:
    """The cotangent of ``arr`` where ``g`` is that of ``np.insert(arr, obj, values, axis)``: what was there before."""
    along, origins = _inserted(g, arr, obj, axis)
    kept = np.compress(origins < 0, g, along)
    return unarray(np.reshape(kept, np.shape(arr)), arr)


def uninsert_values(g: Any, arr: Any, values: Any, obj: Any, axis: int | None = None) -> Any:
    """The cotangent of ``values`` where ``g`` is that of ``np.insert(arr, obj, values, axis)``: what was put in."""
    if np.asarray(arr).dtype.kind in "biu":
        return zeros_like(values)  # they are cut to integers
    along, origins = _inserted(g, arr, obj, axis)
    places = np.argsort(origins, kind="stable")[np.count_nonzero(origins < 0) :]
    part = np.take(g, places, along)
    if np.size(obj) == 1 and not isinstance(obj, slice) and not np.ndim(obj):
        part = np.moveaxis(part, along, 0)  # NumPy reads the first axis of values as the one it inserts along
    like = np.empty(np.shape(values), floating(part, part)) if isinstance(values, tuple | list) else values
    return unarray(unbroadcast(part, like), values)


def reinsert_values(v: Any, arr: Any, obj: Any, axis: int | None = None) -> Any:
    """The tangent of ``np.insert(arr, obj, values, axis)`` where ``v`` is that of ``values``."""
    made = np.insert(zeros_like(arr), obj, v, axis)
    return np.zeros_like(made) if np.asarray(arr).dtype.kind in "biu" else made


# --- arrays taken apart ----------------------------------------------------------------------------------------------
def _spans(length: int, indices_or_sections: Any) -> Iterator[slice]:
    """The parts that ``np.array_split`` makes of an axis."""
    if np.ndim(indices_or_sections):
        stops = [None, *(int(i) for i in indices_or_sections), None]
        yield from (slice(start, stop) for start, stop in zip(stops[:-1], stops[1:], strict=True))
        return
    sections = int(indices_or_sections)
    each, extras = divmod(length, sections)
    start = 0
    for i in range(sections):
        stop = start + each + (i < extras)
        yield slice(start, stop)
        start = stop


def unsplit(g: Sequence[Any], ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """The cotangent of ``ary`` where ``g`` are those of ``np.array_split(ary, indices_or_sections, axis)``.

    Parts overlap where the indices go back.
    """
    joined = np.concatenate(g, axis)
    if joined.shape == np.shape(ary):
        return unarray(joined, ary)
    result = np.zeros(np.shape(ary), joined.dtype)
    before = (slice(None),) * (int(axis) % result.ndim)
    for part, span in zip(g, _spans(result.shape[axis], indices_or_sections), strict=True):
        result[(*before, span)] += part
    return unarray(result, ary)
