"""Which of two objects Python asks first: the right one, where its class is a subclass of the left one's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad

A = 0.83


class Base:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Base) and self.v > 0.5

    def __lt__(self, other: Any) -> Any:
        return self.v * 3.0

    def __gt__(self, other: Any) -> Any:
        return self.v * 5.0

    def __add__(self, other: Any) -> Any:
        return self.v + 2.0 * other.v

    def __radd__(self, other: Any) -> Any:
        return self.v * 9.0


class Inheriting(Base):
    pass


class Own(Base):
    def __gt__(self, other: Any) -> Any:
        return self.v * other.v * 7.0

    def __radd__(self, other: Any) -> Any:
        return self.v * other.v


class Other:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __lt__(self, other: Any) -> Any:
        return self.v * 2.0


def inherits_equality(a: Any) -> Any:
    return a * 2.0 if Base(a) == Inheriting(0.1) else a * 3.0


def is_unequal(a: Any) -> Any:
    return a * 2.0 if Base(a) != Inheriting(0.1) else a * 3.0


def inherits_an_order(a: Any) -> Any:
    return Base(a) < Inheriting(0.1 * a * a)


def has_the_swapped_one(a: Any) -> Any:
    return Base(a) < Own(a)


def asks_the_left_one_of_no_subclass(a: Any) -> Any:
    return Own(a) > Base(2.0 * a)


def one_of_two_on_the_left(a: Any) -> Any:
    left = Base(a) if a > 0.9 else Other(a)
    return left < Own(0.1)


def one_of_two_on_the_right(a: Any) -> Any:
    right = Base(a) if a > 0.9 else Own(a)
    return Base(a) < right


def items_on_the_right(a: Any) -> Any:
    s = 0.0
    for item in [Base(a), Own(a)]:
        s += Base(a) < item
    return s


def sum_with_one_of_two(a: Any) -> Any:
    right = Own(0.1) if a > 0.5 else Base(0.2)
    return Base(a) + right


def sum_of_one_of_two(a: Any) -> Any:
    left = Base(a) if a > 0.5 else Own(a)
    return left + Own(0.2)


@pytest.mark.parametrize(
    "f",
    [
        inherits_equality,
        is_unequal,
        inherits_an_order,
        has_the_swapped_one,
        asks_the_left_one_of_no_subclass,
        one_of_two_on_the_left,
        one_of_two_on_the_right,
        items_on_the_right,
        sum_with_one_of_two,
        sum_of_one_of_two,
    ],
)
@pytest.mark.costly(2, first=1)
def test_the_operand_of_a_subclass_is_asked_first(f: Callable[[Any], Any]) -> None:
    slope = (f(A + 1e-6) - f(A - 1e-6)) / 2e-6
    value, pullback = srcgrad.vjp(f, A)
    forward = srcgrad.jvp(f, (A,), (1.0,))
    assert value == forward[0] == f(A)
    np.testing.assert_allclose([pullback(1.0)[0], forward[1]], slope, rtol=1e-6)


def test_an_operand_that_may_be_none_is_refused() -> None:
    def f(a: Any) -> Any:
        left = Base(a) if a > 0.5 else None
        return left < Own(0.1)

    with pytest.raises(srcgrad.SrcgradError, match="a call of what may be one of several functions"):
        srcgrad.grad(f)(A)
