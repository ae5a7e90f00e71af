"""Layers of neural networks: convolution, pooling, padding and normalization over the last dimensions of a stack.

Images are stacked as (sample, channel, *size).  Every linear function stands beside its transpose.

>>> convolve(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[1.0, -1.0]]]), (1,), (0,), (1,), 1)
array([[[-1., -2.]]])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

Ints = tuple[int, ...]


# --- convolution -----------------------------------------------------------------------------------------------------
def _outputs(size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Ints:
    """How many places a kernel has in each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def _padded(x: Any, padding: Ints) -> Any:
    if not any(padding):
        return x
    return np.pad(x, [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding])


def _steps(kernel: Ints, stride: Ints, dilation: Ints, out: Ints) -> Iterator[tuple[Ints, tuple[slice, ...]]]:
    """Each element of a kernel, and the slices of the padded input that it meets."""
    for offsets in itertools.product(*map(range, kernel)):
        yield (
            offsets,
            tuple(
                slice(o * d, o * d + s * (n - 1) + 1, s)
                for o, d, s, n in zip(offsets, dilation, stride, out, strict=True)
            ),
        )


def columns(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """What a kernel meets: (sample, channel, *kernel, *place)."""
    wide = _padded(x, padding)
    out = _outputs(x.shape[2:], kernel, stride, padding, dilation)
    made: Any = np.empty((*x.shape[:2], *kernel, *out), x.dtype)
    for offsets, where in _steps(kernel, stride, dilation, out):
        made[(slice(None), slice(None), *offsets)] = wide[(..., *where)]
    return made


def uncolumns(g: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints) -> Any:
    """The transpose of ``columns``: cotangents added up where the kernel met the same element."""
    out = _outputs(size, kernel, stride, padding, dilation)
    made: Any = np.zeros((*g.shape[:2], *(n + 2 * p for n, p in zip(size, padding, strict=True))), g.dtype)
    for offsets, where in _steps(kernel, stride, dilation, out):
        made[(..., *where)] += g[(slice(None), slice(None), *offsets)]
    inside = tuple(slice(p, p + n) for n, p in zip(size, padding, strict=True))
    return made[(..., *inside)]


def convolve(x: Any, weight: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The sum over what a kernel meets, ``weight`` (channel, channel of the input in its group, *kernel)."""
    kernel = weight.shape[2:]
    met = columns(x, kernel, stride, padding, dilation)
    out = met.shape[2 + len(kernel) :]
    flat = met.reshape(x.shape[0], groups, -1, math.prod(out))
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    return np.matmul(rows, flat).reshape(x.shape[0], weight.shape[0], *out)


def convolve_biased(
    x: Any, weight: Any, bias: Any, stride: Ints, padding: Ints, dilation: Ints, groups: int, shape: Ints
) -> Any:
    """``convolve`` and a bias for each channel, seen as ``shape``."""
    return convolve(x, weight, stride, padding, dilation, groups) + bias.reshape(shape)


def unconvolve_input(g: Any, weight: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` by its input, which has ``shape``."""
    kernel, out = weight.shape[2:], g.shape[2:]
    rows = weight.reshape(groups, weight.shape[0] // groups, -1)
    flat = g.reshape(g.shape[0], groups, -1, math.prod(out))
    met = np.matmul(np.swapaxes(rows, -1, -2), flat).reshape(g.shape[0], shape[1], *kernel, *out)
    return uncolumns(met, shape[2:], kernel, stride, padding, dilation)


def unconvolve_weight(g: Any, x: Any, shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int) -> Any:
    """The transpose of ``convolve`` by its weight, which has ``shape``."""
    met = columns(x, shape[2:], stride, padding, dilation)
    count = math.prod(g.shape[2:])
    flat = met.reshape(x.shape[0], groups, -1, count)
    rows = g.reshape(g.shape[0], groups, -1, count)
    return np.sum(np.matmul(rows, np.swapaxes(flat, -1, -2)), axis=0).reshape(shape)


# --- places ----------------------------------------------------------------------------------------------------------
def take_places(x: Any, places: Any, depth: int) -> Any:
    """Elements of the last ``depth`` dimensions by their numbers, which all stacks may share."""
    lead = x.shape[: x.ndim - depth]
    out = places.shape[-depth:]
    index = np.broadcast_to(places, (*lead, *out)).reshape(math.prod(lead), -1)
    return np.take_along_axis(x.reshape(math.prod(lead), -1), index, 1).reshape(*lead, *out)


def untake_places(g: Any, places: Any, shape: Ints, depth: int) -> Any:
    """The transpose of ``take_places``: cotangents added up at their places."""
    lead, size = shape[: len(shape) - depth], math.prod(shape[len(shape) - depth :])
    places = places if np.shape(places) == np.shape(g) else np.broadcast_to(places, g.shape)
    stacks = math.prod(lead)
    index = places.reshape(stacks, -1) + np.arange(0, stacks * size, size)[:, None]
    made = np.zeros(shape, g.dtype)
    np.add.at(made.reshape(-1), index.reshape(-1), g.reshape(-1))
    return made


@lru_cache(maxsize=64)
def _walk(
    size: Ints, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints
) -> tuple[list[Any], Any, Any] | None:
    """For each element of a kernel what it meets and how far on that is, and the number that each window begins with.

    None where a window sticks out of the margins, and for kernels of more elements than a byte can number.
    """
    spans = [s * (m - 1) + d * (k - 1) + 1 for k, s, d, m in zip(kernel, stride, dilation, out, strict=True)]
    if math.prod(kernel) > 255 or any(e > n + 2 * p for e, n, p in zip(spans, size, padding, strict=True)):
        return None
    rows = [math.prod(size[i + 1 :]) for i in range(len(size))]
    steps = list(_steps(kernel, stride, dilation, out))
    offsets = [sum(o * d * r for o, d, r in zip(place, dilation, rows, strict=True)) for place, _ in steps]
    first = sum(
        (np.arange(m) * s - p).reshape([-1 if j == i else 1 for j in range(len(size))]) * r
        for i, (m, s, p, r) in enumerate(zip(out, stride, padding, rows, strict=True))
    )
    return [(..., *where) for _, where in steps], np.asarray(offsets), first


def largest_in_order(
    x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints
) -> tuple[Any, Any] | None:
    """The largest elements that a window meets and their numbers, where comparing one after the other finds them.

    None for integers and many elements, where a window sticks out, and where it meets a nan or margins alone.
    """
    size = x.shape[2:]
    walk = _walk(size, kernel, stride, padding, dilation, out)
    if x.dtype.kind != "f" or walk is None:
        return None
    wheres, offsets, first = walk
    padded = any(padding)
    wide = x
    if padded:
        wide = np.full((*x.shape[:2], *(n + 2 * p for n, p in zip(size, padding, strict=True))), -np.inf, x.dtype)
        inner: Any = (..., *(slice(p, p + n) for n, p in zip(size, padding, strict=True)))
        wide[inner] = x
    most = wide[wheres[0]].copy()
    best = np.zeros(most.shape, np.uint8)
    later = np.empty(most.shape, bool)
    numbered = later.view(np.uint8)
    for number, where in enumerate(wheres[1:], 1):
        met = wide[where].copy()
        np.greater(met, most, out=later)
        np.multiply(numbered, number, out=numbered)  # a product, as a choice would branch at every element
        np.maximum(best, numbered, out=best)  # a later one is larger than all before
        np.maximum(most, met, out=most)
    if not math.isfinite(np.add.reduce(most, None)) and (np.isnan(most).any() or (padded and np.isneginf(most).any())):
        return None
    places = offsets.take(best)
    places += first
    return most, places


def largest_places(x: Any, kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, out: Ints) -> Any:
    """The numbers of the largest elements that a window meets, the first of several."""
    size = x.shape[2:]
    ends = [
        max(s * (m - 1) + d * (k - 1) + 1 - n - p, 0)
        for n, k, s, p, d, m in zip(size, kernel, stride, padding, dilation, out, strict=True)
    ]
    margins = [(0, 0), (0, 0), *zip(padding, ends, strict=True)]
    wide: Any = np.pad(x, margins, constant_values=-np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    numbers = np.pad(np.arange(math.prod(size)).reshape(size), margins[2:], constant_values=-1)
    steps = list(_steps(kernel, stride, dilation, out))
    met = np.stack([wide[(..., *where)] for _, where in steps])
    which = np.stack([numbers[where] for _, where in steps])
    inside = which >= 0
    met = np.where(inside[:, None, None], met, -np.inf) if x.dtype.kind == "f" else met
    best = np.argmax(met, 0)
    first = np.argmax(inside, 0)  # where all that is met is minus infinity
    best = np.where(
        np.take_along_axis(np.broadcast_to(inside[:, None, None], met.shape), best[None], 0)[0], best, first
    )
    return np.take_along_axis(np.broadcast_to(which[:, None, None], met.shape), best[None], 0)[0]


# --- means and weighted sums along dimensions ------------------------------------------------------------------------
def transposed(matrices: Any) -> Any:
    """Matrices, each transposed."""
    return tuple(np.transpose(matrix) for matrix in matrices)


def negated(widths: Any) -> Any:
    """Widths of margins that are cut off, of those that were put on."""
    return tuple((-low, -high) for low, high in widths)


def weighted_sums(x: Any, matrices: Any) -> Any:
    """The last dimensions multiplied by a matrix each, (output, input)."""
    for i, matrix in enumerate(matrices):
        axis = x.ndim - len(matrices) + i
        x = np.moveaxis(np.tensordot(x, matrix, ((axis,), (1,))), -1, axis)
    return x


def _room(size: Ints, kernel: Ints, stride: Ints, padding: Ints, out: Ints) -> list[tuple[int, int]]:
    """Margins in which all windows have room."""
    return [
        (p, max(s * (m - 1) + k - n - p, 0)) for n, k, s, p, m in zip(size, kernel, stride, padding, out, strict=True)
    ]


def windowed_mean(x: Any, divisor: Any, kernel: Ints, stride: Ints, padding: Ints) -> Any:
    """Sums over windows, one for each element of ``divisor``, which they are divided by."""
    lead = x.ndim - len(kernel)
    margins = _room(x.shape[lead:], kernel, stride, padding, divisor.shape)
    wide: Any = np.pad(x, [*[(0, 0)] * lead, *margins])
    made = np.zeros((*x.shape[:lead], *divisor.shape), x.dtype)
    for _, where in _steps(kernel, stride, (1,) * len(kernel), divisor.shape):
        made += wide[(..., *where)]
    return made / divisor


def unwindowed_mean(g: Any, divisor: Any, size: Ints, kernel: Ints, stride: Ints, padding: Ints) -> Any:
    """The transpose of ``windowed_mean``."""
    margins = _room(size, kernel, stride, padding, divisor.shape)
    wide = (n + low + high for n, (low, high) in zip(size, margins, strict=True))
    made: Any = np.zeros((*g.shape[: g.ndim - len(size)], *wide), g.dtype)
    g = g / divisor
    for _, where in _steps(kernel, stride, (1,) * len(kernel), divisor.shape):
        made[(..., *where)] += g
    inside = tuple(slice(low, low + n) for n, (low, _) in zip(size, margins, strict=True))
    return made[(..., *inside)]


def pad_constant(x: Any, widths: Any, value: float = 0.0) -> Any:
    """A margin of numbers around each dimension, cut off where its width is negative."""
    kept = x[tuple(slice(max(-low, 0), n - max(-high, 0)) for n, (low, high) in zip(x.shape, widths, strict=True))]
    grown = [(max(low, 0), max(high, 0)) for low, high in widths]
    return np.pad(kept, grown, constant_values=value)


# --- normalization ---------------------------------------------------------------------------------------------------
def moments(x: Any, view: Ints, axes: Ints, eps: float) -> tuple[Any, Any]:
    """The mean over axes of ``x`` in another shape, and the reciprocal of the standard deviation."""
    wide = x.reshape(view)
    return np.mean(wide, axis=axes, keepdims=True), 1.0 / np.sqrt(np.var(wide, axis=axes, keepdims=True) + eps)


def normalize(x: Any, weight: Any, bias: Any, view: Ints, axes: Ints, shape: Ints, eps: float) -> Any:
    """``x`` with mean 0 and variance 1 over axes of ``view``, times a weight, plus a bias, both seen as ``shape``."""
    mean, scale = moments(x, view, axes, eps)
    made = ((x.reshape(view) - mean) * scale).reshape(x.shape)
    if weight is not None:
        made = made * weight.reshape(shape)
    return made if bias is None else made + bias.reshape(shape)


def rescale(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, shape: Ints, eps: float) -> Any:
    """``normalize`` with a mean and a variance that are given."""
    made = (x - mean.reshape(shape)) * (1.0 / np.sqrt(variance + eps)).reshape(shape)
    if weight is not None:
        made = made * weight.reshape(shape)
    return made if bias is None else made + bias.reshape(shape)
