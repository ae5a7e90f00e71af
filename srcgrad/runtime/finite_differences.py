"""Differences of neighbours and sums over intervals, and their transposes.

>>> undiff(np.array([1.0, 0.0]), np.zeros(3))
array([-1.,  1.,  0.])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.refusals import RefusedMode

Axis = int | tuple[int, ...] | None


def _at(axis: int, rank: int, part: Any) -> tuple[Any, ...]:
    """An index that takes ``part`` along one axis."""
    return (slice(None),) * (int(axis) % rank) + (part,)


def _lengthened(shape: tuple[int, ...], axis: int, by: int) -> tuple[int, ...]:
    axis %= len(shape)
    return (*shape[:axis], max(shape[axis] + by, 0), *shape[axis + 1 :])


# --- differences -----------------------------------------------------------------------------------------------------
def differences(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """``np.diff`` in which None is nothing put in front or behind."""
    ends = {name: end for name, end in (("prepend", prepend), ("append", append)) if end is not None}
    return np.diff(a, n, axis, **ends)


def end_length(end: Any, axis: int = -1, n: int = 1) -> int:
    """How many elements along ``axis`` ``np.diff`` puts there for ``prepend`` or ``append``; none where ``n`` is 0."""
    return 0 if end is None or not n else 1 if not np.ndim(end) else int(np.shape(end)[axis])


def end_size(end: Any) -> int:
    """How many elements ``np.ediff1d`` puts there for ``to_begin`` or ``to_end``."""
    return 0 if end is None else int(np.size(end))


def undifferences(g: Any, n: int = 1, axis: int = -1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.diff(a, n, axis)``, in the dtype of ``g``."""
    for _ in range(n):
        shape = np.shape(g)
        result = np.zeros(_lengthened(shape, axis, 1), np.result_type(g))
        result[_at(axis, len(shape), slice(1, None))] = g
        result[_at(axis, len(shape), slice(None, -1))] -= g
        g = result
    return g


def undiff(g: Any, a: Any, n: int = 1, axis: int = -1) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.diff(a, n, axis)``."""
    if type(g) is np.ndarray and g.ndim == 1 and n == 1 and type(a) is np.ndarray and a.dtype is g.dtype and g.size:
        result = np.empty_like(g, shape=g.size + 1)
        result[0] = -g[0]
        result[-1] = g[-1]
        np.subtract(g[:-1], g[1:], out=result[1:-1])
        return unarray(result, a)
    if np.shape(a)[axis] <= n:  # no differences at all
        return zeros_like(a)
    return unarray(undifferences(g, n, axis), a)


def cut(g: Any, like: Any, start: int, axis: int = -1, n: int = 1) -> Any:
    """The part of ``g`` from ``start`` along ``axis`` as the cotangent of ``like``, which was put there unless ``n`` is
    0."""
    if not n:
        return zeros_like(like)
    part = g[_at(axis, np.ndim(g), slice(start, start + end_length(like, axis)))]
    return unarray(part, like) if np.ndim(like) else unbroadcast(part, like)


def placed(x: Any, like: Any, start: int, axis: int = -1, n: int = 1) -> Any:
    """Zeros like ``like`` with ``x`` from ``start`` along ``axis`` unless ``n`` is 0: the transpose of ``cut``."""
    result = np.zeros(np.shape(like), floating(x, x))
    if n:
        result[_at(axis, result.ndim, slice(start, start + end_length(x, axis)))] = x
    return result


def unediff1d(g: Any, ary: Any, start: int = 0) -> Any:
    """The cotangent of ``ary`` where ``g`` from ``start`` is that of ``np.ediff1d(ary)``."""
    size = np.size(ary)
    if not size:
        return zeros_like(ary)
    return unarray(np.reshape(undifferences(g[start : start + size - 1], 1, 0), np.shape(ary)), ary)


# --- intervals -------------------------------------------------------------------------------------------------------
def step_sizes(x: Any, y: Any, axis: int = -1) -> Any:
    """The lengths of the intervals between the points ``x`` of ``y`` along ``axis``, in a shape that broadcasts: points
    on one axis, points of the rank of ``y``, or the length itself.  Differences of integers wrap around."""
    if not np.ndim(x):
        return np.full([n - 1 if a == axis % np.ndim(y) else 1 for a, n in enumerate(np.shape(y))], x)
    if np.ndim(x) > 1:
        return np.diff(x, 1, axis)
    return np.diff(x).reshape([-1 if a == axis % np.ndim(y) else 1 for a in range(np.ndim(y))])


def unstep_sizes(g: Any, x: Any, y: Any, axis: int = -1) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``step_sizes(x, y, axis)``."""
    if not np.ndim(x):
        return unbroadcast(g, x)
    return undiff(g, x, 1, axis) if np.ndim(x) > 1 else undiff(np.ravel(g), x)


def midpoints(y: Any, axis: int = -1) -> Any:
    """The means of neighbours along ``axis``."""
    y = np.asarray(y)
    rank = y.ndim
    return (y[_at(axis, rank, slice(1, None))] + y[_at(axis, rank, slice(None, -1))]) / 2.0


def unmidpoints(g: Any, y: Any, axis: int = -1) -> Any:
    """The cotangent of ``y`` where ``g`` is that of ``midpoints(y, axis)``, or the same for every interval."""
    given = np.shape(g)
    here = int(axis) % np.ndim(y) - np.ndim(y)
    shape = (*given[:here], np.shape(y)[here], *given[len(given) + here + 1 :])
    result = np.zeros(shape, np.result_type(g, np.float16))
    half = np.divide(g, 2.0)
    result[_at(here, len(given), slice(1, None))] = half
    result[_at(here, len(given), slice(None, -1))] += half
    return result


# --- np.gradient: at each point the mean of the slopes beside it, weighted by the other's length ---------------------
def gradient_axes(f: Any, axis: Axis = None) -> tuple[int, ...]:
    """The axes along which ``np.gradient`` differentiates."""
    rank = np.ndim(f)
    if axis is None:
        return tuple(range(rank))
    return tuple(a % rank for a in (axis if isinstance(axis, tuple | list) else (axis,)))


def gradient_axis(f: Any, axis: Axis = None) -> int:
    """The one axis along which ``np.gradient`` differentiates; several raise."""
    axes = gradient_axes(f, axis)
    if len(axes) != 1:
        raise RefusedMode(
            "E0504",
            "np.gradient: a derivative by the spacing is not known over several axes; call it for one axis at a time",
        )
    return axes[0]


def one_spacing_only(h: Any) -> Any:
    """Refuses to differentiate ``np.gradient`` by one of several spacings."""
    raise RefusedMode(
        "E0504", "np.gradient: its derivative by one of several spacings is not known: call it for one axis at a time"
    )


def slope_places(f: Any, axis: int, far: bool = False) -> Any:
    """Which interval lies behind each point (at the ends the one there is), or the ``far`` one beside it."""
    n = np.shape(f)[axis]
    places = np.arange(n) - (1 if far else 0)
    places[0] = min(1, n - 2) if far else 0
    places[-1] = max(n - 3, 0) if far else n - 2
    return places


def slope_leaning(f: Any, axis: int, edge_order: int = 1) -> Any:
    """What the share of the far slope is multiplied by at each point: 1 inside, 0 at the ends, or -1 where they are of
    second order."""
    n = np.shape(f)[axis]
    leaning = np.ones(n)
    leaning[[0, -1]] = 0.0 if edge_order == 1 else -1.0
    return leaning.reshape([n if a == axis % np.ndim(f) else 1 for a in range(np.ndim(f))])


def ungradient(g: Any, f: Any, axis: Axis, edge_order: int, *varargs: Any) -> Any:
    """The cotangent of ``f`` where ``g`` is that of ``np.gradient(f, *varargs, axis=axis, edge_order=edge_order)``."""
    axes = gradient_axes(f, axis)
    parts = [g] if len(axes) == 1 else list(g)
    steps = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    result: Any = 0.0
    for part, along, step in zip(parts, axes, steps, strict=True):
        if part is not None:
            result = result + _ungradient(part, f, along, edge_order, step)
    return unarray(np.zeros(np.shape(f)) + result, f)


def _ungradient(g: Any, f: Any, axis: int, edge_order: int, step: Any) -> Any:
    rank = np.ndim(f)
    if not np.ndim(step):
        return _ungradient_even(g / step, np.shape(f), axis, edge_order)
    h = step_sizes(np.multiply(step, 1.0), f, axis)  # NumPy takes differences of floats here, not so in np.trapezoid
    first = np.take(h, slope_places(f, axis), axis)
    share = slope_leaning(f, axis, edge_order) * first / (first + np.take(h, slope_places(f, axis, True), axis))
    far = g * share
    near = g - far
    slopes = np.zeros(_lengthened(np.shape(f), axis, -1), np.result_type(near))
    slopes[_at(axis, rank, slice(1, None))] = near[_at(axis, rank, slice(1, -1))]
    slopes[_at(axis, rank, slice(None, -1))] += far[_at(axis, rank, slice(1, -1))]
    for end, other in ((0, 1), (-1, -2)):
        slopes[_at(axis, rank, end)] += near[_at(axis, rank, end)]
        slopes[_at(axis, rank, other if slopes.shape[axis] > 1 else end)] += far[_at(axis, rank, end)]
    return undifferences(slopes / h, 1, axis)


def _ungradient_even(g: Any, shape: tuple[int, ...], axis: int, edge_order: int) -> Any:
    """The same at steps of 1: halves of the slopes on both sides, and what the ends have."""
    rank = len(shape)
    result = np.zeros(shape, np.result_type(g))
    half = g[_at(axis, rank, slice(1, -1))] * 0.5
    result[_at(axis, rank, slice(2, None))] = half
    result[_at(axis, rank, slice(None, -2))] -= half
    for sign, places in ((1.0, (0, 1, 2)), (-1.0, (-1, -2, -3))):
        end = sign * g[_at(axis, rank, places[0])]
        weights = (-1.0, 1.0) if edge_order == 1 else (-1.5, 2.0, -0.5)
        for place, weight in zip(places, weights, strict=False):
            result[_at(axis, rank, place)] += weight * end
    return result


# --- angles ----------------------------------------------------------------------------------------------------------
def turns(y: Any, p: Any, period: Any = 2 * math.pi) -> Any:
    """How many whole periods ``np.unwrap`` added to each element of ``p`` to make ``y``."""
    return np.rint(np.divide(np.subtract(y, p), period))
