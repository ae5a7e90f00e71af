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
    up(heap, 0, len(heap) - 1, False)


@models(heapq.heappop)
def heappop(heap, /):
    last = heap.pop()
    if not heap:
        return last
    least, heap[0] = heap[0], last
    down(heap, 0, False)
    return least


@models(heapq.heapreplace)
def heapreplace(heap, item, /):
    least = heap[0]
    heap[0] = item
    down(heap, 0, False)
    return least


@models(heapq.heappushpop)
def heappushpop(heap, item, /):
    if heap and heap[0] < item:
        return heapreplace(heap, item)
    return item


@models(heapq.heapify)
def heapify(heap, /):
    for place in reversed(range(len(heap) // 2)):
        down(heap, place, False)


def up(heap, top, place, is_falling):
    """Move an item towards the top while it is less than what stands above it; more, if the heap is falling."""
    item = heap[place]
    while place > top:
        above = (place - 1) // 2
        if not (heap[above] < item if is_falling else item < heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def down(heap, top, is_falling):
    """Move an item to the bottom, along the children that come first, and from there up again."""
    item, place = heap[top], top
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap):
            one, other = (child + 1, child) if is_falling else (child, child + 1)
            if not heap[one] < heap[other]:
                child = child + 1
        heap[place] = heap[child]
        place = child
    heap[place] = item
    up(heap, top, place, is_falling)


@models(heapq.nlargest)
def nlargest(n, iterable, key=None):
    return _first(n, iterable, key, True)


@models(heapq.nsmallest)
def nsmallest(n, iterable, key=None):
    return _first(n, iterable, key, False)


def _first(n, iterable, key, is_falling):
    """The first items of a sorted list; those that are equal in the order in which they came."""
    items = iter(iterable)
    if n < 1:
        return []
    rows = [
        (item if key is None else key(item), -place if is_falling else place, item) for place, item in enumerate(items)
    ]
    return [row[2] for row in sorted(rows, reverse=is_falling)[:n]]


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
