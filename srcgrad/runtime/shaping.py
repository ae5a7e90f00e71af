"""Transposes of what moves axes and changes dtypes; how arrays lie in memory; what else a shape decides.

>>> unpermute(np.zeros((3, 4, 2)), (1, 2, 0)).shape
(2, 3, 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import rebroadcast, unbroadcast
from srcgrad.runtime.cotangents import is_floating, zeros_like


# --- axes ------------------------------------------------------------------------------------------------------------
def unpermute(g: Any, axes: Sequence[int] | None) -> Any:
    """The transpose of ``np.transpose(a, axes)``: axes put back where they were."""
    if axes is None or (len(axes) == 2 and axes[0] % 2 == 1 and axes[1] % 2 == 0):
        return np.transpose(g)
    return np.transpose(g, np.argsort([axis % len(axes) for axis in axes]))


def unrollaxis(g: Any, axis: int, start: int = 0) -> Any:
    """The transpose of ``np.rollaxis(a, axis, start)``: the axis put back where it was."""
    rank = np.ndim(g)
    axis %= rank
    start = start + rank if start < 0 else start
    return np.moveaxis(g, start - (axis < start), axis)


def memory_axes(a: Any, order: str = "K") -> tuple[int, ...]:
    """The axes of ``a`` in the order in which ``np.ravel(a, order)`` runs through them, the slowest first."""
    a = np.asarray(a)
    axes = tuple(range(a.ndim))
    if order == "F" or (order == "A" and a.flags.fnc):
        return axes[::-1]
    if order != "K" or a.flags.c_contiguous:
        return axes
    return tuple(sorted(axes, key=lambda axis: -abs(a.strides[axis])))


def memory_order(a: Any, order: str = "A") -> str:
    """``order`` as ``"C"`` or ``"F"``, where ``"A"`` means the one of them in which ``a`` lies in memory."""
    if order != "A":
        return order
    return "F" if np.asarray(a).flags.fnc else "C"


def mesh(x: Any, like: Any, i: int, indexing: str = "xy") -> Any:
    """The i-th array of ``np.meshgrid``, for the vector ``x``, in the shape of ``like``."""
    shape = [1] * np.ndim(like)
    shape[_mesh_axis(i, np.ndim(like), indexing)] = -1
    return rebroadcast(np.reshape(x, shape), like)


def unmesh(g: Any, x: Any, i: int, indexing: str = "xy") -> Any:
    """The cotangent of ``x`` where ``g`` is that of the i-th array of ``np.meshgrid``."""
    axis = _mesh_axis(i, np.ndim(g), indexing)
    others = tuple(other for other in range(np.ndim(g)) if other != axis)
    return unbroadcast(np.reshape(np.sum(g, axis=others), np.shape(x)), x)


def _mesh_axis(i: int, rank: int, indexing: str) -> int:
    return 1 - i if indexing == "xy" and i < 2 <= rank else i


# --- dtypes ----------------------------------------------------------------------------------------------------------
def astype(a: Any, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True) -> Any:
    """``a.astype(dtype)``, for numbers too."""
    if isinstance(a, np.ndarray):
        return a.astype(dtype, order, casting, subok, copy)
    return np.asarray(a).astype(dtype)[()]


def unastype(g: Any, a: Any, dtype: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``a.astype(dtype)``: zero through a dtype that is not floating."""
    return unbroadcast(g, a) if dtype is None or is_floating(np.dtype(dtype)) else zeros_like(a)


def reastype(g: Any, like: Any) -> Any:
    """The tangent ``g`` of a conversion to ``like``: in its dtype, and zero where that is not floating."""
    dtype = getattr(like, "dtype", None)
    return rebroadcast(g, like) if dtype is None or is_floating(dtype) else np.zeros(np.shape(like))[()]


# --- what a shape decides --------------------------------------------------------------------------------------------
def exponents(y: Any, increasing: bool = False) -> Any:
    """The exponents of the columns of a Vandermonde matrix ``y``."""
    count = np.shape(y)[-1]
    return np.arange(count) if increasing else np.arange(count)[::-1]


def intervals(num: int, endpoint: bool = True) -> float:
    """How many steps ``np.linspace`` takes from start to stop; NaN where it gives no step."""
    count = num - 1 if endpoint else num
    return float(count) if count > 0 else np.nan
