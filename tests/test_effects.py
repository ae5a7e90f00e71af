"""Effects happen as often and in the order as in the program, in the forward sweep; draws are never repeated."""

from __future__ import annotations

import contextlib
import functools
import random

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hvp, jvp, value_and_grad, vjp
from tests.parameters import at_night, share_by_day

EVENTS: list[object] = []


@srcgrad.constant
def note(*what: object) -> None:
    """An effect that can be counted."""
    EVENTS.append(what if len(what) > 1 else what[0])


def noisy(x):
    print("noisy", end=" ")
    return x * np.random.normal()


def draws(x):
    print("a", end=" ")
    s = x * np.random.normal() + noisy(x)
    for k in range(3):
        if k == 1:
            s = s * random.gauss(0.0, 1.0)
        else:
            s = s + x * np.random.uniform() * s
        print(k, end=" ")
    return s


def draws_where_it_is_caught(x):
    s = x
    for k in range(4):
        try:
            s = s * np.random.normal()
            if k % 2:
                raise KeyError(k)
            print("kept", end=" ")
        except KeyError:
            print("caught", end=" ")
            s = s + np.random.normal() * x
        finally:
            print("left", end=" ")
    return s * x


def chosen(n):
    print("chosen", end=" ")
    return noisy if n > 1 else np.sin


def draws_of_a_value(x):
    f = chosen(3)
    return f(x) * x


def draws_inside_of_a_derivative(x):
    return grad(draws)(x) * x


@contextlib.contextmanager
def told(name):
    print("into", name, end=" ")
    yield name
    print("out of", name, end=" ")


def draws_in_a_context(x):
    with told("room") as name:
        y = x * np.random.normal()
        print(name, end=" ")
    return y * y


PROGRAMS = [
    draws,
    draws_where_it_is_caught,
    draws_of_a_value,
    draws_inside_of_a_derivative,
    draws_in_a_context,
]


@functools.cache
def drawn_once(v):
    return v * np.random.normal()


@pytest.mark.parametrize("f", [lambda x: drawn_once(x) + 2 * drawn_once(x), lambda x: x * drawn_once(2)])
def test_a_cached_function_that_draws_is_refused(f):
    """It is drawn once for each argument, where the function behind the cache would draw again."""
    for derivative in (lambda: grad(f)(0.7), lambda: jvp(f, (0.7,), (1.0,))):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="drawn_once"):
            derivative()


def run(call, capsys):
    """What a call returns, what it printed, and where it left the generators of numbers."""
    np.random.seed(3)
    random.seed(3)
    result = call()
    return result, capsys.readouterr().out, np.random.random(), random.random()


@pytest.mark.parametrize(
    ("mode", "program"),
    [
        *((mode, program) for mode in ("value_and_grad", "vjp", "jvp") for program in PROGRAMS),
        *share_by_day((("hvp", program) for program in PROGRAMS), 3),
        *(at_night("grad", program) for program in PROGRAMS),
    ],
)
@pytest.mark.costly(2)
def test_effects_are_those_of_the_program(program, mode, capsys):
    value, printed, *left = run(lambda: program(0.7), capsys)
    h = 1e-6
    above = run(lambda: program(0.7 + h), capsys)[0]
    below = run(lambda: program(0.7 - h), capsys)[0]

    def pulled_twice():
        made, pullback = vjp(program, 0.7)
        assert pullback(1.0) == pullback(1.0)
        return pullback(1.0)[0]

    calls = {
        "grad": lambda: grad(program)(0.7),
        "value_and_grad": lambda: value_and_grad(program)(0.7)[1],
        "vjp": pulled_twice,
        "jvp": lambda: jvp(program, (0.7,), (1.0,))[1],
        "hvp": lambda: hvp(program)(0.7, 1.0),
    }
    calls[mode]()  # compiled, and printed what it prints
    capsys.readouterr()
    got, printed_by_it, *left_by_it = run(calls[mode], capsys)
    assert (printed_by_it, left_by_it) == (printed, left)
    if mode != "hvp":
        assert got == pytest.approx((above - below) / (2 * h), rel=1e-5)


def test_effects_of_a_failing_program_are_those_before_the_failure():
    def fails(x):
        note("before")
        y = x * x
        if y > 0.1:
            raise ValueError("large")
        note("after")
        return y

    EVENTS.clear()
    with pytest.raises(ValueError, match="large"):
        grad(fails)(0.7)
    assert EVENTS == ["before"]


def test_a_manager_is_left_when_its_body_raises():
    def fails(x):
        with told("room"):
            y = x * x
            if y > 0.1:
                raise ValueError("large")
        return y

    with pytest.raises(ValueError, match="large"):
        grad(fails)(0.7)


def test_a_manager_that_swallows_is_refused():
    class Swallows:
        def __enter__(self):
            return self

        def __exit__(self, *raised):
            return True

    def swallowed(x):
        y = x
        with Swallows():
            y = y * x
            if y > 0.1:
                raise ValueError("large")
        return y

    with pytest.raises(RuntimeError, match="a Swallows swallowed the exception ValueError"):
        grad(swallowed)(0.7)
