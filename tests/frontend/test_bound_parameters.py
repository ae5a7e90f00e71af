"""A parameter that a branch binds to an object may be what it was: each was silently wrong, or an AttributeError, in
programs that are compiled for any arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax


class Doubling:
    """Its methods do not tell what they are methods of."""

    size = 7.0

    def __add__(self, other):
        return other * 2.0

    def __neg__(self):
        return 7.0

    def __getitem__(self, index):
        return 5.0

    def dot(self, other):
        return np.sum(other) * 3.0


def added(x, y):
    if x[0] > 50.0:
        y = Doubling()
    return np.sum((y + x) * x)


def negated(x, y):
    for v in x:
        if v > 50.0:
            y = Doubling()
    return np.sum(-y * x)


def indexed(x, y):
    for v in x:
        try:
            y = y * v
        except ValueError:
            y = Doubling()
    return y[0] * x[1]


def called(x, y):
    while x[0] > 50.0:
        y = Doubling()
        x = x - 1.0
    return y.dot(x)


def read(x, y):
    if x[0] > 50.0:
        y = Doubling()
    return y.size * x[0]


def by_default(x, y=None):
    if y is None:
        y = Doubling()
    return y.dot(x) + np.sum(y + x)


X, Y = np.array([0.7, 1.1, -0.4]), np.array([0.3, -0.8, 1.9])


@pytest.mark.parametrize(
    ("function", "specialise"),
    [(added, True), (added, False), (negated, True), (negated, False), (by_default, True)],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_what_it_was(function: Any, specialise: bool) -> None:
    with srcgrad.options(specialise=specialise):
        value, found = srcgrad.value_and_grad(function)(X, Y)
    assert value == function(X, Y)
    slopes = [(function(X + step, Y) - function(X - step, Y)) / 2e-5 for step in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [indexed, called, read], ids=lambda f: f.__name__)
def test_an_array_or_an_object_is_not_asked_for_more_than_an_operator(function: Any) -> None:
    for specialise in (True, False):
        with srcgrad.options(specialise=specialise), pytest.raises(UnsupportedSyntax) as error:
            srcgrad.grad(function)(X, Y)
        assert error.value.span.known


def test_the_object() -> None:
    assert list(srcgrad.grad(by_default)(X)) == [5.0, 5.0, 5.0]
    assert list(srcgrad.grad(called)(X, Doubling())) == [3.0, 3.0, 3.0]


class Sized:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        return self.x * (i + 1)

    def __mul__(self, other):
        return self.x * other * 7.0


def item_of(p, x):
    if x > -5.0:
        p = Sized(x)
    return p[1]


def times(p, x):
    if x > -5.0:
        p = Sized(p)
    return p * x


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [lambda x: item_of([x, x], x), lambda x: times(x, x)], ids=["item", "times"])
@pytest.mark.costly(2, first=1)
def test_the_object_where_a_number_may_be(function: Any, specialise: bool) -> None:
    slope = (function(0.7 + 1e-6) - function(0.7 - 1e-6)) / 2e-6
    with srcgrad.options(specialise=specialise):
        assert srcgrad.grad(function)(0.7) == pytest.approx(slope)
        assert srcgrad.jvp(function, (0.7,), (1.0,))[1] == pytest.approx(slope)


def by_an_inner_function(x, y):
    def bound():
        nonlocal y
        if x > 0.5:
            y = Sized(x)

    bound()
    return y * x


def put(held, x):
    if x > 0.5:
        held[0] = Sized(x)


def put_by_a_callee(x, y):
    held = [y, x]
    put(held, x)
    return held[0] * x


def unpacked_after_a_callee(x, y):
    held = [y, x]
    put(held, x)
    first, _ = held
    return first * x


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function", [by_an_inner_function, put_by_a_callee, unpacked_after_a_callee], ids=lambda f: f.__name__
)
@pytest.mark.costly(2, first=1)
def test_objects_that_a_callee_puts_in_place_of_numbers(function: Any, specialise: bool) -> None:
    with srcgrad.options(specialise=specialise):
        assert srcgrad.value_and_grad(function)(0.4, 2.0) == pytest.approx((0.8, 2.0))
        assert srcgrad.value_and_grad(function)(0.7, 2.0) == pytest.approx((3.43, 9.8))
        assert srcgrad.jvp(function, (0.7, 2.0), (1.0, 0.0))[1] == pytest.approx(9.8)
