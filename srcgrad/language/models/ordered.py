# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of ``heapq`` and ``bisect``: the comparisons are those of the originals, and so is the layout of a heap.

>>> heap = [3, 1, 2]
>>> heapify(heap)
>>> heap, heappop(heap), bisect_left([1, 3, 3], 3)
([2, 3], 1, 1)
"""

from __future__ import annotations

import bisect
import heapq

from srcgrad.language.models.table import models


# --- heapq -----------------------------------------------------------------------------------------------------------
@models(heapq.heappush)
def heappush(heap, item, /):
    heap.append(item)
    _up(heap, 0, len(heap) - 1)


@models(heapq.heappop)
def heappop(heap, /):
    last = heap.pop()
    if not heap:
        return last
    least, heap[0] = heap[0], last
    _down(heap, 0)
    return least


@models(heapq.heapreplace)
def heapreplace(heap, item, /):
    least = heap[0]
    heap[0] = item
    _down(heap, 0)
    return least


@models(heapq.heappushpop)
def heappushpop(heap, item, /):
    if heap and heap[0] < item:
        return heapreplace(heap, item)
    return item


@models(heapq.heapify)
def heapify(heap, /):
    for place in reversed(range(len(heap) // 2)):
        _down(heap, place)


def _up(heap, top, place):
    """Move an item towards the top while it is less than what stands above it."""
    item = heap[place]
    while place > top:
        above = (place - 1) // 2
        if not item < heap[above]:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def _down(heap, top):
    """Move an item to the bottom, along the lesser children, and from there up again."""
    item, place = heap[top], top
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[place] = heap[child]
        place = child
    heap[place] = item
    _up(heap, top, place)


# --- bisect ----------------------------------------------------------------------------------------------------------
@models(bisect.bisect_left)
def bisect_left(a, x, lo=0, hi=None, *, key=None):
    first, last = _range(a, lo, hi)
    while first < last:
        middle = (first + last) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            first = middle + 1
        else:
            last = middle
    return first


@models(bisect.bisect_right)
def bisect_right(a, x, lo=0, hi=None, *, key=None):
    first, last = _range(a, lo, hi)
    while first < last:
        middle = (first + last) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            last = middle
        else:
            first = middle + 1
    return first


@models(bisect.insort_left)
def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


@models(bisect.insort_right)
def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def _range(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return lo, len(a) if hi is None else hi
