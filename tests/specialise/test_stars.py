"""Calls with stars: of what they hold where they are read, whatever it holds later."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.runtime.refusals import RefusedType
from tests.specialise.test_attempts import check, check_data, is_refused


def _p(u=1.0, w=2.0, z=1.5, k=3.0, a=1.0, b=0.5, c=0.3):
    return u * w * k + z * z + a + b * c


def _q(u, w, z=5.0):
    return u * w + z


# --- stars ------------------------------------------------------------------------------------------------------------
def grown_between(x):
    xs = [x[0]]
    t = _p(*xs)
    xs.append(x[1])
    t = t + _p(*xs)
    xs.append(x[2])
    return t * _p(*xs)


def shrunk_between(x):
    xs = [x[0], x[1], x[2]]
    a = _p(*xs)
    del xs[0]
    b = _p(*xs)
    xs.pop()
    return a * b * _p(*xs)


def a_key_taken_out_between(x):
    d = {'u': x[0], 'w': x[1], 'k': x[2]}
    a = _p(**d)
    del d['w']
    b = _p(**d)
    d.pop('k')
    return a * b * _p(**d)


def keys_of_each_branch(x):
    d = {'u': x[0]}
    if x[1] > 0.5:
        d['k'] = x[1]
        t = _p(**d)
    else:
        t = _p(**d) * 2
    return t


def keywords_of_a_callee(x):

    def put(d, v):
        d['w'] = v
        return _p(**d)
    d = {'u': x[0]}
    e = {'k': x[1]}
    return put(d, x[1]) * put(e, x[2]) + _p(**d) * _p(**e)


def an_alias_puts_in(x):
    d = {'u': x[0]}
    e = d
    e['k'] = x[1] * x[2]
    return _p(**d)


def evaluated_in_order(x):
    xs = [x[0]]

    def g():
        xs.append(x[1])
        xs[0] = 5.0
        return x[2]
    return _p(*xs, g()) * _p(*xs)


def rows_that_change(x):
    rows = [[x[0], x[1]], [x[1], x[2]]]
    t = 0.0
    for v in itertools.starmap(_q, rows):
        rows[1][0] = v
        t = t * 0.5 + v
    return t


def keywords_of_a_library(x):
    opts = {'axis': 0}
    m = np.outer(x, x)
    a = np.sum(m, **opts)
    opts['keepdims'] = True
    b = np.sum(m, **opts)
    del opts['axis']
    c = np.sum(m, **opts)
    return a @ x + np.sum(b * x) * c[0, 0]


def one_of_two_sequences(x):
    d = [x[0], x[1]]
    e = (x[1], x[2])
    c = d if x[0] > x[1] else e
    return _q(*c)


def two_dicts(x):
    a = {'u': x[0]}
    b = {'w': x[1]}
    b['k'] = x[2]
    return _p(**a, **b)


def defaults_of_a_closure(x):

    def f(u=x[0], w=2.0):
        return u * w
    d = {}
    a = f(**d)
    d['w'] = x[1]
    return a * f(**d)


def displays_of_others(x):
    xs = [x[0]]
    xs.append(x[1])
    ys = [*xs, x[2]]
    xs.append(x[2])
    d = {'a': x[0]}
    e = {**d, 'b': x[1]}
    d['c'] = x[2]
    f = {**d, **e}
    return _p(*ys) * len(f) * _p(**f)


SERVED = [
    grown_between, shrunk_between, a_key_taken_out_between, keys_of_each_branch, keywords_of_a_callee,
    an_alias_puts_in, evaluated_in_order, rows_that_change, keywords_of_a_library, one_of_two_sequences, two_dicts,
    defaults_of_a_closure, displays_of_others,
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


# --- stars of unknown length ------------------------------------------------------------------------------------------
class Point:
    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class Pair:
    a: float
    b: float


class Layers:
    def __init__(self, scale, *layers):
        self.layers, self.scale = list(layers), scale
        self.start()

    def start(self):
        self.total = sum(self.layers)


def made_of_rows(x):
    rows = [Point(*row[:2]) for row in np.outer(x, x)]
    pairs = [Pair(*[v * 2.0 for v in x[:2]]), Pair(x[0], *x[1:2])]
    layers = Layers(x[0], *[v * v for v in x[1:]])
    return sum(r.a * r.b for r in rows) + pairs[0].a * pairs[1].b + layers.total * layers.layers[1] * layers.scale


def given_to_functions_inside(x):
    def area(w, h):
        return w * h + w

    sides = []
    for v in x[:2]:
        sides.append(v * 2.0)
    return area(*sides) + (lambda a, *others: a * sum(others))(*x)


def given_to_libraries(x):
    pair, both = [v * v for v in x[:2]], [x, x * 2.0]
    numbers = np.maximum(*pair) + np.hypot(*x[1:]) + math.atan2(*x[:2]) + max(*x) * min(*pair)
    return numbers + np.dot(*both) + np.sum(np.outer(*both)) + np.sum(np.linalg.solve(np.eye(3) * 3.0, *both[:1]))


@pytest.mark.parametrize("function", [made_of_rows, given_to_functions_inside, given_to_libraries])
@pytest.mark.costly(1, first=1)
def test_of_unknown_length(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)
    check_data(function)


@pytest.mark.parametrize(("count", "error"), [(1, TypeError), (3, RefusedType)])
def test_more_than_a_function_needs_are_options(count: int, error: type[Exception]) -> None:
    """A third argument of a ufunc is where its result is stored."""
    with pytest.raises(error):
        grad(lambda x: np.maximum(*[v * v for v in x[:count]]))(np.array([0.5, 1.5, 2.0]))


# --- what is refused -------------------------------------------------------------------------------------------------
def keys_that_differ_from_round_to_round(x):
    d = {'u': x[0]}
    t = 1.0
    for i in range(3):
        t = t * _p(**d)
        d['k'] = x[i]
    return t


def keys_of_one_branch_alone(x):
    d = {'u': x[0]}
    if x[1] > 0.5:
        d['k'] = x[1]
    return _p(**d)


def a_keyword_that_does_not_fit(x):
    d = {'u': x[0]}
    d['zz'] = x[1]
    return _q(1.0, **d)


def keywords_beside_a_dict_that_is_not_known(x):
    """The keywords were taken apart, while the call kept the dict that they are put into: an internal error."""
    def g(a, k=1.0, **rest):
        return a * k * rest.get('z', 2.0)
    return g(x[1], k=x[2], **({'z': x[0]} if x[0] > 0 else {}))


@pytest.mark.parametrize("function", [
    keywords_beside_a_dict_that_is_not_known,
    keys_that_differ_from_round_to_round, keys_of_one_branch_alone, a_keyword_that_does_not_fit,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
