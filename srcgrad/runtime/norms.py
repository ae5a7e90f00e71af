"""Norms of vectors and matrices: which elements an order chooses, and axes of matrices as the last two.

A vector counts as a matrix of one column, whose norms of the orders 1, 2, inf, -inf and 0 are those of the vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.decompositions import extreme_share, polar
from srcgrad.runtime.elementwise import safe_divide
from srcgrad.runtime.extrema import ties
from srcgrad.runtime.refusals import RefusedMode

Axis = int | tuple[int, ...] | None


def safe_power(x: Any, p: Any) -> Any:
    """``x ** p`` of what is not negative, and zero where ``x`` is zero, whatever ``p`` is."""
    zero = np.equal(x, 0)
    if not zero.any():
        return x**p
    result = np.where(zero, np.ones_like(x), x) ** p
    return np.where(zero, np.zeros_like(result), result)[()]


def _axes(x: Any, axis: Axis) -> tuple[int, ...]:
    """The axes of ``np.linalg.norm(x, ord, axis)`` with an order, counted from the front."""
    if axis is None:
        axes: tuple[int, ...] = tuple(range(np.ndim(x)))
    else:
        axes = tuple(axis) if isinstance(axis, tuple | list) else (int(axis),)
    return tuple(a % np.ndim(x) for a in axes)


def to_matrices(x: Any, axis: Axis = None) -> Any:
    """``x`` with the two axes of a matrix norm as the last ones; the axis of a vector norm as columns."""
    axes = _axes(x, axis)
    if len(axes) == 1:
        return np.moveaxis(x, axes[0], -1)[..., None]
    return x if axes == (np.ndim(x) - 2, np.ndim(x) - 1) else np.moveaxis(x, axes, (-2, -1))


def from_matrices(g: Any, x: Any, axis: Axis = None) -> Any:
    """``g``, shaped like ``to_matrices(x, axis)``, with its axes where ``x`` has them."""
    axes = _axes(x, axis)
    if len(axes) == 1:
        return np.moveaxis(g[..., 0], -1, axes[0])
    return g if axes == (np.ndim(x) - 2, np.ndim(x) - 1) else np.moveaxis(g, (-2, -1), axes)


def norm_shares(x: Any, ord: Any, axis: Axis = None) -> Any:
    """The share of each absolute value of ``x`` in a norm that sums those of rows or columns and takes an extreme sum.

    Orders 1 and -1: sums down columns, inf and -inf: along rows, where a vector is one column; ties share.
    """
    axes = _axes(x, axis)
    size = np.abs(x)
    if len(axes) == 1:
        if ord == 1:
            return np.ones_like(size)
        sums, along = size, axes[0]
    else:
        summed, along = axes if abs(ord) == 1 else axes[::-1]
        sums = np.sum(size, axis=summed, keepdims=True)
    extreme = (np.max if ord > 0 else np.min)(sums, axis=along, keepdims=True)
    return np.broadcast_to(ties(sums, extreme, along), size.shape)


def norm_slope(x: Any, ord: Any, axis: Axis = None, vectors: bool = False) -> Any:
    """How fast the norm of this order grows with each element of ``x``, complex slopes conjugate to the element.

    As ``np.linalg.norm`` two axes mean matrices, as ``np.linalg.vector_norm`` one vector (``vectors``).
    """
    if vectors or (axis is None and ord is None):
        along: Axis = axis
    else:
        axes = _axes(x, axis)
        along = axes[0] if len(axes) == 1 else axes
        if len(axes) == 2 and ord not in (None, "fro", "f"):
            return _matrix_slope(x, ord, axis)
    if ord in (None, "fro", "f"):
        ord = 2
    size = np.abs(x)
    if ord == 0:
        return np.zeros_like(x)
    unit = np.conjugate(safe_divide(x, size))
    if ord == 1:
        return unit
    extreme = np.max(size, axis=along, keepdims=True)
    if np.isinf(ord):
        return unit * ties(size, extreme if ord > 0 else np.min(size, axis=along, keepdims=True), along)
    share = safe_divide(size, extreme)
    zero = np.equal(share, 0)
    powers = safe_power(share, ord)
    total = np.sum(powers, axis=along, keepdims=True)
    if ord < 0:
        total = np.where(np.any(zero, axis=along, keepdims=True), np.inf, total)
    return unit * safe_power(share, ord - 1) * safe_power(total, 1 / ord - 1)


def _matrix_slope(x: Any, ord: Any, axis: Axis) -> Any:
    if ord not in ("nuc", 2, -2):
        return np.conjugate(safe_divide(x, np.abs(x))) * norm_shares(x, ord, axis)
    m = to_matrices(x, axis)
    if ord == "nuc":
        slope = polar(m)
    else:
        u, s, vh = np.linalg.svd(m, full_matrices=False)
        slope = (u * extreme_share(s, ord > 0)[..., None, :]) @ vh
    return from_matrices(np.conjugate(slope), x, axis)


def vector_axis(x: Any, ord: Any, axis: Axis = None, vectors: bool = False) -> Axis:
    """The axis of ``norm_slope(x, ord, axis, vectors)`` where it is that of a root of a sum of powers.

    Norms of other orders are differentiated twice where order and axis are literals.
    """
    if vectors and not isinstance(ord, str) and ord not in (0, np.inf, -np.inf):
        return axis
    if ord is None or isinstance(ord, str) or ord in (0, np.inf, -np.inf) or len(_axes(x, axis)) != 1:
        raise RefusedMode(
            "E0708",
            f"np.linalg.norm: the second derivative of the norm of order {ord!r} needs its order and axis as literals",
        )
    return axis
