"""Iterators over several others, and those that do more for their first item: right, asked when Python asks them."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.specialise.test_attempts import check
from tests.specialise.test_iterators import generator_that_reads_when_it_is_asked


def chain_of_lists_that_change(x):
    y, z, s = list(x[:2]), [], 0.0
    for a in itertools.chain(y, z):
        s = s * 0.5 + a * a
        if len(y) < 4:
            y.append(s)
        elif len(z) < 3:
            z.append(a * x[0])
    return s


def what_has_come_to_its_end_is_not_asked_again(x):
    y, z, s = list(x[:2]), [x[1], x[2]], 0.0
    for a in itertools.chain(y, z):
        s = s * 0.5 + a * a
        if a == x[2]:
            y.append(s)
    return s * len(y)


def chain_that_is_asked_for_items(x):
    y = list(x[:2])
    it = itertools.chain(y, x, map(lambda v: v * x[0], x))
    a = next(it)
    y[1] = a * x[2]
    return a * next(it) * next(it) + sum(it) + next(it, x[1])


def chain_of_a_display(x):
    s = 0.0
    for v in itertools.chain.from_iterable([x[:2], (x[2], s)]):
        s = s * 0.5 + v * v
    return s


def zip_longest_that_is_asked_for_items(x):
    y = [x[2], x[1]]
    it = itertools.zip_longest(x[:1], x, y, fillvalue=0.0)
    a, b, c = next(it)
    y[1] = a * b
    d, e, f = next(it)
    s = a * b * c + d + e * f
    for p, q, r in it:
        s += q * q * (1.0 + p) * (2.0 + r)
    return s


def pairs_that_are_asked_for(x):
    y, s = x * 1.0, 0.0
    pairs = itertools.pairwise(y)
    y[0] = x[2] * x[1]
    a, b = next(pairs)
    y[1] = a * b
    for a, b in pairs:
        s = s * 0.3 + a * b * b
    return s + next(pairs, (x[0], 1.0))[0]


def pairs_of_nothing(x):
    pairs = itertools.pairwise(x[:1])
    return x[0] * next(pairs, (x[1], 0.0))[0]


def totals_that_are_asked_for(x):
    y, s = list(x), x[1]
    totals = itertools.accumulate(y, lambda a, b: a * b + s)
    y[0] = x[1] * x[1]
    a = next(totals)
    s = a * x[2]
    y[1] = a
    return a * next(totals) + sum(totals) + next(totals, x[2])


def totals_of_nothing(x):
    s = x[0]
    for t in itertools.accumulate([], initial=x[1]):
        s = s * t
    return s + next(itertools.accumulate([]), x[2])


def compressed_as_it_is_asked(x):
    y, s = x * 1.0, 0.0
    for v in itertools.compress(y, [1, 0, 1]):
        y[2] = v * v + 1.0
        s += v * v * v
    return s


def leaves_before_its_loop(y, n):
    if n < 1:
        return
    s = y[0] * n
    for v in y:
        s = s * v
        yield s


def generators_that_are_left_before_their_loop(x):
    s = 1.0
    for n in range(3):
        for v in leaves_before_its_loop(x, n):
            s = s * 0.5 + v
    none, some = leaves_before_its_loop(x, 0), leaves_before_its_loop(x, 2)
    return s * next(none, x[1]) * next(some) * next(some)


def asked_until_it_is_decided(x):
    y = x * 1.0

    def grown(v):
        y[0] += v * v
        return y[0] > x[0] * 1.5

    rest = map(grown, x)
    found = any(rest)
    left = sum(1 for _ in rest)
    return y[0] * y[0] * (1 + found) * (2 + left) + all(filter(lambda v: v > 0.0, x)) * x[1]


def taken_in_as_they_come(x):
    items, last = [x[0]], deque([x[0]], 2)
    items.extend(map(lambda v: items[-1] * v + len(items), x))
    last.extend(filter(lambda v: v > 0.1 * sum(last), x))
    return items[-1] * items[1] + last[0] * last[1]


def first_of_an_expression(x):
    y, s = x * 1.0, 0.0
    for i in range(3):
        try:
            v = next(a / b for a, b in zip(y, x[1:]) if a > b * 0.6)
            y[0] = v * s
        except StopIteration:
            v = x[i]
        s = s * 0.5 + v + next((j for j, w in enumerate(x) if w < s), i) * x[i]
    return s


def first_of_a_generator_each_time(x):
    y, s = x * 1.0, 0.0
    for _ in range(3):
        s = s * 0.4 + next(leaves_before_its_loop(y, 2))
        y[0] = s
    return s


def in_order_by_keys_that_store(x):
    y = list(x)

    def key(v):
        y[0] = y[0] * 1.5
        return -v

    first, second, _ = sorted(y, key=key)
    rows = sorted([(x[0], 1), (x[1], 0), (x[2], 1)], key=lambda row: row[1], reverse=True)
    return first * second * second * y[0] + rows[0][0] * rows[1][0] * rows[1][0] + max([], default=x[1]) * x[0]


def the_larger_of_lists_is_one_of_them(x):
    a, b = [x[0], x[1]], [x[1], x[2]]
    larger = max(a, b)
    larger[0] = larger[0] * x[1]
    return a[0] * 3.0 + b[0] * b[0] + larger[1]


@pytest.mark.parametrize("function", [
    chain_of_lists_that_change, what_has_come_to_its_end_is_not_asked_again, chain_that_is_asked_for_items,
    chain_of_a_display, zip_longest_that_is_asked_for_items, pairs_that_are_asked_for, pairs_of_nothing,
    totals_that_are_asked_for, totals_of_nothing, compressed_as_it_is_asked,
    generators_that_are_left_before_their_loop, generator_that_reads_when_it_is_asked, asked_until_it_is_decided,
    taken_in_as_they_come, first_of_an_expression, first_of_a_generator_each_time, in_order_by_keys_that_store,
    the_larger_of_lists_is_one_of_them,
])  # fmt: skip
@pytest.mark.costly(2)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)
