"""Transposes of NumPy's products, each bilinear: ``un..._left`` gives the cotangent of the first factor.

Both halves of a product transpose into each other, which closes the table: with ``y = a @ b``,
``unmatmul_left(g, a, b)`` is ``g @ b.T``, whose derivative by ``b`` is ``unmatmul_right(g, a, b)``, ``a.T @ g``.
Each partial comes out in the shape and the dtype of its own factor; a real factor beside a complex one receives the
real part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

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
    whole, full, plan = _contraction(g.shape, b.shape, shape)
    is_alike = g.dtype == b.dtype == np.result_type(like) == np.float64
    if plan is None or not is_alike:
        result = np.multiply(g, b)
        return unbroadcast(result if whole == full else np.array(np.broadcast_to(result, full)), like)
    (g, of_g), (b, of_b) = _summed_over(g, *plan.left), _summed_over(b, *plan.right)
    if plan.labels is not None:
        result = np.einsum(g, of_g, b, of_b, plan.labels)
    else:
        (one, rows), (other, columns) = plan.matrices
        result = np.dot(g.transpose(one).reshape(rows), b.transpose(other).reshape(columns))
        result = result.reshape(plan.unfolded).transpose(plan.order)
    result = result.reshape(plan.shape)
    return (result if plan.shape == shape else np.array(np.broadcast_to(result, shape)))[()]


class _Plan(NamedTuple):
    """How two arrays are contracted: without their axes of length 1, summed over what neither the other nor the result
    has, and as a product of matrices, or by ``labels`` where an axis of both is one of the result."""

    left: tuple[tuple[int, ...], tuple[int, ...], list[int]]  # shape, axes to sum over, labels of the others
    right: tuple[tuple[int, ...], tuple[int, ...], list[int]]
    labels: list[int] | None
    matrices: tuple[tuple[list[int], tuple[int, int]], tuple[list[int], tuple[int, int]]]  # orders of axes, and shapes
    unfolded: list[int]
    order: list[int]
    shape: tuple[int, ...]


@lru_cache(maxsize=512)
def _contraction(
    g: tuple[int, ...], b: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], _Plan | None]:
    """The shape of a product, that of what it is the cotangent of when repeated, and how it is contracted, if so."""
    whole = np.broadcast_shapes(g, b)
    full = np.broadcast_shapes(whole, shape)
    if whole == shape or math.prod(full) < _FEW:
        return whole, full, None
    rank = max(len(whole), len(shape))
    wanted = [rank - len(shape) + j for j, n in enumerate(shape) if n != 1]
    of_g, of_b = _labels(g, rank), _labels(b, rank)
    left, of_g = _alone(of_g, {*of_b, *wanted})
    right, of_b = _alone(of_b, {*of_g, *wanted})
    found = [axis for axis in wanted if axis in of_g or axis in of_b]
    shared = [axis for axis in of_g if axis in of_b]
    sizes = {**of_b, **of_g}
    free_g, free_b = ([axis for axis in of if axis not in shared] for of in (of_g, of_b))
    rows, columns, inner = (math.prod(sizes[axis] for axis in axes) for axes in (free_g, free_b, shared))
    left_order = [list(of_g).index(axis) for axis in free_g + shared]
    right_order = [list(of_b).index(axis) for axis in shared + free_b]
    plan = _Plan(
        (tuple(n for n in g if n != 1), left, list(of_g)),
        (tuple(n for n in b if n != 1), right, list(of_b)),
        found if any(axis in wanted for axis in shared) else None,
        ((left_order, (rows, inner)), (right_order, (inner, columns))),
        [sizes[axis] for axis in free_g + free_b],
        [(free_g + free_b).index(axis) for axis in found if axis not in shared],
        tuple(n if rank - len(shape) + j in found else 1 for j, n in enumerate(shape)),
    )
    return whole, full, plan


def _labels(shape: tuple[int, ...], rank: int) -> dict[int, int]:
    """The axes of an array that are longer than 1, among so many, with their lengths."""
    return {rank - len(shape) + j: n for j, n in enumerate(shape) if n != 1}


def _alone(axes: dict[int, int], kept: set[int]) -> tuple[tuple[int, ...], dict[int, int]]:
    """The positions of the axes that are not among these, and the other axes."""
    return tuple(j for j, axis in enumerate(axes) if axis not in kept), {a: n for a, n in axes.items() if a in kept}


def _summed_over(
    x: Any, shape: tuple[int, ...], alone: tuple[int, ...], labels: list[int]
) -> tuple[Any, list[int]]:
    x = x.reshape(shape)
    return (np.add.reduce(x, axis=alone) if alone else x), labels


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
