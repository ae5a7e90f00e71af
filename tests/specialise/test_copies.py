"""Deep copies of objects, of methods and of named tuples, and what exceptions hold that are caught."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 1.3, 0.4, 0.9])


class Kept(NamedTuple):
    a: np.ndarray
    b: list


class Model:
    def __init__(self, w, grows):
        self.w = w
        self.step = self.grown if grows else self.shrunk

    def grown(self, v):
        self.w = self.w * 2.0
        return v * self.w

    def shrunk(self, v):
        return v * self.w * 0.5


def copies_of_a_named_tuple(x):
    s = Kept(x * 1.0, [x[0], x * 2.0])
    t, u = copy.deepcopy(s), copy.copy(s)
    t.a[1] = s.b[0] ** 2
    t.b[1][0] = x[3]
    u.b[0] = x[2] * 3.0
    return np.sum(s.a * t.a) * s.b[0] * t.b[0] * np.sum(s.b[1] * t.b[1])


def copies_of_methods(x):
    model = Model(x[0], x[1] > 1.0)
    other = copy.deepcopy(model)
    other.w = x[2] * other.w
    return other.step(x[1]) * model.w * other.step(x[3]) * other.w


def a_copy_that_shares_its_method(x):
    model = Model(x[0], x[1] > 1.0)
    other = copy.copy(model)
    other.w = x[2]
    return other.step(x[1]) * model.w * other.w


def text_of_an_exception(x):
    rows, s = [np.sin(x), np.cos(x)], 0.0
    for k in (0, 2, 1):
        try:
            row = rows[k]
        except (IndexError, ValueError) as error:
            row = rows[-1]
            s = s + len(str(error)) * x[0] * isinstance(error, IndexError)
        row[k % 2] = row[3] * x[1]
        s = s + np.sum(row * rows[0])
    return s


def raised_with_a_text(x):
    s = x[0]
    for k in range(3):
        try:
            if k == 1:
                raise ValueError("%d of %s" % (k, "three"))
            s = s * x[k]
        except ValueError as error:
            s = s * len(str(error)) + x[3]
    return s


def copies_of_dicts_that_make_what_is_missing(x):
    sums, lists, others = defaultdict(float), defaultdict(list), defaultdict(lambda: x[3])
    sums["a"] = x[0]
    lists["a"].append(x[0])
    first, second, third = sums.copy(), lists.copy(), others.copy()
    first["a"] = x[1]
    first["q"] += x[2]
    second["a"].append(x[1])
    second["b"].append(x[2])
    s = sums["a"] * first["a"] * first["q"] * len(sums) * len(first) + sum(lists["a"]) * second["b"][0] * len(lists)
    return s * third["z"] + others["z"] * len(third)


@pytest.mark.parametrize("function", [
    copies_of_a_named_tuple, copies_of_methods, a_copy_that_shares_its_method, text_of_an_exception,
    raised_with_a_text, copies_of_dicts_that_make_what_is_missing,
])  # fmt: skip
@pytest.mark.costly(2)
def test_it_is_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


class Own(ValueError):
    def __str__(self):
        self.args[0][0] = 5.0
        return "own"


def an_exception_that_stores(x):
    y = x * 2.0
    try:
        raise Own(y)
    except ValueError as error:
        return len(str(error)) * y[0]


def what_an_exception_holds(x):
    y = x * 2.0
    try:
        raise ValueError(y)
    except ValueError as error:
        return error.args[0][0] * x[1]


def a_copy_of_a_method_itself(x):
    model = Model(x[0], x[1] > 1.0)
    step = copy.deepcopy(model.step)
    return step(x[0]) * model.w


def copies_of_a_function(x):
    w = [x[0]]
    held = [lambda v: v * w[0]]
    other = copy.deepcopy(held)
    w[0] = x[1]
    return other[0](x[2])


@pytest.mark.parametrize("function", [
    an_exception_that_stores, what_an_exception_holds, a_copy_of_a_method_itself, copies_of_a_function,
])  # fmt: skip
def test_it_is_refused(function, monkeypatch):
    check_refused(function, monkeypatch, X)
