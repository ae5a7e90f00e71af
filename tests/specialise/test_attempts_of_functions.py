"""Functions as values that attempt, and attempts of functions as values: right in both directions, or refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.specialise.test_functions import X, check


def fail(v):
    if v > 0.5:
        raise ValueError("large")
    return v * v


def captured_in_an_attempt(x):
    a = x[0]

    def f(v):
        try:
            return fail(v) * a
        except ValueError:
            return v * a * 3.0

    s = f(x[1])
    a = np.sin(x[2])
    return s + f(x[2]) * a


def count_of_what_was_raised(x):
    n, s = 0, x[0]

    def f(v):
        nonlocal n, s
        try:
            s = s * fail(v)
        except ValueError:
            n = n + 1
            s = s + v

    for i in range(3):
        f(x[i])
    return s * n


def one_of_several_in_an_attempt(x):
    f = (lambda v: fail(v) * x[1]) if x[0] > 0.5 else np.sin
    try:
        s = f(x[1])
    except ValueError:
        s = f(x[2]) * x[0]
    return s


def attempt_that_calls_itself(x):
    def tower(v, k):
        try:
            w = fail(v) if k == 0 else x[0] * tower(v, k - 1)
        except ValueError:
            w = v * x[1]
        return w

    return tower(x[1], 2) + tower(x[2], 1)


def derivative_of_an_attempt(x):
    def f(y):
        try:
            return fail(y) * x[0]
        except ValueError:
            return y**3 * x[1]

    return srcgrad.grad(f)(x[1]) + srcgrad.grad(f)(x[2])


def derivative_in_an_attempt(x):
    def f(y):
        return fail(y) * x[0]

    try:
        s = srcgrad.grad(f)(x[1])
    except ValueError:
        s = srcgrad.grad(f)(x[2]) * x[1]
    return s


def given_to_what_tries_it(x):
    def tried(f, *others):
        try:
            return f(*others)
        except ValueError:
            return others[0] * 2.0

    return tried(fail, x[1]) + tried(lambda a, b: a * b * x[0], x[1], x[2])


def partial_that_tries(x):
    def f(a, v):
        try:
            return fail(v) * a
        except ValueError:
            return a * 2.0

    g = functools.partial(f, x[0])
    return g(x[1]) * g(x[2])


def decorator_that_tries(x):
    def safe(f):
        @functools.wraps(f)
        def inner(*args):
            try:
                return f(*args)
            except ValueError:
                return 2.0 * args[0]
        return inner

    g = safe(fail)
    return g(x[1]) * g(x[2])


def tried_twice(x):
    def f(v):
        with np.errstate(all="ignore"):
            return np.log(v) * x[0]

    def g(v):
        try:
            return f(fail(v))
        except ValueError:
            return f(v)

    return g(x[1]) * g(x[0])


def defaults_in_an_attempt(x):
    s = 0.0
    for k in range(3):
        def f(v, c=x[k]):
            try:
                return fail(v) * c
            except ValueError:
                return c * 3.0
        s = s + f(x[1]) * f(x[2])
    return s


def last_block_in_a_function(x):
    log = [0.0]

    def f(v):
        try:
            return fail(v)
        except ValueError:
            return v
        finally:
            log.append(v * x[0])

    s = f(x[1]) * f(x[2])
    return s + log[1] * log[2]


def made_in_an_attempt(x):
    try:
        k = fail(x[2])
        f = lambda v: v * k
        s = f(x[1]) * fail(x[1])
    except ValueError:
        s = x[0] * 2.0
    return s * x[1]


def returned_from_an_attempt(x):
    def make(v):
        try:
            k = fail(v)
            return lambda w: w * k
        except ValueError:
            return lambda w: w * w * v

    return make(x[1])(x[0]) * make(x[2])(x[1])


PROGRAMS = [
    captured_in_an_attempt, count_of_what_was_raised, one_of_several_in_an_attempt, attempt_that_calls_itself,
    derivative_of_an_attempt, derivative_in_an_attempt, given_to_what_tries_it, partial_that_tries,
    decorator_that_tries, tried_twice, defaults_in_an_attempt, last_block_in_a_function, made_in_an_attempt,
    returned_from_an_attempt,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.costly(2)
def test_functions_that_attempt(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(function, (X,), monkeypatch)
