"""What Python asks of objects: their truth, length and value as a float, and rounding by keywords."""

from __future__ import annotations

import math

import numpy as np
import pytest

from srcgrad import grad, options
from tests.specialise.serving import check_right, program_of, serving

X = np.array([0.7, 1.3, 0.4, 1.9])


class Switch:
    """Asking it changes it: so it is seen how often it is asked."""

    def __init__(self, on, w):
        self.on = on
        self.w = w

    def __bool__(self):
        self.w = self.w * 1.5
        return self.on


class Row:
    def __init__(self, n, w):
        self.n = n
        self.w = w

    def __len__(self):
        self.w = self.w + 1.0
        return self.n


class Amount:
    def __init__(self, w):
        self.w = w

    def __float__(self):
        self.w = self.w * 2.0
        return float(self.w)

    def __round__(self, places=3):
        return self.w * places


class Divided:
    def __init__(self, w):
        self.w = w

    def __divmod__(self, other):
        self.w = self.w * 2.0
        return self.w * other, self.w + other

    def __rdivmod__(self, other):
        return self.w - other, self.w * other * other


class Floored(Amount):
    def __floor__(self):
        return self.w * 5.0


class Plain:
    def __init__(self, w):
        self.w = w


def branches_ask_once(x):
    s, y = Switch(True, x[0]), x[1]
    if s:
        y = y * s.w
    if not s:
        y = y * x[2]
    else:
        y = y + s.w
    return y * s.w


def the_answer_changes(x):
    s = Switch(False, x[0])
    y = x[1] if s else x[2]
    s.on = True
    y = y * (x[3] if s else 2.0)
    return y * s.w


def one_asked_after_the_other(x):
    s, o, y = Switch(True, x[0]), Switch(False, x[1]), 0.0
    if s and o:
        y = x[2]
    if s or o:
        y = y + x[3] * s.w * o.w
    return y * s.w * o.w + bool(s) * s.w


def true_by_its_length(x):
    s, y = Row(3, x[0]), x[1]
    while s:
        s.n -= 1
        y = y * s.w
    return y * s.w * (len(s) + 1) * s.w


def as_a_float(x):
    o, y = Amount(x[0]), 0.0
    for held in [o, Amount(x[1])]:
        y = y * x[2] + float(held)
    return y * float(o) * o.w * float(x[3])


def rounded_by_keywords(x):
    o = Amount(x[0])
    return round(o, None) * round(o) * round(o, ndigits=2) * round(ndigits=x[1], number=o)


def quotients_and_remainders(x):
    total = 0.0
    for o in [Divided(x[0]), Divided(x[1])]:
        a, b = divmod(o, x[2])
        c, d = divmod(2.0, o)
        total = total * x[3] + a * b + c * d * o.w
    return total


def floors_of_floats(x):
    o = Amount(x[3])
    return math.floor(o) * x[1] + math.ceil(o) * x[2] + o.w * math.floor(Floored(x[0]))


def asked_in_a_comprehension(x):
    switches = [Switch(True, x[0]), Switch(False, x[1])]
    return sum(s.w for s in switches if s) * switches[1].w


@pytest.mark.parametrize("function", [
    branches_ask_once, the_answer_changes, one_asked_after_the_other, true_by_its_length, as_a_float,
    rounded_by_keywords, asked_in_a_comprehension, quotients_and_remainders, floors_of_floats,
])  # fmt: skip
@pytest.mark.costly(2)
def test_what_python_asks_of_objects_is_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


def true_in_several_ways(x):
    y = 0.0
    for o in [Switch(True, x[0]), Plain(x[1])]:
        y = y * x[3] + (o.w if o else 2.0 * o.w)
    return y


def none_at_first(x):
    o, y = None, 0.0
    for k in range(3):
        if o:
            y = y + o.w
        o = Switch(k > 0, x[k])
    return y


@pytest.mark.parametrize("function", [true_in_several_ways, none_at_first])
def test_what_is_asked_of_several_kinds_is_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


def test_a_negative_length_raises(monkeypatch):
    def negative(x):
        row = Row(-1, x[0])
        return len(row) * row.w

    with serving(program_of(negative, (X,)), monkeypatch.setattr), options(check=False):
        with pytest.raises(ValueError, match="should return >= 0"):
            grad(negative)(X)
