"""Reductions undone: cotangents spread over what was summed, counts and deviations, orders of norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast
from srcgrad.runtime.cotangents import is_floating, zeros_like
from srcgrad.runtime.refusals import RefusedMode

Axis = int | tuple[int, ...] | None

_FLOAT64 = np.dtype(np.float64)


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The shape of a reduction with ``keepdims=True``."""
    if axis is None:
        return (1,) * len(shape)
    axes = {
        np.lib.array_utils.normalize_axis_index(a, len(shape)) for a in (axis if isinstance(axis, tuple) else (axis,))
    }
    return tuple(1 if a in axes else n for a, n in enumerate(shape))


def unreduce(g: Any, a: Any, axis: Axis = None, keepdims: bool = False, where: Any = True) -> Any:
    """Spread the cotangent ``g`` of a reduction of ``a`` over the shape of ``a``: a fresh array of its dtype, with
    zeros where ``where`` does not hold."""
    if where is True and type(a) is np.ndarray:
        if axis is None:
            if (isinstance(g, float) and a.dtype is _FLOAT64) or (
                isinstance(g, np.floating) and g.dtype is a.dtype and a.ndim
            ):
                result = np.empty(a.shape, a.dtype)
                result.fill(g)
                return result
        elif type(g) is np.ndarray and g.dtype is a.dtype:
            along = axis[0] if type(axis) is tuple and len(axis) == 1 else axis
            given = a.shape
            if type(along) is int and -len(given) <= along < len(given):
                before, after = given[: along % len(given)], given[along % len(given) + 1 :]
                if g.shape == (before + (1,) + after if keepdims else before + after):
                    result = np.empty(given, a.dtype)
                    result[...] = g.reshape(*before, 1, *after)
                    return result
    return _unreduce(g, a, axis, keepdims, where)


def _unreduce(g: Any, a: Any, axis: Axis, keepdims: bool, where: Any) -> Any:
    shape = np.shape(a)
    if not shape:
        return unbroadcast(g if where is True else np.where(where, g, 0.0), a)
    kept = kept_shape(shape, axis)
    given = np.shape(g)
    if given != kept and (keepdims or given != _dropped(kept, shape, axis)):
        over = "every axis" if axis is None else f"axis {axis}"
        raise ValueError(f"a cotangent of shape {given} does not fit a reduction of shape {shape} over {over}")
    dtype = floating(a, g)
    g = np.reshape(real_for(g, dtype), kept)
    if where is True:
        result = np.empty(shape, dtype)
        result[...] = g
    else:
        result = np.zeros(shape, dtype)
        np.copyto(result, g, where=where, casting="same_kind")
    return result


def _dropped(kept: tuple[int, ...], shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    if axis is None:
        return ()
    axes = {a % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))}
    return tuple(n for a, n in enumerate(kept) if a not in axes)


def spread_out(y: Any, a: Any, axis: Axis) -> Any:
    """A reduction in a shape that broadcasts against ``a``."""
    return np.reshape(y, kept_shape(np.shape(a), axis))


def count(a: Any, axis: Axis = None, ddof: float = 0, keepdims: bool = False, where: Any = True) -> Any:
    """How many elements of ``a`` each result of a reduction takes, less ``ddof``; nan, as NumPy's means are, where that
    is not positive."""
    if where is True:
        if axis is None:
            n = a.size if type(a) is np.ndarray else np.size(a)
        else:
            shape = np.shape(a)
            n = math.prod([shape[axis] for axis in axis]) if isinstance(axis, tuple) else shape[axis]
        left = n - ddof
        return left if left > 0 else math.nan
    counts = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims) - ddof
    return np.where(counts > 0, counts, math.nan)[()]


def deviation(a: Any, axis: Axis = None, where: Any = True, mean: Any = None, dtype: Any = None) -> Any:
    """``a`` less its mean along ``axis``, or less the given one, and zero where ``where`` does not hold; conjugated, as
    the derivative of a squared magnitude is.  The deviation from its own mean is its own transpose.

    The mean is taken in ``dtype``: in a real one it is that of the real parts.
    """
    if mean is not None:
        if np.iscomplexobj(mean) and not np.iscomplexobj(a):
            raise RefusedMode("E0708", "a variance of real numbers about a complex mean has no derivative here")
        distance = np.conjugate(np.subtract(a, mean))
        return distance if where is True else np.where(where, distance, 0)[()]
    if where is True:
        if type(a) is np.ndarray and a.dtype is _FLOAT64 and a.size:
            return a - np.add.reduce(a, axis, keepdims=True) / count(a, axis)
        if not np.size(a):
            return zeros_like(a)
        mean = _in_reals(np.mean(a, axis=axis, keepdims=True), dtype)
        return np.conjugate(np.subtract(a, mean)).reshape(np.shape(a))[()]
    mask = np.broadcast_to(where, np.shape(a))
    kept = np.where(mask, a, 0)
    wide = np.float32 if kept.dtype == np.float16 else None
    whole = _in_reals(np.sum(kept, axis=axis, dtype=wide, keepdims=True), dtype)
    mean = whole / np.maximum(np.sum(mask, axis=axis, keepdims=True), 1)
    return np.where(mask, np.conjugate(kept - mean.astype(kept.dtype)), 0)[()]


def _in_reals(mean: Any, dtype: Any) -> Any:
    return mean if dtype is None or np.dtype(dtype).kind == "c" else np.real(mean)


def in_dtype(a: Any, dtype: Any) -> Any:
    """``a`` as a reduction in ``dtype`` reads it; ``a`` itself where that is None.  One of objects is refused."""
    if dtype is None:
        return a
    is_floating(np.dtype(dtype))
    return np.asarray(a).astype(dtype)[()]


def if_floating(g: Any, dtype: Any, real: bool = False) -> Any:
    """``g``, a cotangent of a result in ``dtype``; zeros where that holds integers, which move by jumps.  Its real part
    where the result is ``real`` whatever its dtype.  A dtype of objects, text or dates is refused."""
    if dtype is not None and not is_floating(np.dtype(dtype)):
        return zeros_like(g)
    return np.real(g) if real else g


def present(a: Any, where: Any = True) -> Any:
    """Where the elements of ``a`` are numbers, not nan, and ``where`` holds."""
    numbers = np.equal(a, a)
    return numbers if where is True else np.logical_and(numbers, where)


def spread_numbers(a: Any, axis: Axis = None, ddof: float = 0, where: Any = True) -> Any:
    """``present``, but nowhere in slices that have no more numbers than ``ddof``: they have no variance."""
    numbers = present(a, where)
    return numbers & (np.sum(numbers, axis=axis, keepdims=True) > ddof)
