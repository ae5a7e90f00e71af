"""Functions that one which is kept calls: Python reads their variables when they are called, whoever wraps them."""

from __future__ import annotations

import functools
from types import FunctionType

import numpy as np
import pytest

from srcgrad import SrcgradError, jvp, options, value_and_grad
from srcgrad.runtime.refusals import Refused
from tests.roads import EVERY_ROAD, OPTIONS, A, B, is_refused, run


class Listeners:
    def __init__(self):
        self.all = []

    def add(self, f, weight=1.0):
        self.all.append(lambda e: f(e) * weight)

    def tell(self, e):
        return sum([listener(e) for listener in self.all])


class Held:
    def __init__(self, v):
        self.v = v


def wrapped(f):
    def w(n):
        return f(n)

    return w


def called(f, v):
    return f(v)


def scaled(k):
    def decorate(f):
        def w(n):
            return f(n) * k

        return w

    return decorate


def composed(f, g):
    return lambda v: f(g(v))


def step_of(f, h):
    def step(y):
        return y + h * f(y)

    return step


@functools.cache
def twice(o):
    return o.v * 2.0


@functools.cache
def product(pair):
    return pair[0] * pair[1]


@functools.cache
def named(**numbers):
    return numbers["a"] * 2.0


SETTING = Held(1.5)
_HELPERS = [f for f in globals().values() if isinstance(f, FunctionType) and f.__module__ == __name__]


# --- variables that are bound again ----------------------------------------------------------------------------------
def bound_again(a, b):
    x = a
    g = wrapped(lambda n: n * x)
    x = b
    return g(b)


def of_two(a, b):
    x = a
    g = composed(lambda n: n * x, lambda n: n + x)
    x = b
    return g(b)


def in_a_dict(a, b):
    x = a
    table = {"p": wrapped(lambda n: n * x), "q": wrapped(lambda n: n + x)}
    x = b
    return table["p" if a < 1 else "q"](b)


def by_a_branch(a, b):
    x = a
    if a < b:
        g = wrapped(lambda n: n * x)
    else:
        g = wrapped(lambda n: n + x)
    x = b
    return g(b)


def of_a_comprehension(a, b):
    fs = [wrapped(lambda n: n * v) for v in (a, b, a * b)]
    return sum(f(a) for f in fs)


def appended(a, b):
    fs = []
    for v in (a, b, a * b):
        fs.append(wrapped(lambda n: n * v))
    return sum(f(a) for f in fs)


def mapped(a, b):
    x = a
    (g,) = map(wrapped, [lambda n: n * x])
    x = b
    return g(b)


def kept_by_a_method(a, b):
    listeners, gain = Listeners(), a
    listeners.add(lambda e: e * gain)
    listeners.add(lambda e: e + gain, weight=b)
    r = listeners.tell(a)
    gain = gain * b
    return r + listeners.tell(b)


def a_parameter(a, b):
    def power(n, total):
        h = wrapped(lambda v: v * total)
        if n == 0:
            return h(b)
        total = total * a
        return h(1.0) + power(n - 1, total)

    return power(3, a)


def the_time_of_a_step(a, b):
    t, y = 0.0, a
    step = step_of(lambda y: -y * b + t, 0.1)
    while t < 0.35:
        y = step(y)
        t += 0.1
    return y


def over_an_older_one(a, b):
    def f(n):
        return b * 10.0

    @wrapped
    def f(n):
        return a if n == 0 else f(n - 1) * b

    return f(2)


def by_what_makes_decorators(a, b):
    f = lambda n: b * 10.0
    r = f(1)

    @scaled(b)
    def f(n):
        return a if n == 0 else f(n - 1) * b

    return f(2) + r


def bound_to_what_wraps_it(a, b):
    f = lambda n: b * 10.0
    f = wrapped(lambda n: a if n == 0 else f(n - 1) * b)
    return f(2)


# --- arguments that are held ---------------------------------------------------------------------------------------
def handed_on(a, b):
    f = lambda u, v: a * u * v
    return called(functools.partial(f, b), a)


def handed_on_twice(a, b):
    f = lambda u, v: a * u * v
    return called(functools.partial(called, functools.partial(f, b)), a * b)


# --- variables that are deleted --------------------------------------------------------------------------------------
def deleted(a, b):
    x = a
    fs = [lambda n: n * x]  # noqa: F821  it is deleted
    del x
    try:
        return fs[0](a)
    except NameError:
        return b * 2.0


def of_a_handler(a, b):
    try:
        raise ValueError("v")
    except ValueError as error:
        fs = [lambda: error.args]  # noqa: F821
    try:
        return a * len(fs[0]())
    except NameError:
        return b * 2.0


# --- functions that remember -----------------------------------------------------------------------------------------
def remembered_of_an_object(a, b):
    o = Held(a)
    r = twice(o)
    o.v = o.v * b
    return r + twice(o)


def remembered_of_what_has_no_hash(a, b):
    try:
        return product(np.array([a, b]))
    except TypeError:
        return a * a * b


def remembered_of_a_tuple(a, b):
    return product((a, b)) * product(pair=(b, b))


def remembered_of_what_changes_and_does_not_vary(a, b):
    o = Held(2.0)
    r = twice(o)
    o.v = 3.0
    return (r + twice(o)) * a * b


def remembered_of_keywords(a, b):
    return named(a=b) * a


def remembered_of_what_does_not_vary(a, b):
    return twice(SETTING) * a * b


FUNCTIONS = [
    f for f in globals().values() if isinstance(f, FunctionType) and f.__module__ == __name__ and f not in _HELPERS
]


@EVERY_ROAD
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.costly(6)
def test_right_or_refused(f, road):
    """The values of before, or what was remembered, were read in silence."""
    is_refused(f, road)


@pytest.mark.parametrize("f", [bound_again, of_two, the_time_of_a_step, bound_to_what_wraps_it])
def test_what_is_inferred_reads_variables_late(f):
    run(f, "inferred")


@pytest.mark.parametrize("road", ["inferred", "generic", "not optimised"])
@pytest.mark.parametrize("f", [handed_on, remembered_of_a_tuple, remembered_of_what_does_not_vary])
def test_right_on_every_road(f, road):
    if road == "generic" and f is not handed_on:  # data may be what is changed after it was remembered
        assert is_refused(f, road)
    else:
        run(f, road)


@EVERY_ROAD
@pytest.mark.parametrize(
    "f",
    [
        remembered_of_an_object,
        remembered_of_what_has_no_hash,
        remembered_of_what_changes_and_does_not_vary,
    ],
)
def test_what_is_remembered_of_objects_is_refused(f, road):
    with options(**OPTIONS[road]):
        for derivative in (value_and_grad(f), lambda a, b: jvp(f, (a, b), (1.0, 1.0))):
            with pytest.raises((SrcgradError, Refused), match="remember|a cached function"):
                derivative(A, B)
