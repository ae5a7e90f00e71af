"""Transposes of NumPy's products, each bilinear: ``un..._left`` gives the cotangent of the first factor.

Both halves of a product transpose into each other, which closes the table: with ``y = a @ b``,
``unmatmul_left(g, a, b)`` is ``g @ b.T``, whose derivative by ``b`` is ``unmatmul_right(g, a, b)``, ``a.T @ g``.
Each partial comes out in the shape and the dtype of its own factor; a real factor beside a complex one receives the
real part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast


def _swapped(a: Any) -> Any:
    return np.swapaxes(a, -1, -2)


def _rows(a: Any) -> Any:
    """All axes but the last as one."""
    return a if a.ndim == 2 else np.reshape(a, (math.prod(a.shape[:-1]), a.shape[-1]))


# --- matmul: batches broadcast; those of one factor alone are summed within one product ------------------------------
def unmatmul_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``a @ b``."""
    g, b, rank = np.asarray(g), np.asarray(b), np.ndim(a)
    if b.ndim == 1:
        result = g * b if rank == 1 else g[..., None] * b
    elif b.ndim == 2:
        result = b @ g if rank == 1 else g @ b.T
    elif rank <= 2:
        shared = [*range(b.ndim - 2), b.ndim - 1]
        result = np.tensordot(b, g, (shared, range(g.ndim))) if rank == 1 else np.tensordot(g, b, (shared, shared))
    else:
        result = g @ _swapped(b)
    return unbroadcast(result, a)


def unmatmul_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``a @ b``."""
    g, a, rank = np.asarray(g), np.asarray(a), np.ndim(b)
    if rank == 1:
        result = g * a if a.ndim == 1 else g.ravel() @ _rows(a)
    elif a.ndim == 1:
        result = a[:, None] * g[..., None, :]
    else:
        result = _rows(a).T @ _rows(g) if rank == 2 else _swapped(a) @ g
    return unbroadcast(result, b)


_FEW = 8192  # elements that are multiplied and summed in the time that it takes to call a product of matrices


# --- products element by element, whose results are summed ------------------------------------------------------------
def unproduct(g: Any, b: Any, like: Any) -> Any:
    """The cotangent of ``like`` where ``g``, which broadcasts to the shape of ``like * b``, is that of the product:
    summed over the axes along which ``like`` is repeated, repeated along those of ``like`` alone.

    The product of ``g`` and ``b`` is not formed where they are contracted: it may be larger than all three.
    """
    g, b, shape = np.asarray(g), np.asarray(b), np.shape(like)
    whole = np.broadcast_shapes(g.shape, b.shape)
    full = np.broadcast_shapes(whole, shape)
    is_alike = g.dtype == b.dtype == np.result_type(like) == np.float64
    if whole == shape or not is_alike or math.prod(full) < _FEW:
        result = np.multiply(g, b)
        return unbroadcast(result if whole == full else np.array(np.broadcast_to(result, full)), like)
    rank = max(len(whole), len(shape))
    (g, of_g), (b, of_b) = _labelled(g, rank), _labelled(b, rank)
    wanted = [rank - len(shape) + j for j, n in enumerate(shape) if n != 1]
    g, of_g = _summed_over(g, of_g, {*of_b, *wanted})
    b, of_b = _summed_over(b, of_b, {*of_g, *wanted})
    found = [axis for axis in wanted if axis in of_g or axis in of_b]
    shared = [axis for axis in of_g if axis in of_b]
    if any(axis in wanted for axis in shared):
        result = np.einsum(g, of_g, b, of_b, found)
    else:
        result = np.tensordot(g, b, ([of_g.index(a) for a in shared], [of_b.index(a) for a in shared]))
        left = [a for a in (*of_g, *of_b) if a not in shared]
        result = np.transpose(result, [left.index(a) for a in found])
    result = np.reshape(result, [n if rank - len(shape) + j in found else 1 for j, n in enumerate(shape)])
    return (result if result.shape == shape else np.array(np.broadcast_to(result, shape)))[()]


def _labelled(x: Any, rank: int) -> tuple[Any, list[int]]:
    """An array without its axes of length 1, and which of so many axes its others are."""
    return np.reshape(x, [n for n in x.shape if n != 1]), [rank - x.ndim + j for j, n in enumerate(x.shape) if n != 1]


def _summed_over(x: Any, axes: list[int], kept: set[int]) -> tuple[Any, list[int]]:
    """An array summed over the axes that are not among these."""
    alone = tuple(j for j, axis in enumerate(axes) if axis not in kept)
    return (np.sum(x, axis=alone), [axis for axis in axes if axis in kept]) if alone else (x, axes)


# --- dot: last axis of a with the last but one of b, free axes side by side ------------------------------------------
def undot_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.dot(a, b)``."""
    rank = np.ndim(b)
    if not rank or not np.ndim(a):
        return unbroadcast(np.multiply(g, b), a)
    if rank <= 2:
        return unmatmul_left(g, a, b)
    free = [axis for axis in range(rank) if axis != rank - 2]
    return unbroadcast(np.tensordot(g, b, (range(np.ndim(a) - 1, np.ndim(g)), free)), a)


def undot_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.dot(a, b)``."""
    rank = np.ndim(b)
    if not rank or not np.ndim(a):
        return unbroadcast(np.multiply(g, a), b)
    if rank <= 2:
        return unmatmul_right(g, a, b)
    free = range(np.ndim(a) - 1)
    return unbroadcast(np.moveaxis(np.tensordot(a, g, (free, free)), 0, -2), b)


# --- inner, outer ----------------------------------------------------------------------------------------------------
def uninner_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.inner(a, b)``."""
    g, b = np.asarray(g), np.asarray(b)
    if not b.ndim or not np.ndim(a):
        return unbroadcast(g * b, a)
    if b.ndim == 1:
        return unbroadcast(g[..., None] * b, a)
    rows = np.reshape(g, (math.prod(np.shape(a)[:-1]), math.prod(b.shape[:-1])))
    return unbroadcast(np.reshape(rows @ _rows(b), np.shape(a)), a)


def uninner_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.inner(a, b)``."""
    g, a = np.asarray(g), np.asarray(a)
    if not a.ndim or not np.ndim(b):
        return unbroadcast(g * a, b)
    if a.ndim == 1:
        return unbroadcast(g[..., None] * a, b)
    rows = np.reshape(g, (math.prod(a.shape[:-1]), math.prod(np.shape(b)[:-1])))
    return unbroadcast(np.reshape(rows.T @ _rows(a), np.shape(b)), b)


def unouter_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.outer(a, b)``."""
    return unbroadcast(np.reshape(g @ np.ravel(b), np.shape(a)), a)


def unouter_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.outer(a, b)``."""
    return unbroadcast(np.reshape(np.ravel(a) @ g, np.shape(b)), b)


# --- vdot, vecdot: the first factor conjugated -----------------------------------------------------------------------
def unvdot_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.vdot(a, b)``."""
    return unbroadcast(np.conj(g * np.reshape(b, np.shape(a))), a)


def unvdot_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.vdot(a, b)``."""
    return unbroadcast(g * np.conj(np.reshape(a, np.shape(b))), b)


def _spread(g: Any, x: Any, like: Any, axis: int) -> Any:
    """``g * x`` with ``g`` repeated along the last axis; ``axis`` of ``x`` comes last before, of ``like`` goes back."""
    if axis == -1:
        return unbroadcast(np.asarray(g)[..., None] * x, like)
    last = np.moveaxis(like, axis, -1)
    return np.moveaxis(unbroadcast(np.asarray(g)[..., None] * np.moveaxis(x, axis, -1), last), -1, axis)


def unvecdot_left(g: Any, x1: Any, x2: Any, axis: int = -1) -> Any:
    """The cotangent of ``x1`` where ``g`` is that of ``np.vecdot(x1, x2, axis=axis)``."""
    return _spread(np.conj(g), np.conj(x2), x1, axis)


def unvecdot_right(g: Any, x1: Any, x2: Any, axis: int = -1) -> Any:
    """The cotangent of ``x2`` where ``g`` is that of ``np.vecdot(x1, x2, axis=axis)``."""
    return _spread(g, np.conj(x1), x2, axis)


# --- tensordot -------------------------------------------------------------------------------------------------------
def _contracted(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The contracted axes of each factor, pair by pair."""
    left, right = axes
    left = [left] if isinstance(left, int | np.integer) else list(left)
    right = [right] if isinstance(right, int | np.integer) else list(right)
    return [axis % np.ndim(a) for axis in left], [axis % np.ndim(b) for axis in right]


def _split(shape: tuple[int, ...], place: int) -> tuple[int, int]:
    """The sizes before and from an axis on."""
    return math.prod(shape[:place]), math.prod(shape[place:])


def untensordot_left(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.tensordot(a, b, axes)``."""
    if isinstance(axes, int | np.integer):
        b = np.reshape(b, _split(np.shape(b), int(axes)))
        rows = np.reshape(g, (_split(np.shape(a), np.ndim(a) - int(axes))[0], b.shape[1]))
        return unbroadcast(np.reshape(rows @ b.T, np.shape(a)), a)
    left, right = _contracted(a, b, axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in left]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in right]
    result = np.tensordot(g, b, (range(len(free_a), np.ndim(g)), free_b))
    order = free_a + [left[i] for i in np.argsort(right)]
    return unbroadcast(np.transpose(result, np.argsort(order)), a)


def untensordot_right(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.tensordot(a, b, axes)``."""
    if isinstance(axes, int | np.integer):
        a = np.reshape(a, _split(np.shape(a), np.ndim(a) - int(axes)))
        rows = np.reshape(g, (a.shape[0], _split(np.shape(b), int(axes))[1]))
        return unbroadcast(np.reshape(a.T @ rows, np.shape(b)), b)
    left, right = _contracted(a, b, axes)
    free_a = [axis for axis in range(np.ndim(a)) if axis not in left]
    free_b = [axis for axis in range(np.ndim(b)) if axis not in right]
    result = np.tensordot(a, g, (free_a, range(len(free_a))))
    order = [right[i] for i in np.argsort(left)] + free_b
    return unbroadcast(np.transpose(result, np.argsort(order)), b)


# --- kron ------------------------------------------------------------------------------------------------------------
def _blocks(g: Any, a: Any, b: Any) -> tuple[Any, Sequence[int], Sequence[int]]:
    """``g``, shaped as ``np.kron(a, b)``, with an axis pair for each of its axes; the two sizes of every pair."""
    m, n = np.shape(a), np.shape(b)
    m, n = (1,) * (len(n) - len(m)) + m, (1,) * (len(m) - len(n)) + n
    return np.reshape(g, [size for pair in zip(m, n, strict=True) for size in pair]), m, n


def unkron_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.kron(a, b)``."""
    blocks, m, n = _blocks(g, a, b)
    result = np.tensordot(blocks, np.reshape(b, n), (range(1, 2 * len(n), 2), range(len(n))))
    return unbroadcast(np.reshape(result, np.shape(a)), a)


def unkron_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.kron(a, b)``."""
    blocks, m, n = _blocks(g, a, b)
    result = np.tensordot(np.reshape(a, m), blocks, (range(len(m)), range(0, 2 * len(m), 2)))
    return unbroadcast(np.reshape(result, np.shape(b)), b)


# --- cross: vectors of length 2 or 3 along any axis ------------------------------------------------------------------
def _last(x: Any, axis: int) -> Any:
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def _vector_product(a: Any, b: Any) -> Any:
    """Three components along the last axis; a missing third is zero."""
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    parts = [0.0, 0.0, a0 * b1 - a1 * b0]
    if b.shape[-1] == 3:
        parts[0], parts[1] = a1 * b[..., 2], -(a0 * b[..., 2])
    if a.shape[-1] == 3:
        parts[0], parts[1] = parts[0] - a[..., 2] * b1, parts[1] + a[..., 2] * b0
    result = np.empty((*np.shape(parts[2]), 3), np.result_type(parts[2]))
    for i, part in enumerate(parts):
        result[..., i] = part
    return result


def _turned(g: Any, a: Any, b: Any, axisc: int) -> Any:
    """The cotangent of a vector product as three components, last axis; of two plane vectors it is the third."""
    if np.shape(a)[-1] == 3 or np.shape(b)[-1] == 3:
        return _last(np.asarray(g), axisc)
    result = np.zeros((*np.shape(g), 3), np.result_type(g))
    result[..., 2] = g
    return result


def uncross_left(
    g: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.cross(a, b, axisa, axisb, axisc, axis)``."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a_, b_ = _last(np.asarray(a), axisa), _last(np.asarray(b), axisb)
    result = _vector_product(b_, _turned(g, a_, b_, axisc))[..., : a_.shape[-1]]
    result = unbroadcast(result, a_)
    return result if axisa == -1 else np.moveaxis(result, -1, axisa)


def uncross_right(
    g: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The cotangent of ``b`` where ``g`` is that of ``np.cross(a, b, axisa, axisb, axisc, axis)``."""
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a_, b_ = _last(np.asarray(a), axisa), _last(np.asarray(b), axisb)
    result = _vector_product(_turned(g, a_, b_, axisc), a_)[..., : b_.shape[-1]]
    result = unbroadcast(result, b_)
    return result if axisb == -1 else np.moveaxis(result, -1, axisb)
