"""Columns of rows, tuples of arguments, elements of arrays: right in both directions, or refused."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import options, value_and_grad
from tests.specialise.test_attempts import X, check, is_refused


# --- columns ---------------------------------------------------------------------------------------------------------
def rows_are_those_of_the_call(x):
    rows = [[v, v * v] for v in x]
    columns = zip(*rows)
    rows[0] = [x[2] * 5.0, x[2] * 7.0]
    rows.append([1.0])
    a, b = columns
    return a[0] * b[1] + sum(a) * sum(b) * len(a)


def elements_are_read_as_the_loop_goes(x):
    rows, s = [[v, v * v] for v in x], 0.0
    for i, column in enumerate(zip(*rows)):
        rows[0] = [0.0, 0.0]
        rows[1][1] = x[0] * x[1]
        for v in column:
            s = s + v * v * (i + 1)
    return s


def one_row_in_several_places(x):
    row = [x[0], x[1]]
    s = 0.0
    for a in zip(*[row for _ in x]):
        row[1] = row[1] * 2.0
        s = s + a[0] * a[1] * a[2]
    return s


def columns_that_are_asked_for(x):
    rows = [[v, v * v, v**3] for v in x]
    columns = zip(*rows)
    first = next(columns)
    rows[1][1] = x[2] * 2.0
    second = next(columns)
    rows[1][2] = x[2] * x[0]
    s = 0.0
    for column in columns:
        s = s + column[0] * column[1]
    return s + sum(first) * sum(second)


def columns_of_views(x):
    table, s = np.outer(x, x), 0.0
    for column in zip(*table):
        table[0, 2] = 5.0 * x[0]
        s = s + column[0] * column[1]
    return s


def rows_and_one_more(x):
    seen = []

    def row(v):
        seen.append(v)
        return [v * x[0], v]

    a, b = zip(*[row(v) for v in x], row(len(seen) * x[1]))
    return sum(a) * b[3] * seen[-1]


def columns_of_nothing(x):
    rows = [[v] for v in x if v > 100.0]
    s = x[0] * x[0]
    for _ in zip(*rows):
        s = s * 2.0
    return s + len(list(zip(*rows)))


def a_function_of_columns_that_stores(x):
    rows = [[v, v * v] for v in x]

    def product(column):
        rows[0] = [0.0, 0.0]
        rows[1][1] = x[0]
        return column[0] * column[1]

    return sum(map(product, zip(*rows)))


def pairs_unpacked(x):
    a, b, c = zip(x, x * x)
    first, second = enumerate([x[0] * 2.0, x[1]])
    return a[0] * b[1] * c[1] * first[1] * second[0]


# --- arguments -------------------------------------------------------------------------------------------------------
def running(head, *rest):
    return head * running(*rest) if rest else head


def as_many_as_there_are(x):
    return running(*[v * v for v in x], x[1])


def the_tuple_is_of_the_call(x):
    def all_of_them(*given):
        return given

    items = [x * v for v in x]
    given = all_of_them(*items)
    items[0][0] = 4.0
    items[1] = x * 9.0
    return given[0][0] * given[1][1] * given[0][1]


def a_callee_that_stores(x):
    def stored(first, *rows):
        rows[0][0] = 5.0 * x[0]
        return rows[1][0] * first[0]

    rows = [x * v for v in x]
    return stored(*rows) + rows[1][0] * rows[0][1]


class Scale:
    def __init__(self, k):
        self.k = k

    def total(self, first, *others):
        return self.k * first * sum(others)


def a_method_of_any_number(x):
    scale, items = Scale(x[0]), [v * v for v in x]
    return scale.total(*items) + scale.total(x[1], *items)


def a_generator_behind_a_star(x):
    def first_and_all(*given):
        return sum(given) * given[0]

    return first_and_all(*(v * v for v in x))


def distance_of_any_number(x):
    items = [v for v in x]
    r = math.hypot(*items)
    items.append(3.0)
    return r * math.hypot(*items) * math.hypot(*items[:0], x[0])


# --- iterators -------------------------------------------------------------------------------------------------------
def products_of_what_there_was(x):
    items, s = [v for v in x], 0.0
    pairs = itertools.product(items, items)
    items.append(x[0] * 9.0)
    items[0] = x[2] * 5.0
    for a, b in pairs:
        s = s * 0.9 + a * b
    for _ in itertools.product(x, []):
        s = s * 2.0
    for _ in itertools.product():
        s = s * 3.0
    return s


def choices(x):
    s = 0.0
    for a, b in itertools.combinations_with_replacement(x, 2):
        s = s * 0.8 + a * b * b
    for a, b in itertools.product(x, repeat=2):
        s = s * 0.8 + a * b
    return s


def elements_that_are_stored_meanwhile(x):
    table, s = np.outer(x, x), 0.0
    for v in table.T.flat:
        table[2, 0] = x[0] * 3.0
        s = s * 0.9 + v * v
    for i, v in enumerate(table.flat):
        table.flat[i] = v * v
    a, *_ = x.flat
    return s + sum(table.flat) * a


def stored(y, v):
    y[0] = y[0] * v
    return v > 0.5


def decided_in_the_second_of_two_loops(x):
    y, z = x * 1.0, x * 1.0
    a = any(stored(y, u * v) for u in x for v in x if v > -1.0)
    b = all(stored(z, u * v + 5.0) for u in x for v in x[:2])
    return y[0] * (1 + a) + z[0] * (2 + b)


def a_deque_extended_by_what_it_holds(x):
    q = deque([x[0]], maxlen=2)
    q.extend(q[-1] * v for v in x)
    q.extendleft(q[0] * v for v in x if v > 0.0)
    return q[0] * q[1] * len(q)


def what_a_generator_goes_over_is_read_first(x):
    rows = [[x[0], x[1]]]

    def start():
        rows[0][1] = x[2]
        rows[0] = [x[0]]
        return x[2]

    return sum((v * v for v in rows[0]), start()) + rows[0][0]


def arrays_are_added_as_they_come(x):
    y, first = x * 1.0, x[:2]

    def scaled(v):
        y[0] = y[0] * v
        return y[:2]

    s = sum(map(scaled, [x[0], x[1]]), first)
    s[1] = s[1] * 2.0
    y[0] = 3.0 * x[2]
    return s[0] * s[1] * y[0] * first[0]


# --- containers ------------------------------------------------------------------------------------------------------
def copies_of_deques(x):
    q = deque([x[0], x[1]], maxlen=2)
    other = q.copy()
    other.append(x[2] * 3.0)
    q[0] = x[0] * 7.0
    return other[0] * other[1] * q[0]


def unions_of_dicts(x):
    d, e = {"a": x[0], "b": x[1]}, {"b": x[2], "c": x[0] * 2.0}
    f = d | e
    d["a"] = 5.0
    f["c"] = f["c"] * 2.0
    return f["a"] * f["b"] * f["c"] * e["c"]


def a_dict_is_read_behind_its_keywords(x):
    d = {"a": x[0], "b": x[1]}
    e = dict(d, c=d.pop("a") * 2.0, b=x[2])
    e["b"] = e["b"] * 3.0
    return e["b"] * e["c"] * len(e) * d["b"]


def dicts_of_pairs(x):
    y = x * 1.0
    d = dict(zip(("a", "b"), [y, x * 2.0]))
    y[0] = 7.0 * x[1]
    d["a"][1] = x[2]
    e = dict([("a", x[0]), ("b", x[1]), ("a", x[2])], c=x[1] * 2.0)
    s = 0.0
    for i, v in enumerate(e.values()):
        s = s + v * v * (i + 1)
    return d["a"][0] * y[1] * d["b"][0] * s * e["a"]


def pairs_are_read_behind_keywords(x):
    pairs = [("a", x[0])]

    def put():
        pairs.append(("b", x[1]))
        return x[2]

    d = dict(pairs, c=put())
    pairs[0] = ("a", 5.0)
    return d["a"] * d["b"] * d["c"]


def letters_beside_numbers(x):
    d, s = {}, 0.0
    for name, v in zip("aba", x):
        d[name] = d.get(name, 0.0) + v * v
    for k, letter in enumerate("abc"):
        s = s + x[k] * k * (2.0 if letter == "b" else 3.0)
    return d["a"] * d["b"] * s


def two_rows_that_are_known(x):
    rows = [["a", "b", "a"], x * x]
    d = dict(zip(*rows))
    return d["a"] * d["b"] * len(d)


SERVED = [
    rows_are_those_of_the_call, elements_are_read_as_the_loop_goes, one_row_in_several_places,
    columns_that_are_asked_for, columns_of_views, rows_and_one_more, columns_of_nothing,
    a_function_of_columns_that_stores, pairs_unpacked, as_many_as_there_are, the_tuple_is_of_the_call,
    a_callee_that_stores, a_method_of_any_number, a_generator_behind_a_star, distance_of_any_number,
    products_of_what_there_was, choices, elements_that_are_stored_meanwhile, decided_in_the_second_of_two_loops,
    arrays_are_added_as_they_come, a_deque_extended_by_what_it_holds, what_a_generator_goes_over_is_read_first,
    copies_of_deques, unions_of_dicts, a_dict_is_read_behind_its_keywords, dicts_of_pairs,
    pairs_are_read_behind_keywords, letters_beside_numbers, two_rows_that_are_known,
]  # fmt: skip


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=2)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=2)
def test_derivatives_where_nothing_is_said_of_the_arguments(function: Callable[..., Any]) -> None:
    value, gradient = value_and_grad(function)(X.copy())
    with options(specialise=False):
        again, found = value_and_grad(function)(X.copy())
    assert again == value
    np.testing.assert_allclose(found, gradient)


# --- containers of which nothing is said ----------------------------------------------------------------------------
def list_that_grows(items):
    s = 0.0
    for v in items:
        put(items, v * items[0])
        s = s * 0.9 + v * v
    return s


def put(items, v):
    if len(items) < 5:
        items.append(v)


def list_under_two_names(items):
    s, same = 0.0, items
    for i, v in enumerate(items):
        if len(same) > 2:
            s = s + same.pop() * 2.0
        s = s * 0.9 + v * v * (i + 1)
    return s


def list_that_is_emptied(items):
    s = 1.0
    while items:
        s = s * items.pop() + 0.1
    return s


def list_with_others(items):
    a, b = items.pop(0), items.pop(-1)
    items.append(a * b)
    items.insert(0, a + b)
    items.extend([items[0] * 2.0, items[1]])
    items.reverse()
    return items[0] * items[1] * items[2] * items[4]


def array_in_a_list(items):
    y = np.array(items) * 2.0
    items.append(y)
    items[-1][0] = items[1] * 3.0
    return y[0] * y[1]


def list_that_is_counted_first(items):
    for i in range(len(items)):
        items.append(items[i] * 2.0)
    return items[3] * items[4] * items[5] * items[0]


@pytest.mark.parametrize("function", [
    list_that_grows, list_under_two_names, list_that_is_emptied, list_with_others, array_in_a_list,
    list_that_is_counted_first,
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_lists_of_which_nothing_is_said(function: Callable[..., Any]) -> None:
    given = [1.1, 0.7, 2.3]
    with options(specialise=False):
        value, gradient = value_and_grad(function)([*given])
    assert value == pytest.approx(function([*given]))
    for i, found in enumerate(gradient):
        ahead, behind = ([v + h * (i == j) for j, v in enumerate(given)] for h in (1e-6, -1e-6))
        assert found == pytest.approx((function(ahead) - function(behind)) / 2e-6, rel=1e-5)


def views_that_are_kept(d):
    items, values, other = d.items(), d.values(), d.keys()
    d["a"] = d["b"] * 2.0
    d["c"] = d["a"]
    s = 0.0
    for i, (_, v) in enumerate(items):
        s = s * 0.5 + v * v * i
    return s + sum(values) * len(other)


def test_views_of_which_nothing_is_said() -> None:
    d = {"a": 1.5, "b": 2.5}
    expected = value_and_grad(views_that_are_kept)({**d})
    with options(specialise=False):
        assert value_and_grad(views_that_are_kept)({**d}) == expected


# --- what is refused -------------------------------------------------------------------------------------------------
def rows_that_grow_in_the_loop(x):
    rows, s = [[v, v * v] for v in x], 0.0
    for column in zip(*rows):
        if len(rows[0]) < 4:
            for row in rows:
                row.append(x[0])
        s = s + column[0]
    return s


def rows_that_are_dicts(x):
    s = 0.0
    for column in zip(*[{0: v, 1: v * v} for v in x]):
        s = s + column[0] * x[0]
    return s


def too_few_items_are_another_exception(x):
    def four(a, b, c, d, *rest):
        return a

    try:
        s = four(*[v for v in x])
    except TypeError:
        s = x[0] * x[1]
    return s


@pytest.mark.parametrize("function", [
    rows_that_grow_in_the_loop, rows_that_are_dicts, too_few_items_are_another_exception,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
