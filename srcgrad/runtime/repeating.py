"""Transposes of what repeats elements: tiles, repetitions, padding.

Padding works axis by axis, each axis over what the ones before it made (corners belong to the last axis), so that its
transpose runs over the axes from the last to the first.

>>> unpad(np.ones(5), np.zeros(3), 1, "edge")
array([2., 1., 2.])
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for, unbroadcast
from srcgrad.runtime.containers import unarray
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.refusals import RefusedMode

Pairs = list[tuple[int, int]]


# --- repetition ------------------------------------------------------------------------------------------------------
def untile(g: Any, a: Any, reps: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.tile(a, reps)``."""
    counts = tuple(int(count) for count in np.atleast_1d(reps))
    shape = np.shape(a)
    rank = max(len(counts), len(shape))
    counts = (1,) * (rank - len(counts)) + counts
    shape = (1,) * (rank - len(shape)) + shape
    split = [n for pair in zip(counts, shape, strict=True) for n in pair]
    summed = np.sum(np.reshape(g, split), axis=tuple(range(0, 2 * rank, 2)))
    return unbroadcast(np.reshape(summed, np.shape(a)), a)


def unrepeat(g: Any, a: Any, repeats: Any, axis: int | None = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.repeat(a, repeats, axis)``."""
    shape = (np.size(a),) if axis is None else np.shape(a)
    along = 0 if axis is None else axis % len(shape)
    counts = np.ravel(repeats)
    if counts.size == 1:
        times = int(counts[0])
        copies = np.moveaxis(np.reshape(g, (*shape[: along + 1], times, *shape[along + 1 :])), along + 1, 0)
        # NumPy sums few numbers that lie side by side slowly, whole arrays fast.
        result = sum(copies[1:], start=copies[0]) if 0 < times < 8 else np.sum(copies, axis=0)
    else:
        starts = np.cumsum(counts) - counts
        some = counts > 0
        if np.all(some):
            result = np.add.reduceat(g, starts, along) if len(starts) else np.zeros(shape, floating(a, g))
        else:
            result = np.zeros(shape, floating(a, g))
            if np.any(some):
                summed = np.add.reduceat(g, starts[some], along)
                result[(slice(None),) * along + (some,)] = real_for(summed, result.dtype)
    return unbroadcast(np.reshape(result, np.shape(a)), a)


def unresize(g: Any, a: Any) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.resize(a, new_shape)``, which repeats or cuts its elements."""
    size, flat = np.size(a), np.ravel(g)
    if not size:
        return zeros_like(a)
    rows = -(-flat.size // size)
    whole = np.zeros(rows * size, flat.dtype)
    whole[: flat.size] = flat
    return unarray(np.reshape(np.sum(np.reshape(whole, (rows, size)), axis=0), np.shape(a)), a)


def unwindow(g: Any, x: Any, window_shape: Any, axis: Any = None) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``sliding_window_view(x, window_shape, axis)``."""
    result = np.zeros(np.shape(x), floating(x, g))
    widths = [int(n) for n in np.atleast_1d(window_shape)]
    axes = [k % result.ndim for k in (range(result.ndim) if axis is None else np.atleast_1d(axis))]
    g = real_for(g, result.dtype)
    for offset in np.ndindex(*widths):
        span = [slice(None)] * result.ndim
        for k, start in zip(axes, offset, strict=True):
            begin = span[k].start or 0  # an axis may be given twice
            span[k] = slice(begin + start, begin + start + g.shape[k])
        result[tuple(span)] += g[(..., *offset)]
    return unarray(result, x)


# --- padding ---------------------------------------------------------------------------------------------------------
def _pairs(widths: Any, rank: int) -> Pairs:
    """``pad_width``, or ``stat_length``, as (before, after) of every axis."""
    if isinstance(widths, dict):
        made = [(0, 0)] * rank
        for axis, width in widths.items():
            made[axis] = (width, width) if isinstance(width, int) else tuple(width)
        return made
    if isinstance(widths, int):
        return [(widths, widths)] * rank
    return [(before, after) for before, after in np.broadcast_to(np.asarray(widths), (rank, 2)).tolist()]


def _lengths(stat_length: Any, shape: tuple[int, ...]) -> Pairs:
    """How many elements at either end of every axis a statistic of padding takes."""
    pairs = _pairs(stat_length, len(shape))
    return [(min(p or n, n), min(q or n, n)) for (p, q), n in zip(pairs, shape, strict=True)]


def unpad(
    g: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """The cotangent of ``array`` where ``g`` is that of ``np.pad(array, pad_width, mode)``, a mode linear in it."""
    shape = np.shape(array)
    widths = _pairs(pad_width, len(shape))
    if mode in ("constant", "empty"):
        inside = tuple(slice(before, before + n) for (before, _), n in zip(widths, shape, strict=True))
        return unbroadcast(np.asarray(g)[inside], array)
    lengths = _lengths(stat_length, shape)
    result = np.asarray(g)
    for axis in reversed(range(len(shape))):
        before, after = widths[axis]
        if before or after:
            lines = np.moveaxis(result, axis, 0)
            inner = _unpadded(lines, before, shape[axis], mode, reflect_type, lengths[axis])
            result = np.moveaxis(inner, 0, axis)
    return unbroadcast(result, array)


def _unpadded(g: Any, before: int, n: int, mode: Any, reflect_type: str, lengths: tuple[int, int]) -> Any:
    """The transpose of padding one axis, the first, to ``before``, ``n`` and the rest."""
    left, inner, right = g[:before], np.array(g[before : before + n]), g[before + n :]
    after = len(right)
    if mode == "edge":
        inner[0] += left.sum(0)
        inner[-1] += right.sum(0)
    elif mode == "linear_ramp":
        inner[0] += np.tensordot(_ramp(before), left, 1)
        inner[-1] += np.tensordot(_ramp(after), right[::-1], 1)
    elif mode == "mean":
        inner[: lengths[0]] += left.sum(0) / lengths[0]
        inner[n - lengths[1] :] += right.sum(0) / lengths[1]
    elif mode in ("reflect", "symmetric", "wrap"):
        odd = mode != "wrap" and reflect_type == "odd"
        outside = np.concatenate((left, right))
        first, last, sign, origin = _origins(n, before, after, mode, odd)
        if odd:
            inner[0] += np.tensordot(first, outside, 1)
            inner[-1] += np.tensordot(last, outside, 1)
            outside = outside * np.reshape(sign, (-1, *[1] * (outside.ndim - 1)))
        for run in _runs(origin):
            start, stop = sorted((origin[run.start], origin[run.stop - 1]))
            step = 1 if origin[run.start] == start else -1
            inner[start : stop + 1] += outside[run][::step]
    else:
        raise RefusedMode("E0708", f"np.pad: the derivative of the mode {mode!r} is not known")
    return inner


def _ramp(width: int) -> Any:
    """The share of the edge in a ramp from the end value to it."""
    return np.arange(width) / max(width, 1)


def _origins(n: int, before: int, after: int, mode: Any, odd: bool) -> tuple[Any, Any, Any, Any]:
    """What ``np.pad`` makes of an axis of ``n`` elements x: each padded one is ``first x[0] + last x[-1] + sign x[i]``.

    It is asked, not imitated: with i for x where elements are only moved, with three vectors where they are reflected.
    """

    def padded(x: Any) -> Any:
        options = {"reflect_type": "odd"} if odd else {}
        made = np.pad(x, (before, after), mode, **options)
        return np.concatenate((made[:before], made[before + n :]))

    places = np.arange(n)
    if not odd:
        origin = padded(places)
        return None, None, None, origin
    first, last = padded((places == 0) * 1), padded((places == n - 1) * 1)
    sign = 1 - first - last if n > 1 else 0 * first
    origin = np.where(sign, sign * (padded(places) - last * (n - 1)), 0)
    return first, last if n > 1 else 0 * last, sign, origin


def _runs(origin: Any) -> Iterator[slice]:
    """The stretches of ``origin`` that go up by one, or down by one, throughout."""
    start, count = 0, len(origin)
    while start < count:
        stop = start + 1
        if stop < count and abs(origin[stop] - origin[start]) == 1:
            step = origin[stop] - origin[start]
            while stop < count and origin[stop] - origin[stop - 1] == step:
                stop += 1
        yield slice(start, stop)
        start = stop


def repad(
    v: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """``v`` padded as ``array`` is by a mode that is linear in it, constants and ends zero."""
    if mode in ("constant", "empty"):
        return np.pad(v, pad_width)
    if mode == "mean":
        return np.pad(v, pad_width, mode, stat_length=stat_length)
    if mode in ("reflect", "symmetric"):
        return np.pad(v, pad_width, mode, reflect_type=reflect_type)
    return np.pad(v, pad_width, mode)


def _stages(array: Any, widths: Pairs, mode: Any, stat_length: Any) -> Iterator[tuple[int, Any, Any]]:
    """Per axis, the weights of the elements in what is padded before and after: of the winners, ties evenly."""
    lengths = _lengths(stat_length, np.shape(array))
    done = np.asarray(array)
    for axis, (p, q) in enumerate(lengths):
        if any(widths[axis]):
            lines = np.moveaxis(done, axis, 0)
            yield axis, _winners(lines[:p], mode), _winners(lines[len(lines) - q :], mode)
            only = [(0, 0)] * done.ndim
            only[axis] = widths[axis]
            done = np.pad(done, only, mode, stat_length=lengths)


def _winners(lines: Any, mode: Any) -> Any:
    if mode == "median":
        order = np.argsort(lines, axis=0, kind="stable")
        weights = np.zeros(lines.shape)
        m = len(lines)
        for place in {(m - 1) // 2, m // 2}:
            np.put_along_axis(weights, order[place : place + 1], 1.0 if m % 2 else 0.5, 0)
        return weights
    equal = lines == (np.max(lines, axis=0) if mode == "maximum" else np.min(lines, axis=0))
    return equal / np.sum(equal, axis=0)


def unpad_chosen(
    g: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """The cotangent of ``array`` where ``g`` is that of ``np.pad(array, ...)``, extrema and medians too."""
    if mode not in ("maximum", "minimum", "median"):
        return unpad(g, array, pad_width, mode, stat_length, reflect_type)
    widths = _pairs(pad_width, np.ndim(array))
    result = np.asarray(g)
    for axis, left, right in reversed(list(_stages(array, widths, mode, stat_length))):
        lines = np.moveaxis(result, axis, 0)
        before, n = widths[axis][0], np.shape(array)[axis]
        inner = np.array(lines[before : before + n])
        inner[: len(left)] += left * lines[:before].sum(0)
        inner[n - len(right) :] += right * lines[before + n :].sum(0)
        result = np.moveaxis(inner, 0, axis)
    return unbroadcast(result, array)


def repad_chosen(
    v: Any, array: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None, reflect_type: str = "even"
) -> Any:
    """The tangent of ``np.pad(array, ...)`` where ``v`` is that of ``array``, extrema and medians too."""
    if mode not in ("maximum", "minimum", "median"):
        return repad(v, array, pad_width, mode, stat_length, reflect_type)
    widths = _pairs(pad_width, np.ndim(array))
    result = np.asarray(v)
    for axis, left, right in _stages(array, widths, mode, stat_length):
        lines = np.moveaxis(result, axis, 0)
        n = len(lines)
        first = np.sum(left * lines[: len(left)], axis=0, keepdims=True)
        last = np.sum(right * lines[n - len(right) :], axis=0, keepdims=True)
        before, after = widths[axis]
        parts = (np.repeat(first, before, 0), lines, np.repeat(last, after, 0))
        result = np.moveaxis(np.concatenate(parts, dtype=lines.dtype), 0, axis)
    return result


def unpad_values(g: Any, array: Any, values: Any, pad_width: Any, mode: Any = "constant") -> Any:
    """The cotangent of ``constant_values``, or of ``end_values``, where ``g`` is that of ``np.pad(array, ...)``."""
    shape = np.shape(array)
    if mode not in ("constant", "linear_ramp") or np.asarray(array).dtype.kind in "biu":
        return zeros_like(values)
    result = np.asarray(g)
    sums = np.zeros((len(shape), 2), floating(result, result))
    for axis, (before, after) in reversed(list(enumerate(_pairs(pad_width, len(shape))))):
        lines = np.moveaxis(result, axis, 0)
        n = shape[axis]
        left, right = lines[:before], lines[before + n :]
        inner = lines[before : before + n]
        if mode == "constant":
            sums[axis] = left.sum(), right.sum()
        else:
            rises, falls = _ramp(before), _ramp(after)
            sums[axis] = np.tensordot(1.0 - rises, left, 1).sum(), np.tensordot(1.0 - falls, right[::-1], 1).sum()
            inner = np.array(inner)
            inner[0] += np.tensordot(rises, left, 1)
            inner[-1] += np.tensordot(falls, right[::-1], 1)
        result = np.moveaxis(inner, 0, axis)
    like = np.empty(np.shape(values), sums.dtype) if isinstance(values, Sequence) else values
    return unarray(unbroadcast(sums, like), values)


def repad_values(v: Any, array: Any, pad_width: Any, mode: Any = "constant") -> Any:
    """The tangent of ``np.pad(array, ...)`` where ``v`` is that of ``constant_values``, or of ``end_values``."""
    zeros = np.asarray(zeros_like(array))
    if np.asarray(array).dtype.kind in "biu":
        return np.pad(zeros, pad_width)  # they are cut to integers
    if mode == "constant":
        return np.pad(zeros, pad_width, constant_values=v)
    if mode == "linear_ramp":
        return np.pad(zeros, pad_width, mode, end_values=v)
    return np.pad(zeros, pad_width)
