"""Running sums and products, and their transposes, which run from the end.

>>> recurrence(np.ones(4), np.full(4, 2.0))
array([0., 1., 3., 7.])
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating, real_for
from srcgrad.runtime.containers import unarray

Axes = int | tuple[int, ...] | None

_FLOAT64 = np.dtype(np.float64)
_COLUMNS = 1024  # of a product of many elements
_SHORT = 2048  # up to here a loop over Python's numbers is faster than blocks


# --- sums ------------------------------------------------------------------------------------------------------------
def uncumsum(g: Any, a: Any, axis: int | None = None) -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.cumsum(a, axis)``: the running sum from the end."""
    if type(g) is np.ndarray and g.ndim == 1 and type(a) is np.ndarray and g.shape == a.shape and g.dtype is a.dtype:
        return np.add.accumulate(g[::-1])[::-1]
    dtype = floating(a, g)
    g = np.asarray(real_for(g, dtype), dtype)
    if axis is None:
        return unarray(np.reshape(np.add.accumulate(np.ravel(g)[::-1])[::-1], np.shape(a)), a)
    return unarray(np.flip(np.add.accumulate(np.flip(g, axis), axis), axis), a)


def without_initial(g: Any, a: Any, axis: int | None = None) -> Any:
    """The cotangent ``g`` of a running result of ``a`` without the entry that ``include_initial`` put first."""
    if not np.ndim(a):
        a = np.reshape(a, 1)  # NumPy gives it an axis
    along = 0 if axis is None else axis
    extra = np.shape(g)[along] - np.shape(a)[along]
    return g[(slice(None),) * (int(along) % np.ndim(g)) + (slice(extra, None),)] if extra else g


def with_initial(a: Any, like: Any, axis: int | None = None) -> Any:
    """``a`` after as many zeros along ``axis`` as ``like`` is longer: the transpose of ``without_initial``."""
    along = (0 if axis is None else axis) % np.ndim(like)
    extra = np.shape(like)[along] - np.shape(a)[along]
    return np.pad(a, [(extra if x == along else 0, 0) for x in range(np.ndim(like))]) if extra else a


def shifted(x: Any, axis: int, fill: float = 0.0, step: int = 1) -> Any:
    """``x`` moved by one place along ``axis``, forwards or (``step`` -1) backwards; ``fill`` where nothing comes."""
    x = np.asarray(x)
    result = np.empty_like(x)
    before = (slice(None),) * (int(axis) % x.ndim)
    here, there = (slice(1, None), slice(None, -1)) if step > 0 else (slice(None, -1), slice(1, None))
    result[(*before, here)] = x[(*before, there)]
    result[(*before, slice(None, 1) if step > 0 else slice(-1, None))] = fill
    return result


# --- products of elements, exact where some are zero -----------------------------------------------------------------
def _lines(a: Any, axis: Axes) -> tuple[Any, Any]:
    """``a`` as a matrix whose first index runs along ``axis`` (in C order over several), and the way back."""
    a = np.asarray(a)
    if a.ndim == 1 or axis is None:
        shape = a.shape
        return a.reshape(-1, 1), lambda lines: lines.reshape(shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    along = [int(x) % a.ndim for x in axes]
    order = along + [x for x in range(a.ndim) if x not in along]
    turned = np.transpose(a, order)
    length = math.prod(a.shape[x] for x in along)
    rest = math.prod(a.shape[x] for x in order[len(along) :])

    def back(lines: Any) -> Any:
        return np.transpose(np.reshape(lines, turned.shape), np.argsort(order))

    return np.reshape(turned, (length, rest)), back


def running_product(a: Any, axis: Axes = None, reverse: bool = False) -> Any:
    """The product of the elements before each one along ``axis`` (after it when ``reverse``), shaped like ``a``."""
    if isinstance(axis, tuple) and not axis:
        return np.ones_like(a)
    if type(a) is np.ndarray and a.ndim == 1:
        result = np.empty_like(a)
        ordered, given = (result[::-1], a[::-1]) if reverse else (result, a)
        ordered[:1] = 1
        np.multiply.accumulate(given[:-1], out=ordered[1:])
        return result
    if not np.ndim(a):
        return np.ones_like(a)[()]
    lines, back = _lines(a, axis)
    if reverse:
        lines = lines[::-1]
    made = np.ones(lines.shape, lines.dtype)
    if 16 <= lines.shape[1] >= len(lines) // 8:  # an accumulation across rows is slow
        for j in range(1, len(lines)):
            np.multiply(made[j - 1], lines[j - 1], out=made[j])
    else:
        np.multiply.accumulate(lines[:-1], axis=0, out=made[1:])
    return back(made[::-1] if reverse else made)


def _product(a: Any) -> Any:
    """The product of all elements: of many, column by column first, which a processor takes several at a time, unless
    something is lost in that order, which NumPy's keeps."""
    if a.size >= 4 * _COLUMNS and a.flags.c_contiguous:
        even = a.size // _COLUMNS * _COLUMNS
        flat = a.reshape(-1)
        with np.errstate(over="raise", under="raise"):
            try:
                columns = np.multiply.reduce(flat[:even].reshape(-1, _COLUMNS), 0)
                return np.multiply.reduce(columns) * np.multiply.reduce(flat[even:])
            except FloatingPointError:
                pass
    return np.multiply.reduce(a, None)


def _is_exact(products: Any) -> bool:
    """Whether nothing was lost in products: none is zero, too small or too large for the dtype."""
    if products.dtype.kind not in "fc":
        return False
    sizes, limits = np.abs(products), np.finfo(products.dtype)
    return bool(np.all((sizes >= limits.tiny) & (sizes <= limits.max)))


def others(a: Any, axis: Axes = None) -> Any:
    """The product of the other elements along ``axis``, for each one: exact where some are zero."""
    if type(a) is np.ndarray and a.ndim and not (isinstance(axis, tuple) and not axis):
        y = _product(a) if axis is None else np.multiply.reduce(a, axis, keepdims=True)
        if _is_exact(y):
            return y / a
    return running_product(a, axis) * running_product(a, axis, True)


def recurrence(x: Any, a: Any, axis: Axes = None, reverse: bool = False) -> Any:
    """``r[j] = x[j-1] + a[j-1] * r[j-1]`` from ``r[0] = 0`` along ``axis``; from the end with j+1 when ``reverse``."""
    if not np.ndim(a) or isinstance(axis, tuple) and not axis:
        return np.zeros_like(x)[()]
    lines, back = _lines(a, axis)
    terms, _ = _lines(np.broadcast_to(x, np.shape(a)), axis)
    dtype = np.result_type(lines, terms)
    if reverse:
        lines, terms = lines[::-1], terms[::-1]
    if lines.shape[1] == 1 and len(lines) <= _SHORT:
        result = np.array(_one_line(terms[:, 0].tolist(), lines[:, 0].tolist()), dtype)[:, None]
    elif len(lines) * 16 <= lines.shape[1] or len(lines) < 64:
        result = _many_lines(terms, lines, dtype)
    else:
        result = _in_blocks(terms, lines, dtype)
    return back(result[::-1] if reverse else result)


def _one_line(terms: list[Any], factors: list[Any]) -> list[Any]:
    result: list[Any] = []
    r = 0.0
    for term, factor in zip(terms, factors, strict=True):
        result.append(r)
        r = term + factor * r
    return result


def _many_lines(terms: Any, factors: Any, dtype: Any) -> Any:
    result = np.zeros(factors.shape, dtype)
    for j in range(1, len(factors)):
        np.multiply(factors[j - 1], result[j - 1], out=result[j])
        result[j] += terms[j - 1]
    return result


def _in_blocks(terms: Any, factors: Any, dtype: Any) -> Any:
    """The recurrence in about sqrt(n) blocks at once, each from zero; then what comes in from the block before."""
    n, rest = factors.shape
    size = max(math.isqrt(n), 1)
    blocks = -(-n // size)
    padding = ((0, blocks * size - n), (0, 0))
    shape = (blocks, size, rest)
    terms = np.moveaxis(np.pad(terms, padding).reshape(shape), 1, 0)
    factors = np.moveaxis(np.pad(factors, padding).reshape(shape), 1, 0)
    inside = np.zeros((size + 1, blocks, rest), dtype)
    passed = np.ones((size + 1, blocks, rest), dtype)
    for j in range(size):
        np.multiply(factors[j], inside[j], out=inside[j + 1])
        inside[j + 1] += terms[j]
        np.multiply(factors[j], passed[j], out=passed[j + 1])
    incoming = np.zeros((blocks, rest), dtype)
    # A product may overflow; where nothing comes in it takes no part.
    for block in range(1, blocks):
        before = incoming[block - 1]
        np.multiply(passed[size, block - 1], before, out=incoming[block], where=before != 0)
        incoming[block] += inside[size, block - 1]
    result = np.multiply(passed[:size], incoming, out=np.zeros(inside[:size].shape, dtype), where=incoming != 0)
    result += inside[:size]
    return np.moveaxis(result, 0, 1).reshape(blocks * size, rest)[:n]
