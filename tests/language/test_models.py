"""Models do what the functions do that they stand for: items, order, laziness, exceptions, what is changed."""

from __future__ import annotations

import bisect
import contextlib
import copy
import functools
import heapq
import itertools
import math
import operator
import statistics
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srcgrad.language.models import CLASSES, KINDS, MODELS, iterators
from srcgrad.language.models.object_sets import ObjectSet

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


class Indexed:
    """It notes what it is asked for, and counts more items than it may have."""

    def __init__(self, items: list[int], longer: int) -> None:
        self.items, self.longer = items, longer
        self.asked: list[object] = []

    def __len__(self) -> int:
        self.asked.append("length")
        return max(len(self.items) + self.longer, 0)

    def __getitem__(self, place: int) -> int:
        self.asked.append(place)
        return self.items[place]


@given(NUMBERS, st.integers(-1, 1), st.integers(-3, 3))
def test_objects_that_are_indexed(items: list[int], longer: int, sought: int) -> None:
    for function, model in (
        (lambda one: [v for v in iter(one)], lambda one: [v for v in iterators.indexed(one)]),
        (lambda one: [v for v in reversed(one)], lambda one: [v for v in iterators.turned(one)]),
        (lambda one: sought in one, lambda one: iterators.contained(one, sought)),
    ):
        one, other = Indexed(items, longer), Indexed(items, longer)
        assert function(one) == model(other)
        assert one.asked == other.asked


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


COUNTERS = st.dictionaries(st.integers(0, 3), st.integers(-2, 2)).map(Counter)


@given(COUNTERS, COUNTERS, NUMBERS, st.none() | st.integers(-1, 3))
def test_counters(one: Counter[int], other: Counter[int], items: list[int], n: int | None) -> None:
    for iterable in (items, other, None):
        same(Counter, iterable)
        same(Counter, iterable, a=2)
        same(Counter.update, one, iterable)
        same(Counter.update, Counter(), iterable, a=1)
        same(Counter.subtract, one, iterable, a=1)
    for method in (Counter.copy, Counter.elements, Counter.total, Counter.__pos__, Counter.__neg__):
        same(method, one)
    for name in ("add", "sub", "or", "and", "iadd", "isub", "ior", "iand"):
        same(getattr(Counter, f"__{name}__"), one, other)
    same(Counter.most_common, one, n)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers())), st.integers(0, 4), st.booleans())
def test_mappings(rows: list[tuple[int, int]], key: int, last: bool) -> None:
    for function in (defaultdict, OrderedDict):
        same(function, *([None] if function is defaultdict else []), rows, a=1)
        same(function, *([None] if function is defaultdict else []), dict(rows))
    same(defaultdict)
    same(defaultdict, 3)
    made = MODELS[defaultdict](list, rows)
    assert made[5] == [] and type(made) is defaultdict and made.default_factory is list
    same(defaultdict.__missing__, made, key)
    same(defaultdict.__missing__, defaultdict(None, rows), key)
    same(OrderedDict.move_to_end, OrderedDict(rows), key, last)
    for other in (dict(rows), rows, OrderedDict(rows), [1], Rows(rows)):
        same(dict.update, {0: "held", 9: "held"}, other, a=1)
    same(dict.fromkeys, [row[0] for row in rows])
    same(dict.fromkeys, [row[0] for row in rows], key)
    same(set.update, {9}, [row[0] for row in rows], "ab")


class Rows:
    """What ``dict.update`` takes for a mapping."""

    def __init__(self, rows: list[tuple[int, int]]) -> None:
        self.rows = dict(rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self.rows == other.rows

    def keys(self) -> list[int]:
        return list(self.rows)

    def __getitem__(self, key: int) -> int:
        return self.rows[key]


@given(st.lists(st.dictionaries(st.integers(0, 3), st.integers()), max_size=3), st.integers(0, 4))
def test_chains_of_mappings(maps: list[dict[int, int]], key: int) -> None:
    found = []
    for kind in (ChainMap, CLASSES[ChainMap]):
        held: Any = kind(*copy.deepcopy(maps), defaultdict(int) if key > 2 else {})
        given = [bool(held), len(held), list(held), key in held, held.get(key), attempt(lambda: held[key])]
        held[key] = 7
        given += [attempt(lambda: held.pop(key + 1)), held.parents.maps, held.new_child({key: 1}, a=2).maps]
        del held[key]
        given += [attempt(lambda: held.__delitem__(key)), held.maps]
        held.clear()
        found.append([*given, held.maps, held.new_child(b=1).maps])
    assert found[0] == found[1]


PLACES = st.lists(st.integers(0, 4), max_size=4)


@given(PLACES, PLACES, PLACES, st.integers(0, 4))
def test_sets_of_objects(first: list[int], second: list[int], third: list[int], place: int) -> None:
    """``ObjectSet`` does what ``set`` does, but for the order."""
    objects = [object() for _ in range(5)]
    one, two, three = ([objects[each] for each in places] for places in (first, second, third))
    found: list[list[Any]] = []
    for kind in (set, ObjectSet):
        held, other, item = kind(one), kind(two), objects[place]
        given: list[Any] = [held | other, held & other, held - other, held ^ other, held.copy(), copy.copy(held)]
        given += [held.union(two, three), held.intersection(two, three), held.difference(two, three)]
        given += [held.symmetric_difference(two), held < other, held <= other, held > other, held >= other]
        given += [held == other, held != other, held.isdisjoint(two), held.issubset(two), held.issuperset(two)]
        given += [len(held), bool(held), item in held, attempt(lambda: held | two), attempt(lambda: held < two)]
        given += [attempt(lambda: hash(held)), held == two, attempt(lambda: held.remove(item))]
        for change in ("add", "discard"):
            given.append(getattr(held, change)(item))
        for change in ("update", "intersection_update", "difference_update", "symmetric_difference_update"):
            changed = kind(one)
            given += [getattr(changed, change)(two), changed]
        changed = same_ = kind(one)
        changed |= other
        changed &= kind(three) | other
        changed -= kind(three)
        changed ^= held
        changed -= changed & kind(two)
        given += [changed is same_, changed.copy(), attempt(changed.pop) in (*one, *two, *three, KeyError)]
        given += [len(changed), changed.clear(), changed]
        found.append([{id(each) for each in part} if isinstance(part, kind) else part for part in given])
    assert found[0] == found[1]


def attempt(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        return type(error)


@given(NUMBERS, st.integers(-3, 3), st.integers(-7, 7), st.integers(-7, 7))
def test_where_items_are(items: list[int], value: int, start: int, stop: int) -> None:
    same(list.index, items, value)
    same(list.index, items, value, start, stop)
    same(list.count, items, value)
    same(list.remove, items, value)
    same(list.pop, items)
    same(list.pop, items, start)
    same(deque.pop, deque(items))
    same(deque.popleft, deque(items))


@given(st.lists(st.one_of(st.integers(0, 2), st.floats(0, 2).map(round).map(float), st.just("a"))), st.booleans())
def test_cached_functions(given: list[Any], is_typed: bool) -> None:
    for most in (None, 0, 2, 128):
        found = []
        for make in (functools.lru_cache, MODELS[functools.lru_cache]):
            called: list[Any] = []

            def noted(*given: Any, called: list[Any] = called, **named: Any) -> int:
                called.append((given, named))
                return len(called)

            cached = make(most, is_typed)(noted)
            results = [[cached(v), cached(v, 1), cached(v, k=v), len(called)] for v in given]
            cached.cache_clear()
            found.append((results, [cached(v) for v in given], attempt(lambda: cached([]))))
        assert repr(found[0]) == repr(found[1])
    one, other = (make(abs) for make in (functools.cache, MODELS[functools.cache]))
    assert one(-2) == other(-2) == MODELS[functools.lru_cache](abs)(-2) and other.__wrapped__ is abs


def test_wrappers() -> None:
    def gives(*given: Any) -> Any:
        """What it is given."""
        return given

    gives.kept = 1  # type: ignore[attr-defined]
    made = MODELS[functools.wraps](gives)(lambda *given: given)
    assert made(1) == (1,) and made.__wrapped__ is gives and made.__doc__ == gives.__doc__ and made.kept == 1


def test_objects_that_call() -> None:
    def gives(*given: Any, **named: Any) -> Any:
        return given, named

    for kinds in (lambda kind: kind, CLASSES.__getitem__):
        part = kinds(functools.partial)(functools.partial(gives, 1, a=2), 3, b=4)
        assert part(5, a=6) == ((1, 3, 5), {"a": 6, "b": 4})
        assert kinds(operator.itemgetter)(1)("abc") == "b" and kinds(operator.itemgetter)(1, 0)("abc") == ("b", "a")
        assert kinds(operator.attrgetter)("real")(2.5) == 2.5
        assert kinds(operator.attrgetter)("real.imag", "imag")(2.5) == (0.0, 0.0)
        assert kinds(operator.methodcaller)("split", sep="b", maxsplit=1)("abcb") == ["a", "cb"]
        assert attempt(lambda: kinds(operator.attrgetter)("real.nothing")(1)) is AttributeError


@given(st.integers(-3, 3), st.integers(-3, 3), NUMBERS)
def test_operators(a: int, b: int, items: list[int]) -> None:
    for function in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        same(function, a, b)
    same(operator.not_, items)
    same(operator.truth, items)
    same(operator.is_, items, a)
    same(operator.is_not, None, None)
    for function in (operator.contains, operator.countOf, operator.indexOf, operator.getitem, operator.delitem):
        same(function, items, b)
    same(operator.setitem, items, a, b)
    same(operator.call, abs, a)


@given(NUMBERS)
def test_statistics(items: list[int]) -> None:
    for name in ("median", "median_low", "median_high", "mode", "multimode"):
        same(getattr(statistics, name), items)


@given(st.lists(st.floats(0.1, 9.0), min_size=0, max_size=5), st.lists(st.floats(0.1, 2.0), max_size=5))
def test_means(items: list[float], weights: list[float]) -> None:
    for name, given_ in (
        ("geometric_mean", (items,)), ("geometric_mean", ([-1.0, *items],)), ("harmonic_mean", (items,)),
        ("harmonic_mean", (items, weights)), ("harmonic_mean", ([*items, -1.0],)),
    ):  # fmt: skip
        function, found = getattr(statistics, name), []
        for one in (function, MODELS[function]):
            try:
                found.append(one(*given_))
            except statistics.StatisticsError:
                found.append(None)
        assert found[0] == (None if found[1] is None else pytest.approx(found[1], rel=1e-14))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=4), st.integers(-2, 1), st.sampled_from([None, "d", [int], "f"]))
def test_functions_of_elements_and_rows(items: list[float], axis: int, otypes: Any) -> None:
    """The same numbers and dtypes, of the same calls in the same order: one more where the dtype is asked for."""
    table, row = np.outer(items, items), np.array(items)
    for f in (np.sort, np.sum, lambda v: np.outer(v, v), lambda v: v[:1] > 0.0):
        made = MODELS[np.apply_along_axis](f, axis, table)
        np.testing.assert_array_equal(made, np.apply_along_axis(f, axis, table), strict=True)
    functions: list[Callable[..., Any]] = [
        lambda v: v * 0.5, lambda v: 1 if v > 0.0 else v, lambda v, w: v * w, lambda u, v, w: u + v * w,
    ]  # fmt: skip
    for f in functions:
        calls: list[list[tuple[Any, ...]]] = []
        found = []
        for kind in (np.vectorize, CLASSES[np.vectorize]):
            calls.append([])

            def noted(*given: Any, f: Callable[..., Any] = f, seen: list[Any] = calls[-1]) -> Any:
                seen.append(given)
                return f(*given)

            operands = (row, 2.0, table[:, :1])[: f.__code__.co_argcount]
            found.append(kind(noted, otypes=otypes)(*operands))
        np.testing.assert_array_equal(found[0], found[1], strict=True)
        assert calls[0] == calls[1]


def same_array(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    found: list[Any] = []
    for one in (function, MODELS[function]):
        try:
            found.append(one(*arguments, **keywords))
        except (TypeError, ValueError, LookupError) as error:
            found.append(type(error).__name__)
    np.testing.assert_array_equal(found[0], found[1], strict=True)


@given(st.lists(st.floats(-3, 3), max_size=4), st.integers(0, 5), st.booleans())
def test_piecewise(items: list[float], count: int, is_number: bool) -> None:
    row = np.array(items)
    for x in (row, row[:, None] * [1.0, 2.0], np.arange(4), np.array(0.5), 1.5):
        conditions = [x < -1.0, x > 0.5, x > 1.0][: max(count - 1, 1)]
        functions = [np.square, 2.0, lambda v: v[::-1] * 1.5, -1, np.sin][:count]
        same_array(np.piecewise, x, conditions[0] if is_number else conditions, functions)
    same_array(np.piecewise, row, [row > 0.0], [lambda v, k, j: v * k + j, 1.0], 3.0, j=0.5)


@given(st.lists(st.integers(0, 3), max_size=3), st.sampled_from([float, int, "f"]))
def test_fromfunction(shape: list[int], dtype: Any) -> None:
    if shape:
        same_array(np.fromfunction, lambda *places, k=1: sum(places) * k, tuple(shape), dtype=dtype, k=2)


class Closed:
    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def close(self) -> None:
        self.log.append("closed")


def begun(log: list[Any], behaviour: int) -> Iterator[int]:
    """A generator that gives no item, gives one, catches what is thrown, raises another exception, or does not stop."""
    log.append("begun")
    if behaviour == 0:
        return
    try:
        yield behaviour
    except ValueError as error:
        log.append(str(error))
        if behaviour == 2:
            raise
        if behaviour == 3:
            raise KeyError("another") from None
        if behaviour == 4:
            yield 5
    if behaviour == 5:
        yield 6
    log.append("ended")


@pytest.mark.parametrize("behaviour", range(6))
@pytest.mark.parametrize("raised", [None, ValueError("here"), LookupError("there")])
def test_context_managers(behaviour: int, raised: Exception | None) -> None:
    found = []
    for take in (lambda kind: kind, lambda kind: CLASSES.get(kind) or MODELS[kind]):
        manage: Any = take(contextlib.contextmanager)(begun)
        log: list[Any] = []
        for manager in (
            manage(log, behaviour), take(contextlib.nullcontext)(1), take(contextlib.closing)(Closed(log)),
            take(contextlib.suppress)(ValueError, KeyError), take(contextlib.suppress)(),
        ):  # fmt: skip
            log.append(attempt(lambda: entered(manager, log, raised)))
        found.append([type(part) if isinstance(part, Closed) else part for part in log])
    assert found[0] == found[1]


def entered(manager: Any, log: list[Any], raised: Exception | None) -> str:
    with manager as given:
        log.append(given)
        if raised is not None:
            raise raised
        return "left"
    return "caught"


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
    makers = {**MODELS, iterators.INDEXING: None, reversed: None, itertools._tee: None, itertools._grouper: None}  # type: ignore[attr-defined]
    assert KINDS[name] in makers or any(getattr(found, "__self__", None) is KINDS[name] for found in MODELS)
