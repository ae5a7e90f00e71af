"""Functions of the standard library as they would be written in the language: the compiler reads these in their place.

Enters: what the originals take.  Leaves: what they return, made and changed by what is differentiated already.  Where
nothing that a call is given varies, the original is called.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime.containers import dtype_of_first
from srcgrad.runtime.places import require_rows

#: By the original; some originals are made anew whenever they are read, so that they are found by equality.
WRITTEN: dict[object, Callable[..., Any]] = {}


def written(function: object) -> Callable[..., Any] | None:
    """The text that is read in the place of a function."""
    try:
        return WRITTEN.get(function)
    except TypeError:  # it has no hash
        return None


def _stands_for(*originals: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def record(function: Callable[..., Any]) -> Callable[..., Any]:
        WRITTEN.update(dict.fromkeys(originals, function))
        return function

    return record


# --- heaps -----------------------------------------------------------------------------------------------------------
# The same comparisons in the same order as in CPython's Lib/heapq.py, so that equals come out in the same order.
@_stands_for(heapq.heappush)
def heappush(heap: list[Any], item: Any) -> None:
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


@_stands_for(heapq.heappop)
def heappop(heap: list[Any]) -> Any:
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    _sift_up(heap, 0)
    return first


@_stands_for(heapq.heapreplace)
def heapreplace(heap: list[Any], item: Any) -> Any:
    first = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return first


@_stands_for(heapq.heappushpop)
def heappushpop(heap: list[Any], item: Any) -> Any:
    if len(heap) > 0 and heap[0] < item:
        first = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
        return first
    return item


@_stands_for(heapq.heapify)
def heapify(heap: list[Any]) -> None:
    for place in range(len(heap) // 2 - 1, -1, -1):
        _sift_up(heap, place)


def _sift_down(heap: list[Any], start: int, place: int) -> None:
    item = heap[place]
    while place > start and item < heap[(place - 1) >> 1]:
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = item


def _sift_up(heap: list[Any], place: int) -> None:
    start = place
    item = heap[place]
    child = 2 * place + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _sift_down(heap, start, place)


@_stands_for(heapq.nlargest)
def nlargest(n: int, iterable: Any, key: Any = None) -> list[Any]:
    if key is None:
        return sorted(iterable, reverse=True)[: max(n, 0)]
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


@_stands_for(heapq.nsmallest)
def nsmallest(n: int, iterable: Any, key: Any = None) -> list[Any]:
    if key is None:
        return sorted(iterable)[: max(n, 0)]
    return sorted(iterable, key=key)[: max(n, 0)]


# --- sorted lists ----------------------------------------------------------------------------------------------------
@_stands_for(bisect.insort_right)
def insort_right(a: list[Any], x: Any, lo: int = 0, hi: Any = None) -> None:
    a.insert(bisect.bisect_right(a, x, lo, hi), x)


@_stands_for(bisect.insort_left)
def insort_left(a: list[Any], x: Any, lo: int = 0, hi: Any = None) -> None:
    a.insert(bisect.bisect_left(a, x, lo, hi), x)


# --- dicts -----------------------------------------------------------------------------------------------------------
@_stands_for(dict.fromkeys)
def fromkeys(iterable: Any, value: Any = None) -> dict[Any, Any]:
    return {key: value for key in iterable}  # noqa: C420  this is what is read


# --- functions of elements and of rows -------------------------------------------------------------------------------
# NumPy asks a first call for the dtype, unless it is ``typed``, and then calls the function for all elements.
def vectorized(function: Any, x: Any, typed: bool = False) -> Any:
    """``np.vectorize(function)(x)``, which calls it with Python's numbers."""
    require_rows(x)
    array = np.asarray(x)
    values = np.ravel(array).tolist()
    kind = np.dtype(float) if typed else dtype_of_first([function(values[0])])
    return np.reshape(np.array([function(v) for v in values], dtype=kind), array.shape)


def vectorized_two(function: Any, x: Any, y: Any, typed: bool = False) -> Any:
    require_rows(x, y)
    first, second = np.broadcast_arrays(x, y)
    rows = np.ravel(first).tolist(), np.ravel(second).tolist()
    kind = np.dtype(float) if typed else dtype_of_first([function(rows[0][0], rows[1][0])])
    made = [function(v, w) for v, w in zip(rows[0], rows[1], strict=True)]
    return np.reshape(np.array(made, dtype=kind), first.shape)


def vectorized_three(function: Any, x: Any, y: Any, z: Any, typed: bool = False) -> Any:
    require_rows(x, y, z)
    first, second, third = np.broadcast_arrays(x, y, z)
    rows = np.ravel(first).tolist(), np.ravel(second).tolist(), np.ravel(third).tolist()
    kind = np.dtype(float) if typed else dtype_of_first([function(rows[0][0], rows[1][0], rows[2][0])])
    made = [function(u, v, w) for u, v, w in zip(rows[0], rows[1], rows[2], strict=True)]
    return np.reshape(np.array(made, dtype=kind), first.shape)


@_stands_for(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any) -> Any:
    array = np.asarray(arr)
    lines = np.moveaxis(array, axis, -1)
    made = [np.asarray(func1d(lines[place], *args)) for place in np.ndindex(lines.shape[:-1])]
    count, at = np.ndim(made[0]), axis % np.ndim(array)
    whole = np.reshape(np.stack(made).astype(dtype_of_first(made)), lines.shape[:-1] + np.shape(made[0]))
    return np.moveaxis(whole, tuple(range(-count, 0)), tuple(range(at, at + count)))


#: By the number of arrays.
VECTORIZED: tuple[Any, ...] = (vectorized, vectorized_two, vectorized_three)
