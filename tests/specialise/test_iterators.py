"""Iterators that are kept: right in both directions, or refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp
from tests.specialise.test_attempts import check, fail, is_refused


# --- one after the other ---------------------------------------------------------------------------------------------
def items_that_are_asked_for(x):
    it = iter(x)
    s = next(it) * 2.0
    return s * next(it) + next(it)


def item_or_default(x):
    it = iter(x)
    s = 1.0
    for _ in range(5):
        s = s * next(it, x[0] * 3.0)
    return s


def loop_over_the_rest(x):
    it = iter(x)
    s = next(it)
    for v in it:
        s = np.sin(s + v * v)
    return s


def loop_that_is_left_and_taken_up_again(x):
    it = iter(x)
    s = x[2]
    for v in it:
        s = s * v
        if v < 0.0:
            break
    else:
        s = s * 100.0
    for v in it:
        s = s + v * v
    return s


def sum_of_the_rest(x):
    it = iter(x)
    s = next(it)
    return s * sum(it) + sum(it)


def what_is_stored_meanwhile_is_seen(x):
    y = x * 1.0
    it = iter(y)
    s = next(it)
    y[1] = s * s
    y[0] = 5.0
    return s * next(it) + np.sum(y)


def pairs_of_one_iterator(x):
    y = [x[0], x[1], x[2], x[0] * x[1], x[2] * x[2]]
    it = iter(y)
    s = 0.0
    for v, w in zip(it, it):
        s = s + v * w
    return s + next(it, 7.0)


def list_that_grows(x):
    y = [x[0], x[1]]
    it = iter(y)
    s = next(it)
    for v in it:
        s = s * v
        if len(y) < 4:
            y.append(v * x[2])
    y.append(x[0])
    return s + next(it, x[1])


def rows(x):
    y = np.outer(x, x)
    it = iter(y)
    r = next(it)
    for w in it:
        r = r * w
    return np.sum(r)


def iterator_of_each_round(x):
    s = 1.0
    for k in range(3):
        it = iter(x)
        for _ in range(k):
            next(it)
        for v in it:
            s = s + np.sin(v * s)
    return s


def numbered(x):
    it = enumerate(x, 1)
    i, v = next(it)
    s = v * i
    for i, v in it:
        s = s + i * v * v
    return s


def zip_that_is_kept(x):
    it = zip(x, x[::-1])
    v, w = next(it)
    s = v * w
    for v, w in it:
        s = s + np.sin(v) * w
    return s


def backwards(x):
    it = reversed(x)
    s = next(it)
    for v in it:
        s = s * np.sin(v)
    return s


def end_that_is_caught(x):
    it = iter(x)
    s = x[0]
    try:
        while True:
            s = s * next(it)
            s = s + 1.0
    except StopIteration:
        s = s * x[1]
    return s


def iterator_that_is_made_where_exceptions_are_caught(x):
    s = 0.0
    try:
        it = iter(x)
        s = next(it)
        s = s * next(it)
        s = s * next(it)
        s = s * next(it)
    except StopIteration:
        s = s + x[1]
    return s


def list_of_the_rest(x):
    it = iter((x[0], x[1] * x[2], x[2]))
    first = next(it)
    others = list(it)
    return first * others[0] + others[1] * len(others)


def numbers(x):
    it = iter(range(3))
    s = 0.0
    for v in x:
        s = s + v ** (next(it) + 1)
    return s


def another_name(x):
    it = iter(x)
    same = it
    s = next(it)
    return s * next(same) + next(it)


def take(it, k):
    s = 0.0
    for _ in range(k):
        s = s + next(it)
    return s


def iterator_that_is_given_to_a_function(x):
    it = iter(x)
    s = take(it, 1)
    return s * take(it, 2)


def sum_of_the_other_rows(x):
    rows = iter(np.outer(x, x))
    first = next(rows)
    return np.sum(first * sum(rows))


@pytest.mark.parametrize("function", [
    items_that_are_asked_for, item_or_default, loop_over_the_rest, loop_that_is_left_and_taken_up_again,
    sum_of_the_rest, what_is_stored_meanwhile_is_seen, pairs_of_one_iterator, list_that_grows, rows,
    sum_of_the_other_rows,
    iterator_of_each_round, numbered, zip_that_is_kept, backwards, end_that_is_caught,
    iterator_that_is_made_where_exceptions_are_caught, list_of_the_rest, numbers, another_name,
    iterator_that_is_given_to_a_function,
])  # fmt: skip
@pytest.mark.costly(2)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


# --- generators ------------------------------------------------------------------------------------------------------
def doubled(x):
    for v in x:
        yield v * 2.0


def decaying(x, k=0.9):
    for v in x:
        yield v * k
        k = k * 0.9


def positive(x):
    for v in x:
        w = v * v + v
        if w > 0.0:
            yield w


def up_to(x, most):
    s = 0.0
    for v in x:
        if v > most:
            return
        s = s + v * v
        yield s


def halved(v):
    while True:
        yield v
        v = v * 0.5


def powers_of_sums(x):
    for v in x:
        s = 1.0
        for w in x:
            if w > 1.0:
                break
            s = s + w * v
        yield s * s


def loop_over_a_generator(x):
    s = 1.0
    for v in doubled(x):
        s = np.sin(s * v) + v
    return s


def generator_that_goes_on_with_numbers(x):
    s = 0.0
    for v in decaying(x, x[0]):
        s = s + v * v
    return s


def generator_that_leaves_items_out(x):
    s = 1.0
    for i, v in enumerate(positive(x)):
        s = s * v + i
    return s


def generator_that_ends_early(x):
    s = 1.0
    for v in up_to(x, 1.0):
        s = s * v
    return s + sum(up_to(x, 5.0))


def generator_without_end(x):
    s = 0.0
    for v in halved(x[0]):
        if v < 0.1:
            break
        s = s + v * v
    return s


def loops_inside_of_a_generator(x):
    it = powers_of_sums(x)
    s = next(it)
    for v in it:
        s = s * v
    return s


def what_is_stored_between_items(x):
    y = x * 1.0
    s = 0.0
    for v in doubled(y):
        y[2] = s + v
        s = s + v * v
    return s + np.sum(y)


def stores_items(y):
    for i in range(len(y)):
        y[i] = y[i] * y[0]
        yield y[i]


def generator_that_stores(x):
    y = x * 1.0
    s = 0.0
    for v in stores_items(y):
        y[0] = y[0] + v
        s = s * y[1] + v
        if v < 0.0:
            break
    return s + np.sum(y * y)


def generator_that_is_kept(x):
    g = decaying(x)
    s = next(g)
    return s * next(g) + next(g, 1.0) + next(g, 2.0) + next(g, 3.0)


def generator_of_a_function_inside(x):
    def scaled(k):
        for v in x:
            yield v * k

    s = 0.0
    for v in scaled(x[0]):
        s = s + v * v
    return s * sum(scaled(3.0))


def map_that_is_kept(x):
    it = map(lambda v: v * x[0], x)
    s = next(it)
    for v in it:
        s = s * np.sin(v)
    return s


def map_of_several(x):
    s = 1.0
    for v in map(lambda v, w: v * w + 1.0, x, x[::-1]):
        s = s * v
    return s


def map_that_goes_on_after_exceptions(x):
    it = map(fail, x)
    s = x[1]
    for _ in range(4):
        try:
            s = s * next(it, 3.0)
        except ValueError:
            s = s * 2.0
    return s


def filter_that_is_kept(x):
    it = filter(lambda v: v > 0.0, x)
    s = next(it)
    return s * next(it) + next(it, 4.0)


def map_of_a_filter(x):
    return sum(map(np.sin, filter(lambda v: v > 0.0, x)))


def slices(x):
    s = 0.0
    for v in itertools.islice(x, 1, 3):
        s = s + v * v
    it = iter(x)
    for v in itertools.islice(it, 2):
        s = s * v
    return s * next(it)


def taken_and_dropped(x):
    s = sum(itertools.takewhile(lambda v: v < 1.0, x))
    for v in itertools.dropwhile(lambda v: v > 0.5, x):
        s = s * v + v * v
    return s


def pairs_with_functions(x):
    s = 0.0
    for v in itertools.starmap(lambda v, w: v * np.sin(w), zip(x, x[::-1])):
        s = s + v
    return s


def counted_and_repeated(x):
    s = 0.0
    for v, k, w in zip(x, itertools.count(1), itertools.repeat(x[0])):
        s = s + v * k * w
    return s


def expression_that_is_kept(x):
    k = x[1]
    g = (v * v * k for v in x)
    s = next(g)
    k = 2.0
    for v in g:
        s = s * v
    return s


GENERATORS = [
    expression_that_is_kept,
    loop_over_a_generator, generator_that_goes_on_with_numbers, generator_that_leaves_items_out,
    generator_that_ends_early, generator_without_end, loops_inside_of_a_generator, what_is_stored_between_items,
    generator_that_stores, generator_that_is_kept, generator_of_a_function_inside, map_that_is_kept, map_of_several,
    map_that_goes_on_after_exceptions,
    filter_that_is_kept, map_of_a_filter, slices, taken_and_dropped, pairs_with_functions,
    counted_and_repeated,
]  # fmt: skip


@pytest.mark.parametrize("function", GENERATORS)
@pytest.mark.costly(2, first=1)
def test_derivatives_of_generators(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


# --- what is refused -------------------------------------------------------------------------------------------------
class Eating:
    """Adding one takes the last item out of the list that it stands in."""

    def __init__(self, v, others):
        self.v = v
        self.others = others

    def __radd__(self, total):
        self.others.pop()
        return total + self.v


def sum_that_shortens_its_list(x):
    items: list[Any] = []
    for v in x:
        items.append(Eating(v, items))
    it = iter(items)
    return next(it).v * sum(it)


def iterators_in_a_list(x):
    its = [iter(x), iter(x[::-1])]
    s = next(its[0]) * next(its[1])
    return s + next(its[0])


def one_of_two_iterators(x):
    it = iter(x) if x[0] > 0.5 else iter(x[::-1])
    return next(it) * next(it)


def iterator_of_the_round_before(x):
    before = iter(x)
    s = 1.0
    for _ in range(3):
        it = iter(x)
        next(it)
        s = s * next(before) + next(it)
        before = it
    return s


def iterator_of_the_round_before_in_a_try(x):
    s = 1.0
    try:
        it = iter(x)
        for _ in range(3):
            it, v = iter(x), next(it)
            s = s * v + next(it)
    except ValueError:
        s = 2.0
    return s


def iterator_that_an_inner_function_shares(x):
    it = iter(x)

    def following():
        nonlocal it
        v = next(it)
        it = iter(x)
        return v

    return following() * next(it) + following()


def iterator_over_what_changes_its_length(x):
    y = {"a": x[0], "b": x[1]}
    it = iter(y)
    s = y[next(it)]
    y["c"] = x[2]
    return s * y[next(it)]


def expression_of_the_round_before(x):
    before, s = None, 0.0
    for k in range(3):
        g = (v * v * (k + 1.0) for v in x)
        if before is not None:
            s = s + next(before)
        before = g
    return s


def expression_that_is_one_of_two(x):
    g = (v * v for v in x)
    if x[0] > 0.0:
        g = (v + 1.0 for v in x)
    return sum(g)


def reads_before_it_gives(x):
    s = x[0]
    for v in x:
        yield v * s


def generator_that_reads_when_it_is_asked(x):
    y = x * 1.0
    g = reads_before_it_gives(y)
    y[0] = 3.0 * x[1]
    return next(g) * next(g)


def goes_on_behind_an_item(y):
    for i in range(len(y)):
        yield y[i]
        y[0] = y[0] * 2.0


def generator_that_stores_behind_an_item(x):
    y = x * 1.0
    g = goes_on_behind_an_item(y)
    s = next(g) * y[0]
    return s * next(g) * y[0]


def fails(x):
    for v in x:
        yield fail(v)


def generator_that_an_exception_ends(x):
    g = fails(x)
    s = x[1]
    for _ in range(3):
        try:
            s = s * next(g, 3.0)
        except ValueError:
            s = s * 2.0
    return s


def asks(x):
    it = iter(x)
    while True:
        yield next(it) * next(it)


def generator_of_an_iterator_that_ends(x):
    s = x[0]
    try:
        for v in asks(x):
            s = s * v
    except StopIteration:
        s = 5.0
    except RuntimeError:
        s = s * x[1]
    return s


def two_generators(x):
    g = doubled(x) if x[0] > 0.5 else positive(x)
    return next(g) * next(g)


@pytest.mark.parametrize("function", [
    iterators_in_a_list, one_of_two_iterators, iterator_of_the_round_before, iterator_of_the_round_before_in_a_try,
    iterator_that_an_inner_function_shares, iterator_over_what_changes_its_length, expression_of_the_round_before,
    expression_that_is_one_of_two, generator_that_stores_behind_an_item, generator_that_an_exception_ends,
    generator_of_an_iterator_that_ends, two_generators, sum_that_shortens_its_list,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)


# --- what has no value on some ways ----------------------------------------------------------------------------------
def nothing_is_gone_over(x):
    items = None
    if x[0] > -100.0:
        items = [x[0], x[1] * 2.0]
    s = x[2]
    for v in items:
        s = s + v * v * x[2]
    for v in reversed(items):
        s = s * v
    rest = range(2) if x[0] > 100.0 else None
    try:
        for k in rest:
            s = s * k
    except TypeError:
        s = s * x[0]
    return s


def continued(x):
    s, rounds, roads = x[0], 0, {1: [0, 1], 3: [2]}
    while rounds < 3:
        rounds += 1
        if rounds == 2:
            continue
        for k in roads[rounds]:
            s = s * x[k] + x[k] ** 2
    return s


def test_what_may_be_none_raises_where_it_is_gone_over(monkeypatch: pytest.MonkeyPatch) -> None:
    check(nothing_is_gone_over, monkeypatch)


def test_ranges_of_rounds_that_end_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A derivative of second order went over what may be None: refused."""
    check(continued, monkeypatch)
    x, step = np.array([0.7, 1.1, 0.4]), np.array([0.3, -1.0, 0.4])
    slope = [grad(continued)(x + sign * 1e-5 * step) for sign in (1, -1)]
    np.testing.assert_allclose(hvp(continued)(x, step), (slope[0] - slope[1]) / 2e-5, rtol=1e-6)
