"""Dicts: keys apart from values, joined and ordered ones; right in both directions, or refused."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.specialise.test_attempts import check, check_data, is_refused


# --- keys and values --------------------------------------------------------------------------------------------------
def keys_and_values_change_sides(x):
    d = {}
    for i, v in enumerate(x):
        d[i] = [v, v * v]
    e = {}
    for k, v in d.items():
        e[len(v) + k] = k * x[0]
    t = 0.0
    for k, v in e.items():
        t = t + k * v
    for k in d:
        for w in d[k]:
            t = t * 0.5 + w * (k + 1)
    return t


def a_dict_in_a_dict(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    inv = {}
    for k, v in d.items():
        inv[v[0] > 1.0] = d
    t = 0.0
    for k, v in inv.items():
        for j, w in v.items():
            t = t + w[0] * (j + 1) * (k + 1)
    return t


def tuples_as_keys(x):
    d = {}
    for i in range(3):
        for j in range(2):
            d[i, j] = [x[i] * x[j]]
    t = 0.0
    for (i, j), row in d.items():
        for w in row:
            t = t + w * (i - j)
    return t


def numbers_as_keys(x):
    d = {}
    for v in x:
        d[float(v)] = [v]
    t = 0.0
    for k, row in d.items():
        for w in row:
            t = t + w * 2.0
    return t


def copies(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    e = d.copy()
    f = {**d, 'k': [x[0] * 3]}
    g = dict(d)
    h = dict(d, a=[x[1]])
    e[0] = [x[2] * x[2]]
    d[1].append(x[0])
    t = 0.0
    for m in (e, f, g, h):
        for row in m.values():
            for w in row:
                t = t * 0.9 + w * w
    return t


def dicts_that_make_dicts(x):
    d = defaultdict(lambda: defaultdict(list))
    for i in range(4):
        d[i % 2][i % 3].append(x[i % 3] * i)
    t = 0.0
    for k, inner in d.items():
        for j, row in inner.items():
            for w in row:
                t = t + w * w * (k + j)
    return t


def values_of_two_classes(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    d['s'] = {0: x[1]}
    t = 0.0
    for k, v in d.items():
        if isinstance(v, list):
            t = t + v[0] * v[0]
        else:
            t = t * v[0]
    return t


def a_callee_puts_in(x):

    def put(m, k, v):
        m.setdefault(k, []).append(v)
    d = {}
    for i, v in enumerate(x):
        put(d, i % 2, v)
        put(d, 'z', v * v)
    t = 0.0
    for row in d.values():
        for w in row:
            t = t * 0.3 + w
    return t


def one_list_under_every_key(x):
    d = dict.fromkeys(range(3), [x[0]])
    d[1].append(x[1])
    d[2] = [x[2]]
    t = 0.0
    for row in d.values():
        for w in row:
            t = t * 0.5 + w * w
    return t


def comprehensions(x):
    d = {i: [v, i * v] for i, v in enumerate(x)}
    e = {len(v): k for k, v in d.items()}
    t = 0.0
    for k in sorted(d, reverse=True):
        for w in d[k]:
            t = t * 0.5 + w * w * (k + 1)
    return t + e[2] * x[0]


def values_replaced_in_the_loop(x):
    d = {i: [v] for i, v in enumerate(x)}
    t = 0.0
    for k, row in d.items():
        d[k] = [t]
        d[(k + 1) % 3] = [x[0] * k]
        for w in row:
            t = t + w * w
    return t + d[0][0] * d[1][0]


def a_dict_that_stays_empty(x):
    d = {}
    for v in x:
        if v > 100:
            d[v > 3] = [v]
    t = x[0] ** 2
    for row in d.values():
        for w in row:
            t = t * w
    return t


def keys_of_two_branches(x):
    if x[0] > 0:
        d = {'a': [x[0]]}
    else:
        d = {'b': [x[1]], 'c': [x[2]]}
    d[1] = [x[1]]
    t = 0.0
    for k, row in d.items():
        for w in row:
            t = t + w * w * len(str(k))
    return t


def a_key_deleted_in_a_loop(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    for k in list(d):
        if k == 1:
            del d[k]
    t = 0.0
    for row in d.values():
        for w in row:
            t = t + w * w
    return t


def views_as_lists(x):
    d = {}
    for i in range(3):
        d[str(i)] = [x[i]]
    ks = d.keys()
    vs = d.values()
    t = 0.0
    for k in ks:
        t = t + d[k][0] * len(k)
    for k, row in zip(list(ks), list(vs)):
        for w in row:
            t = t + w * w * int(k)
    return t


def popped_items(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    k, row = d.popitem()
    t = row[0] * k
    row = d.pop(0)
    for w in row:
        t = t + w * w
    for row in d.values():
        for w in row:
            t = t + w * w * 3
    return t


def updates(x):
    d = {}
    for i in range(3):
        d[i] = [x[i]]
    d.update({5: [x[0] * x[1]]})
    d.update([(7, [x[2]])])
    d.update(zip(range(8, 10), [[x[0]], [x[1]]]))
    d |= {11: [x[0]]}
    t = 0.0
    for k, row in d.items():
        for w in row:
            t = t + w * w * k
    return t


def joined_dicts(x):
    a = {'p': [x[0]], 'q': [x[1]]}
    b = {'q': [x[2]], 'r': [x[0] * x[1]]}
    c = a | b
    a['p'].append(x[2])
    a['q'] = [x[0] * 3]
    t = 0.0
    for k, row in c.items():
        for w in row:
            t = t * 0.5 + w * w
    return t + len(c) * a['q'][0] + c['q'][0]


def joined_in_place(x):
    a = {'p': [x[0]]}
    b = a
    a |= {'q': [x[1]]}
    t = 0.0
    for row in b.values():
        for w in row:
            t = t * 0.5 + w * w
    c = {}
    for i in range(2):
        c[i] = [x[i]]
    d = c | b
    c |= b
    for m in (c, d):
        for row in m.values():
            for w in row:
                t = t * 0.5 + w * w
    return t


def joined_numbers(x):
    a = {'p': x[0]} | {'q': x[1] * x[2]}
    a |= {'p': a['q']}
    y = {} | {'a': x}
    return a['p'] * a['q'] * y['a'][1]


def an_entry_taken_out_for_nothing(x):
    d = {i: v * v for i, v in enumerate(x)}
    d.popitem()
    return sum(d.values()) * len(d)


def popped_until_empty(x):
    d = {i: v * v for i, v in enumerate(x)}
    t = 1.0
    while d:
        k, v = d.popitem()
        t = t * (v + k)
    return t


# --- ordered ones -----------------------------------------------------------------------------------------------------
def ordered_pairs(x):
    d = OrderedDict([('a', x[0]), ('b', x[1] * 2)])
    e = OrderedDict(a=x[2])
    return d['a'] * d['b'] * e['a'] + sum(d.values())


def an_ordered_dict_and_a_plain_one(x):
    d = OrderedDict(a=x[0], b=x[1])
    return d['a'] if d == {'b': x[1], 'a': x[0]} else x[2]


SERVED = [
    keys_and_values_change_sides, a_dict_in_a_dict, tuples_as_keys, numbers_as_keys, copies, dicts_that_make_dicts,
    values_of_two_classes, a_callee_puts_in, one_list_under_every_key, comprehensions, values_replaced_in_the_loop,
    a_dict_that_stays_empty, keys_of_two_branches, a_key_deleted_in_a_loop, views_as_lists, popped_items, updates,
    joined_dicts, joined_in_place, joined_numbers, an_entry_taken_out_for_nothing, popped_until_empty, ordered_pairs,
    an_ordered_dict_and_a_plain_one,
]


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=2)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=2)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)


# --- what is refused -------------------------------------------------------------------------------------------------
def ordered_dicts_compared(x):
    d = OrderedDict(a=1, b=2)
    e = OrderedDict(b=2, a=1)
    return x[0] if d == e else x[1]


def moved_to_the_end(x):
    d = OrderedDict(a=x[0], b=x[1])
    d.move_to_end('a')
    t = 0.0
    for v in d.values():
        t = t * 0.5 + v
    return t


@pytest.mark.parametrize("function", [
    ordered_dicts_compared, moved_to_the_end,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
