"""What may be None where a method of its class is written: Python raises, whether the method looks at it or not."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from srcgrad import jvp, options, value_and_grad


class Rate:
    def of(self, x):
        return x * 2.0

    def __call__(self, x):
        return x * 4.0

    def __add__(self, x):
        return x * 5.0

    def __getitem__(self, i):
        return 6.0


class Faster(Rate):
    def of(self, x):
        return x * 8.0


class Holder:
    def __init__(self):
        self.rate = None


def found(x):
    return Rate() if x > 3.0 else None


def method(x):
    rate = Rate() if x > 3.0 else None
    return rate.of(x)


def of_two(x):
    rate = Rate() if x > 3.0 else Faster() if x > 2.0 else None
    return rate.of(x)


def called(x):
    rate = Rate() if x > 3.0 else None
    return rate(x)


def added(x):
    rate = Rate() if x > 3.0 else None
    return rate + x


def item(x):
    rate = Rate() if x > 3.0 else None
    return rate[0] * x


def field(x):
    holder = Holder()
    if x > 3.0:
        holder.rate = Rate()
    return holder.rate.of(x)


def result(x):
    return found(x).of(x)


def parameter(x, rate=None):
    if x > 3.0:
        rate = Rate()
    return rate.of(x)


def bound_in_a_loop(x):
    rate = None
    for i in range(2):
        if i > x:
            rate = Rate()
    return rate.of(x)


@pytest.mark.parametrize("function", [
    method, of_two, called, added, item, field, result, parameter, bound_in_a_loop,
])  # fmt: skip
@pytest.mark.parametrize("specialise", [True, False])
def test_none(function: Callable[..., float], specialise: bool) -> None:
    """The method of the class ran, and gave a number and its gradient."""
    with pytest.raises((AttributeError, TypeError)) as wanted:
        function(2.0 if function is not of_two else 1.0)
    x = 2.0 if function is not of_two else 1.0
    with options(specialise=specialise):
        for derivative in (value_and_grad(function), lambda x: jvp(function, (x,), (1.0,))):
            with pytest.raises(wanted.type):
                derivative(x)


def caught(x):
    rate = Rate() if x > 3.0 else None
    try:
        r = rate.of(x)
    except AttributeError:
        r = x * 5.0
    return r * x


def test_none_in_a_try():
    """The handler did not run."""
    assert value_and_grad(caught)(2.0) == pytest.approx((20.0, 20.0))
    assert value_and_grad(caught)(4.0) == pytest.approx((32.0, 16.0))


class Copied:
    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return self.v * 5.0

    def __add__(self, other):
        return self.v * 3.0


def copied(x):
    held = Copied(x) if x > 3.0 else None
    again = copy.copy(held)
    return x * 2.0 if again is None else again.v * x


def reflected(x):
    held = Copied(x) if x > 3.0 else None
    return held + Copied(x)


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(1, first=1)
def test_what_none_may_do(specialise: bool) -> None:
    """A copy of None is None; of ``None + o`` Python calls a method of ``o``, and not that of the other class."""
    with options(specialise=specialise):
        assert value_and_grad(copied)(2.0) == (4.0, 2.0)
        assert value_and_grad(copied)(4.0) == (16.0, 8.0)
        assert value_and_grad(reflected)(4.0) == (12.0, 3.0)
        assert value_and_grad(reflected)(2.0) == (10.0, 5.0)
