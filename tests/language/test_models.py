"""Models do what the functions do that they stand for: items, order, laziness, exceptions, what is changed."""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
import itertools
import math
import operator
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srcgrad.language.models import KINDS, MODELS

NUMBERS = st.lists(st.integers(-3, 3), max_size=6)
PLACES = st.none() | st.integers(0, 7)


def took(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """What a call gives, the first thirty items of an iterator, what it asked for on the way, and what it changed."""
    asked: list[Any] = []

    def noted(value: Any) -> Any:
        if callable(value) and not isinstance(value, type):
            return lambda *given: (asked.append(given), value(*given))[1]
        return value

    def watched(items: list[Any]) -> Iterator[Any]:
        for item in items:
            asked.append(item)
            yield item

    held = copy.deepcopy(arguments)
    given = tuple(watched(a) if isinstance(a, list) and function in LAZY else noted(a) for a in held)
    named = {name: noted(value) for name, value in keywords.items()}
    try:
        result = MODELS[function](*given, **named) if MODEL[0] else function(*given, **named)
        if isinstance(result, Iterator):
            result = [(item, list(asked)) for item in itertools.islice(result, 30)]
    except (TypeError, ValueError, LookupError) as error:
        result = type(error)
    return result, asked, held if function not in LAZY else None


MODEL = [False]
LAZY = {f for f in MODELS if getattr(f, "__module__", "") == "itertools" or f in (map, filter, functools.reduce)} | {
    itertools.chain.from_iterable, heapq.merge,
}  # fmt: skip


def same(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    found = []
    for MODEL[0] in (True, False):
        found.append(took(function, arguments, keywords))
    MODEL[0] = False
    assert found[0] == found[1]


def is_odd(value: int) -> bool:
    return value % 2 == 1


@given(NUMBERS, NUMBERS, st.integers(-1, 4))
def test_itertools(items: list[int], others: list[int], n: int) -> None:
    same(itertools.accumulate, items)
    same(itertools.accumulate, items, operator.mul)
    same(itertools.accumulate, items, initial=n)
    same(itertools.chain, items, others)
    same(itertools.compress, items, others)
    same(itertools.count, n, 2)
    same(itertools.cycle, items)
    for function in (itertools.dropwhile, itertools.takewhile, itertools.filterfalse, filter):
        same(function, is_odd, items)
    same(filter, None, items)
    same(itertools.filterfalse, None, items)
    same(map, operator.neg, items)
    same(map, operator.add, items, others)
    same(itertools.pairwise, items)
    same(itertools.repeat, n, len(others))
    same(itertools.zip_longest, items, others, fillvalue=n)
    same(functools.reduce, operator.sub, items)
    same(functools.reduce, operator.sub, items, n)
    for function in (itertools.permutations, itertools.combinations, itertools.combinations_with_replacement):
        same(function, items[:4], n)
    same(itertools.permutations, items[:3])
    same(itertools.product, items[:3], others[:3])
    same(itertools.product, items[:2], repeat=max(n, 0))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), max_size=4))
def test_items_of_items(rows: list[list[int]]) -> None:
    same(itertools.starmap, operator.add, rows)
    same(itertools.chain.from_iterable, rows)


@given(NUMBERS, PLACES, PLACES, st.none() | st.integers(-1, 3))
def test_islice(items: list[int], start: int | None, stop: int | None, step: int | None) -> None:
    same(itertools.islice, items, stop)
    same(itertools.islice, items, start, stop, step)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers()), max_size=9), st.tuples(st.integers(0, 2), st.integers()))
def test_heaps(items: list[Any], item: Any) -> None:
    same(heapq.heapify, items)
    heap = copy.copy(items)
    heapq.heapify(heap)
    for function in (heapq.heappush, heapq.heapreplace, heapq.heappushpop):
        same(function, heap, item)
    same(heapq.heappop, heap)


@given(NUMBERS, st.integers(-4, 4), st.integers(-1, 3), PLACES)
def test_bisect(items: list[int], x: int, lo: int, hi: int | None) -> None:
    for function in (bisect.bisect_left, bisect.bisect_right, bisect.insort_left, bisect.insort_right):
        same(function, sorted(items), x)
        same(function, sorted(items), x, lo)
        same(function, sorted(items, reverse=True), x, key=operator.neg)
        if hi is None or hi <= len(items):
            same(function, sorted(items), x, max(lo, 0), hi)


@given(NUMBERS, NUMBERS, st.integers(-1, 7), st.booleans())
def test_first_of_a_sorted_list(items: list[int], others: list[int], n: int, is_falling: bool) -> None:
    for function in (heapq.nlargest, heapq.nsmallest):
        same(function, n, items)
        same(function, n, items, key=abs)
    rows = [sorted(given, key=abs, reverse=is_falling) for given in (items, others, [n])]
    same(heapq.merge, *rows, key=abs, reverse=is_falling)
    same(heapq.merge, sorted(items), sorted(others))
    same(heapq.merge, items, others)


@given(NUMBERS, st.integers(0, 4), st.data())
def test_iterators_of_one_source(items: list[int], n: int, data: st.DataObject) -> None:
    """Groups and copies are asked in any order; what they read is read once."""
    places = data.draw(st.lists(st.integers(0, 5), max_size=12))
    if hasattr(itertools, "batched"):
        same(itertools.batched, items, n)
    found = []
    for split, function in ((itertools.groupby, abs), (MODELS[itertools.groupby], abs)):
        read: list[Any] = []
        made = split((read.append(v) or v for v in items), function)
        groups, given = list[Any](), list[Any]()
        for place in places:
            if place > len(groups) or not groups:
                key, group = next(made, (None, iter(())))
                groups.append(group)
                given.append(key)
            else:
                given.append(next(groups[place % len(groups)], "end"))
            given.append(len(read))
        found.append((given, read))
    assert found[0] == found[1]
    copies = []
    for split in (itertools.tee, MODELS[itertools.tee]):
        read = []
        made = split((read.append(v) or v for v in items), n)
        copies.append([(next(made[place % n], "end"), len(read)) for place in places if n])
    assert copies[0] == copies[1]


@given(NUMBERS, NUMBERS, st.booleans())
def test_folds(items: list[int], others: list[int], reverse: bool) -> None:
    for function in (sum, math.prod, any, all, min, max, sorted):
        same(function, items)
    for function in (min, max):
        same(function, items, key=abs)
        same(function, items, default=others)
        same(function, 1, 2, *others, key=operator.neg)
        same(function, 1, 2, default=3)
    same(sum, items, 0.5)
    same(sum, ["a"], "")
    same(sorted, items, key=abs, reverse=reverse)


@given(NUMBERS, NUMBERS, st.integers(-3, 3))
def test_containers(items: list[int], others: list[int], n: int) -> None:
    same(list.extend, items, others)
    same(list.sort, items, key=abs, reverse=n > 0)
    for function in (deque.extend, deque.extendleft):
        same(function, deque(items, max(n, 0) or None), others)
    held = dict.fromkeys(items, "held")
    for function in (dict.get, dict.setdefault, dict.pop):
        same(function, held, n)
        same(function, held, n, "default")


@given(NUMBERS)
def test_what_is_extended_by_itself(items: list[int]) -> None:
    for kind in (list, deque):
        one, other = kind(items), kind(items)
        MODELS[kind.extend](one, one)
        other.extend(other)
        assert one == other
    one, other = [*items], [*items]
    MODELS[list.extend](one, (len(one) for _ in items))
    other.extend(len(other) for _ in items)
    assert one == other


@pytest.mark.parametrize("name", list(KINDS))
def test_a_generator_stands_for_what_its_model_does(name: str) -> None:
    makers = {**MODELS, itertools._tee: None, itertools._grouper: None}  # type: ignore[attr-defined]
    assert KINDS[name] in makers or any(getattr(found, "__self__", None) is KINDS[name] for found in MODELS)
