"""Functions of the program that are called like the built-in ones that a loop goes over: what those would raise of the
arguments is not asked."""

from __future__ import annotations

import pytest

from srcgrad import jvp, value_and_grad


def zip(a, b):
    return [(a, b)]


def reversed(a):
    return [a, a]


def range(a):
    return [a, a]


def enumerate(a):
    return [(1.0, a)]


def items(n):
    return [1.0] * int(n)


def by_zip(x, n):
    s = x
    try:
        for a, b in zip(n, n):
            s = s * a * b * x
    except TypeError:
        s = 7.0
    return s


def by_reversed(x, n):
    s = x
    try:
        for a in reversed(n):
            s = s * a * x
    except TypeError:
        s = 7.0
    return s


def by_range(x, n):
    s = x
    try:
        for a in range(n):
            s = s * a * x
    except TypeError:
        s = 7.0
    return s


def by_enumerate(x, n):
    s = x
    try:
        for i, a in enumerate(n):
            s = s * a * i * x
    except TypeError:
        s = 7.0
    return s


def by_items(x, n):
    s = x
    try:
        for a in items(n):
            s = s * a * x
    except TypeError:
        s = 7.0
    return s


def by_a_parameter(x, n, range=lambda a: [a, a]):
    s = x
    try:
        for a in range(n):
            s = s * a * x
    except TypeError:
        s = 7.0
    return s


def by_a_local_function(x, n):
    def zip(a, b):
        return [(a, (b, a))]

    s = x
    try:
        for a, (b, c) in zip(n, n):
            s = s * a * b * c * x
    except TypeError:
        s = 7.0
    return s


@pytest.mark.parametrize(
    "function",
    [by_zip, by_reversed, by_range, by_enumerate, by_items, by_a_parameter, by_a_local_function],
    ids=lambda function: function.__name__,
)
@pytest.mark.costly(2)
def test_what_is_called_is_the_program_s(function):
    expected = function(0.7, 2.0)
    slope = (function(0.7 + 1e-6, 2.0) - function(0.7 - 1e-6, 2.0)) / 2e-6
    for found in (value_and_grad(function)(0.7, 2.0), jvp(function, (0.7, 2.0), (1.0, 0.0))):
        assert found == pytest.approx((expected, slope), rel=1e-7)
