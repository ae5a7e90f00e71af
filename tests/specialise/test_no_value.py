"""Variables that have no value where they are read, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import jvp, options, value_and_grad


def read_after_del(x):
    v = x[0]
    del v
    return v  # noqa: F821


def captured_by_a_pattern_that_fails(x):
    ys = [x[0], x[1], x[0]]
    match ys:
        case [p, _]:
            r = p
    return r * x[0]


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (read_after_del, UnboundLocalError, "'v'"),
        (captured_by_a_pattern_that_fails, UnboundLocalError, "'r'"),
    ],
)
def test_a_variable_without_a_value_is_named(function, error, words):
    """Once a NameError of a name that the compiler had made, or that is no variable of the emitted module."""
    x = np.array([2.0, 1.0])
    with pytest.raises(UnboundLocalError):
        function(x)
    with pytest.raises(error, match=words):
        value_and_grad(function)(x)


class Held:
    def __init__(self, w):
        self.w = w


HELD, ENTRIES = Held(1.0), {}


def too_few(a, items):
    u, v = items
    return a * u * v


def most_of_nothing(a, items):
    return a * max(items[1:])


def most_of_nothing_by_key(a, items):
    return a * max(items[1:], key=lambda v: -v)


def field_of_nothing(a, items):
    return a * ENTRIES["k"].w


def sum_of_none(a, items):
    return a + sum(None)


def field_of_none(a, items):
    z = None
    return z.w * a


def missing_field(a, items):
    z = HELD.nothing
    return z * a


@pytest.mark.parametrize("way", [{}])
@pytest.mark.parametrize(
    "function",
    [too_few, most_of_nothing, most_of_nothing_by_key, field_of_nothing, sum_of_none, field_of_none, missing_field],
)
def test_what_certainly_raises_raises_what_python_raises(function, way):
    """Once an AssertionError: what raises was left out, as nobody reads its value."""
    with pytest.raises(Exception) as expected:
        function(1.0, [2.0])
    for derivative in (value_and_grad, lambda f: lambda *given: jvp(f, given, (1.0, [0.0]))):
        with options(**way), pytest.raises(type(expected.value)):
            derivative(function)(1.0, [2.0])
