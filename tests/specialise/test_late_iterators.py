"""Iterators that are written where they are gone over, and strict zips."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.specialise.test_attempts import check, check_data, is_refused


# --- written later ----------------------------------------------------------------------------------------------------
def reversed_beside_a_slice(x):
    y = np.sin(x)
    for v, w in zip(reversed(y), y[::2]):
        y[1] = y[1] * v + w
    return np.sum(y * y)


def views_reversed(x):
    d = {'a': x[0], 'b': x[1]}
    t = 0.0
    for k, v in zip(reversed(d), x):
        t = t + d[k] * v
    for k, v in zip(reversed(d.values()), x):
        t = t * k * v
    return t


def reversed_while_it_is_stored_into(x):
    y = [x[0], x[1], x[2]]
    t = 0.0
    for v, w in zip(reversed(y), y[::2]):
        y[0] = v * w
        t = t * 0.4 + v * w
    return t


def a_dict_bound_again_behind_its_values(x):
    x = x[0] + x[1] * x[2]
    d = {'a': x, 'b': x * x}
    it = enumerate(d.values())
    d = {'a': x * 3.0}
    t = 0.0
    for i, v in it:
        t = t + (i + 1) * v * v
    return t + d['a']


def a_list_that_grows_before_it_is_counted(x):
    x = x[0] + x[1] * x[2]
    xs = [x, x * 2.0]
    z = enumerate(xs)
    xs[0] = x * 9.0
    xs.append(x)
    return sum((a * b for a, b in z)) + xs[0]


def lists_bound_again_in_a_loop(x):
    x = x[0] + x[1] * x[2]
    xs = [x, x * 2.0]
    t = 0.0
    for i in range(2):
        z = zip(xs, [x * i, x * x])
        xs = [x * 3.0, x * i]
        for a, b in z:
            t = t + a * b
    return t


def entries_beside_a_list(x):
    x = x[0] + x[1] * x[2]
    d = {'a': x, 'b': x * x}
    t = 0.0
    for (k, v), w in zip(d.items(), [x * 2.0, d['b'] * 3.0]):
        t = t + v * w
    return t


def a_dict_bound_again_by_a_function(x):
    x = x[0] + x[1] * x[2]

    def f():
        nonlocal d
        d = {'z': x}
        return [1.0, 2.0]
    d = {'a': x, 'b': x * x}
    t = 0.0
    for (k, v), w in zip(d.items(), f()):
        t = t + v * w
    return t * d['z']


def a_sum_that_begins_with_a_call(x):
    x = x[0] + x[1] * x[2]
    xs = [x, x * 2.0]

    def start():
        nonlocal xs
        xs = [x * 5.0]
        return x * 7.0
    return sum((v * v for v in xs), start())


def counted_entries_bound_again_by_a_call(x):
    x = x[0] + x[1] * x[2]
    d = {'a': x, 'b': x * x}

    def start():
        nonlocal d
        d = {'a': x * 9.0}
        return x * 7.0
    return sum((v * i for i, (_, v) in enumerate(d.items())), start()) * d['a']


def folded_behind_a_call(x):
    x = x[0] + x[1] * x[2]
    xs = [x, x * 3.0]

    def start():
        nonlocal xs
        xs = [x * 5.0]
        return x * 7.0
    return functools.reduce(lambda a, b: a * b, (v + 1.0 for v in xs), start())


def a_range_of_a_number_bound_again(x):
    n = 2
    z = zip(range(n), x)
    n = 3
    t = x[0] * n
    for i, v in z:
        t = t + i * v
    return t


def a_slice_by_a_number_bound_again(x):
    k = 1

    def f():
        nonlocal k
        k = 2
        return x[0]
    t = 0.0
    for a, b in zip(x[k:], [f(), x[1] * k]):
        t = t + a * b
    return t


def entries_by_a_key_bound_again(x):
    k = 1
    d = {1: {'a': x[0]}, 2: {'a': x[1]}}

    def f():
        nonlocal k
        k = 2
        return x[0]
    t = 0.0
    for (n, a), b in zip(d[k].items(), [f(), x[1] * k]):
        t = t + a * b
    return t


def a_list_that_a_call_changes(x):
    l = [1.0, 2.0, 3.0]

    def f():
        l.append(4.0)
        l[0] = 7.0
        return x[0]
    t = 0.0
    for a, b in zip(l, [f(), x[1], x[2], x[0]]):
        t = t + a * b
    return t


def counted_from_its_length(x):
    l = [x[0], x[1]]
    z = enumerate(l, len(l))
    l.append(x[2])
    t = 0.0
    for i, b in z:
        t = t + i * b
    return t


def counted_from_a_number_bound_again(x):
    l = [x[0], x[1]]
    n = 1
    z = enumerate(l, n)
    n = 10
    y = l
    l = [x[2]]
    t = x[0] * n
    for i, b in z:
        t = t + i * b
    return t


# --- strict zips ------------------------------------------------------------------------------------------------------
def strict_zips(x):
    t = 0.0
    for a, b in zip(x, x * 2, strict=True):
        t = t + a * b
    for i, (a, b) in enumerate(zip(x[1:], (x[0], x[1]), strict=True)):
        t = t + a * b * i
    return t + sum((a * b for a, b in zip(x, x[::-1], strict=False)))


def strict_zips_taken_apart(x):
    a, b, c = zip(x, x * x, strict=True)
    return a[0] * b[1] * c[1]


def a_dict_of_a_strict_zip(x):
    d = dict(zip('abc', x, strict=True))
    return d['a'] * d['c']


SERVED = [
    reversed_beside_a_slice, views_reversed, reversed_while_it_is_stored_into, a_dict_bound_again_behind_its_values,
    a_list_that_grows_before_it_is_counted, lists_bound_again_in_a_loop, entries_beside_a_list,
    a_dict_bound_again_by_a_function, a_sum_that_begins_with_a_call, counted_entries_bound_again_by_a_call,
    folded_behind_a_call, a_range_of_a_number_bound_again, a_slice_by_a_number_bound_again,
    entries_by_a_key_bound_again, a_list_that_a_call_changes, counted_from_its_length,
    counted_from_a_number_bound_again, strict_zips, strict_zips_taken_apart, a_dict_of_a_strict_zip,
]


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=1)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=1)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)


# --- what is refused -------------------------------------------------------------------------------------------------
def a_strict_zip_left_early(x):
    t = 0.0
    for a, b in zip(x, x[:2], strict=True):
        t = t + a * b
        if a > 0:
            break
    return t


def a_strict_zip_that_raises_what_is_caught(x):
    y = x * 1.0
    try:
        for a, b in zip(x, x[:2], strict=True):
            y[0] = y[0] + a * b
    except ValueError:
        y[1] = 5.0 * y[1]
    return y[0] * y[1]


def reversed_before_it_grows(x):
    x = x[0] + x[1] * x[2]
    xs = [x, x * 2.0]
    z = reversed(xs)
    xs.append(x * 4.0)
    t = 1.0
    for v in z:
        t = t * 0.5 + v * v
    return t


def an_entry_taken_out_beside(x):
    x = x[0] + x[1] * x[2]
    d = {'a': x, 'b': x * x}
    t = 0.0
    for (k, v), w in zip(d.items(), [x * 2.0, d.pop('b')]):
        t = t + v * w
    return t


@pytest.mark.parametrize("function", [
    a_strict_zip_left_early, a_strict_zip_that_raises_what_is_caught, reversed_before_it_grows,
    an_entry_taken_out_beside,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
