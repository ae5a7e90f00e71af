"""Iterators over dicts that are kept: right in both directions, or refused where the dict changes."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.specialise.test_attempts import check, check_data, is_refused


# --- iterators over dicts ---------------------------------------------------------------------------------------------
def an_iterator_over_entries(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    it = iter(d.items())
    k, v = next(it)
    d['b'] = v * 3.0
    t = v * v
    for k, w in it:
        t = t * 0.5 + w * w
    return t


def the_rest_as_a_list(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    it = iter(d.values())
    a = next(it)
    rest = list(it)
    d['b'] = 5.0
    return a * rest[0] * len(rest)


def chained_dicts(x):
    d = {'a': x[0], 'b': x[1]}
    e = {'c': x[2]}
    t = 0.0
    for k in itertools.chain(d, e):
        t = t * 0.5 + (d | e)[k]
    for v in itertools.chain(d.values(), e.values()):
        t = t * 0.5 + v * v
    return t


def an_iterator_that_is_counted(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    it = iter(d)
    next(it)
    t = 0.0
    for i, k in enumerate(it):
        t = t + i * d[k]
    return t + next(it, 2.0)


def an_iterator_over_nothing(x):
    d = {}
    it = iter(d)
    return x[0] * next(it, 3.0) * len(list(it)) + x[0]


def keys_exchanged_before_they_are_met(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    it = iter(d)
    next(it)
    del d['a']
    d['z'] = x[0]
    return d[next(it)]


def an_iterator_in_a_zip(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    it = iter(d.values())
    t = 0.0
    for v, w in zip(it, x):
        t = t + v * w
    t = t + sum(it)
    return t * sum(map(lambda v: v * v, d.values()))


def keys_that_are_numbers(x):
    d = {2.0: x[0], 3.0: x[1]}
    it = iter(d)
    return next(it) * d[next(it)]


def rows_that_grow(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v)
    it = iter(d.items())
    k, row = next(it)
    row.append(5.0 * x[0])
    t = sum(row)
    for k, row in it:
        t = t * sum(row)
    return t


def an_iterator_at_its_end(x):
    d = {'a': x[0]}
    try:
        it = iter(d)
        next(it)
        next(it)
        t = 0.0
    except StopIteration:
        t = x[0] * x[1]
    return t


def an_iterator_over_a_view(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}
    v = d.values()
    it = iter(v)
    d['a'] = x[2] * x[2]
    return next(it) * next(it)


def the_largest_by_a_key(x):
    d = {i: v * v for i, v in enumerate(x)}
    best = max(d, key=lambda k: abs(d[k]))
    return d[best]


def first_items_of_views(x):
    d = {'a': x[0], 'b': x[1]}
    return next(iter(d.values())) * next(iter(d.items()))[1]


SERVED = [
    an_iterator_over_entries, the_rest_as_a_list, chained_dicts, an_iterator_that_is_counted,
    an_iterator_over_nothing, keys_exchanged_before_they_are_met, an_iterator_in_a_zip, keys_that_are_numbers,
    rows_that_grow, an_iterator_at_its_end, an_iterator_over_a_view, the_largest_by_a_key, first_items_of_views,
]


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=1)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)


# --- what is refused -------------------------------------------------------------------------------------------------
def a_key_function_that_puts_in(x):
    d = {'a': x[0], 'b': x[1], 'c': x[2]}

    def key(k):
        d['n'] = 3.0
        return d[k]
    return d[max(d, key=key)]


def an_iterator_over_a_dict_that_grows(x):
    d = {'a': x[0], 'b': x[1]}
    it = iter(d)
    next(it)
    d['c'] = x[2]
    return d[next(it)]


@pytest.mark.parametrize("function", [
    a_key_function_that_puts_in, an_iterator_over_a_dict_that_grows,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
