# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"
"""Models of iterators that share a source or read ahead: ``groupby``, ``tee``, ``batched`` and ``heapq.merge``.

>>> [(key, list(group)) for key, group in groupby([1, 3, 2], lambda n: n % 2)]
[(1, [1, 3]), (0, [2])]
>>> one, other = tee("ab")
>>> next(one), list(other), list(one), list(merge([1, 4], [2, 3]))
('a', ['a', 'b'], ['b'], [1, 2, 3, 4])
"""

from __future__ import annotations

import heapq
import itertools
import operator

from srcgrad.language.models.ordered import down
from srcgrad.language.models.table import Absent, models, stands_for

_tee = type(itertools.tee(())[0])
_grouper = type(next(itertools.groupby("a"))[1])


# --- groupby ---------------------------------------------------------------------------------------------------------
@models(itertools.groupby)
def groupby(iterable, key=None):
    return grouped(iter(iterable), key)


@stands_for(itertools.groupby)
def grouped(items, function):
    ahead = []  # an item that was read and that no group has given yet, after its key
    turn = [0]  # of the group that may give items
    wanted = Absent
    while True:
        turn[0] = turn[0] + 1
        while not ahead or wanted is not Absent and _is_same(wanted, ahead[0]):
            item = next(items, Absent)
            if item is Absent:
                return
            ahead.clear()
            ahead.extend([item if function is None else function(item), item])
        wanted = ahead[0]
        yield wanted, group(items, function, wanted, ahead, turn, turn[0])


@stands_for(_grouper)
def group(items, function, wanted, ahead, turn, own):
    while turn[0] == own:
        if not ahead:
            item = next(items, Absent)
            if item is Absent:
                return
            ahead.extend([item if function is None else function(item), item])
        if not _is_same(wanted, ahead[0]):
            return
        item = ahead[1]
        ahead.clear()
        yield item


def _is_same(one, other):
    return one is other or bool(one == other)


# --- tee, batched ----------------------------------------------------------------------------------------------------
@models(itertools.tee)
def tee(iterable, n=2, /):
    if operator.index(n) < 0:
        raise ValueError("n must be non-negative")
    source, read = iter(iterable), []
    return tuple([teed(source, read) for _ in range(n)])


@stands_for(_tee)
def teed(source, read):
    at = 0
    while True:
        if at == len(read):
            item = next(source, Absent)
            if item is Absent:
                return
            read.append(item)
        yield read[at]
        at = at + 1


if hasattr(itertools, "batched"):  # from Python 3.12 on

    @models(itertools.batched)
    def batched(iterable, n, *, strict=False):
        if operator.index(n) < 1:
            raise ValueError("n must be at least one")
        return batches(iter(iterable), n, strict)

    @stands_for(itertools.batched)
    def batches(items, n, strict):
        row = []
        for item in items:
            row.append(item)
            if len(row) == n:
                yield tuple(row)
                row = []
        if row:
            if strict:
                raise ValueError("the last batch is incomplete")
            yield tuple(row)


# --- heapq.merge -----------------------------------------------------------------------------------------------------
@models(heapq.merge)
def merge(*iterables, key=None, reverse=False):
    heap = []
    for place, iterable in enumerate(iterables):
        items = iter(iterable)
        item = next(items, Absent)
        if item is not Absent:
            heap.append([item if key is None else key(item), -place if reverse else place, item, items])
    for place in reversed(range(len(heap) // 2)):
        down(heap, place, reverse)
    while len(heap) > 1:
        first = heap[0]
        yield first[2]
        item = next(first[3], Absent)
        if item is Absent:
            heap[0] = heap[len(heap) - 1]
            heap.pop()
        else:
            heap[0] = [item if key is None else key(item), first[1], item, first[3]]
        down(heap, 0, reverse)
    for row in heap:  # the last source, of which no key is asked for
        yield row[2]
        yield from row[3]
