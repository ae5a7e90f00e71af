"""Functions that ``__init__`` makes and the object keeps: they read its fields when they are called."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from srcgrad import ArgumentError, options, value_and_grad
from srcgrad.runtime.refusals import RefusedValue
from tests.roads import OPTIONS, ROADS, refused, right


class Kept:
    def __init__(self, v):
        self.v = v
        self.n = 2
        self.cb = lambda t: t * self.v
        self.table = {"power": [lambda t: t**self.n]}

    def put(self, v):
        self.v = v

    def twice(self):
        return 2.0 * self.v


class ByMethod(Kept):
    def __init__(self, v):
        self.v = v
        self.cb = lambda t: t * self.twice()


class Squared(Kept):
    def __init__(self, v):
        super().__init__(v)
        self.v = v * v


@dataclass
class Made:
    v: float

    def __post_init__(self):
        self.cb = lambda t: t * self.v


class Sorted:
    def __init__(self, v):
        self.v = v
        self.first = sorted([2.0, 1.0], key=lambda t: t * self.v)[0]


def only_read(x):
    o = Kept(x[0])
    return o.cb(x[1]) * o.v * o.table["power"][0](x[1])


def stored_into(x):
    o = Kept(x[0])
    o.v = x[1]
    return o.cb(3.0)


def stored_by_a_method(x):
    o = Kept(x[0])
    o.put(x[1])
    return o.cb(3.0)


def stored_in_a_loop(x):
    kept = [Kept(v) for v in x]
    for o in kept:
        o.v *= 2.0
    return kept[0].cb(3.0) * kept[1].cb(2.0)


def another_power(x):
    o = Kept(x[0])
    o.n = 3
    return o.table["power"][0](x[1])


def through_a_method(x):
    o = ByMethod(x[0])
    o.v = x[1]
    return o.cb(3.0)


def of_a_dataclass(x):
    o = Made(x[0])
    o.v += x[1]
    return o.cb(x[1])


def of_a_base_class(x):
    return Squared(x[0]).cb(x[1])


class Rebound(Kept):
    def __init__(self, v):
        self.v = v
        self.cb = lambda t: t * self.twice()
        self.v = v * v


class Table:
    def __init__(self, v):
        self.v = v
        self.table = dict(key=lambda t: t * self.v)


class ByCall(Kept):
    def __init__(self, v):
        self.v = v
        self.cb = self.made()

    def made(self):
        return lambda t: t * self.v


class Ranking:
    def sort(self, key):
        self.key = key


class Ranked(Kept):
    def __init__(self, v):
        self.v = v
        ranking = Ranking()
        ranking.sort(key=lambda t: t * self.v)
        self.cb = ranking.key


class Behind(Kept):
    def __init__(self, v):
        self.v = v

        def inner(t):
            return t * self.v

        self.cb = lambda t: inner(t)


class Layers:
    def __init__(self, v):
        self.v = v

        def scaled(t):
            return t * self.v

        self.w = [scaled(1.0), scaled(2.0)]
        self.rows = list(map(lambda t: t + self.v, [1.0, 2.0]))


def rebound_while_it_is_made(x):
    return Rebound(x[0]).cb(x[1])


def kept_under_a_word(x):
    o = Table(x[0])
    o.v = x[1]
    return o.table["key"](3.0)


def made_by_a_method(x):
    o = ByCall(x[0])
    o.v = x[1]
    return o.cb(3.0)


def kept_by_another_object(x):
    o = Ranked(x[0])
    o.v = x[1]
    return o.cb(3.0)


def behind_another_function(x):
    o = Behind(x[0])
    o.v = x[1]
    return o.cb(3.0)


def made_by_local_functions(x):
    o = Layers(x[0])
    o.v = x[1]
    return o.w[1] * o.rows[0] * o.v


def called_at_once(x):
    o = Sorted(x[0])
    o.v = x[1]
    return o.first * o.v * x[0]


@pytest.mark.parametrize("road", ["inferred", "generic", "not optimised"])
@pytest.mark.parametrize(
    "function",
    [
        only_read, called_at_once, made_by_local_functions, stored_into, stored_by_a_method, stored_in_a_loop,
        another_power, through_a_method, of_a_dataclass, kept_by_another_object, of_a_base_class,
        rebound_while_it_is_made, made_by_a_method, behind_another_function,
    ],
)  # fmt: skip
@pytest.mark.costly(3, first=2)
def test_a_function_that_carries_the_object_sees_what_its_fields_become(function, road):
    """Once it had the field's first value: the value and the derivative were those of another program."""
    right(function, road)


def test_a_function_in_a_container_of_a_class_of_its_own_is_refused():
    refused(kept_under_a_word, "inferred", "a function that is passed on")


def stored_into_an_argument(x, o):
    o.v = x
    return o.cb(3.0)


def stored_into_a_copy_of_an_argument(x, o):
    p = copy.deepcopy(o)
    p.v = x
    return p.cb(3.0) * x


def test_a_function_of_an_argument_that_is_stored_into():
    with pytest.raises(RefusedValue, match="shares memory with self"):
        value_and_grad(stored_into_an_argument)(1.5, Kept(2.0))
    assert value_and_grad(stored_into_a_copy_of_an_argument)(1.5, Kept(2.0)) == (9.0, 6.0)


def deeply_copied(x):
    z = np.array([x[0], x[1]])
    kept = copy.deepcopy([lambda t: t * z])
    z[0] = 7.0 * x[1]
    return np.sum(kept[0](x[1]))


def deeply_copied_with_a_number(x):
    v = 2.0 * x[0]
    kept = copy.deepcopy({"f": lambda t: t * v})
    return kept["f"](x[1])


@pytest.mark.parametrize("function", [deeply_copied, deeply_copied_with_a_number])
def test_a_deep_copy_of_functions_is_refused(function):
    refused(function, "inferred", "a function that is passed on")


def of_an_argument(o, t):
    return o.cb(t) * o.v


@ROADS
def test_a_function_of_an_argument_that_reads_the_argument_is_refused(road):
    """What it read was constant, as of everything that a function captured: its part was missing."""
    with options(**OPTIONS[road]), pytest.raises(ArgumentError, match="captured o, which is differentiated"):
        value_and_grad(of_an_argument)(Kept(2.0), 3.0)
    with options(**OPTIONS[road]):
        assert value_and_grad(of_an_argument, argnums=1)(Kept(2.0), 3.0) == (12.0, 4.0)
    derivative, model = value_and_grad(of_an_argument), Kept(2.0)
    with options(**OPTIONS[road]):
        derivative(copy.copy(model), 3.0)  # whose function captured another object
        with pytest.raises(ArgumentError, match="captured o"):
            derivative(model, 3.0)


def of_a_dict(d, t):
    return d["f"](t) * d["w"][0]


@pytest.mark.parametrize("make", [
    lambda w: lambda t, w=w: t * w[0], lambda w: partial(lambda w, t: t * w[0], w),
    lambda w: (lambda held: lambda t: t * held[0][0])([w]),
])  # fmt: skip
def test_what_a_function_holds_in_other_ways_is_captured_too(make):
    w = np.array([2.0])
    with pytest.raises(ArgumentError, match=r"the function d\['f'\] captured d\['w'\]"):
        value_and_grad(of_a_dict)({"w": w, "f": make(w)}, 3.0)
