"""Functions as Python has them: which are the same, and what a call with too few or too many arguments raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SrcgradError

POINT = np.array([0.7, 1.1])


class Unit:
    def __init__(self, w: Any) -> None:
        self.w = w

    @staticmethod
    def square(v):
        return v * v


def a_static_method_in_a_list(x):
    unit, r = Unit(x[0]), x[1]
    for f in [unit.square, np.sin]:
        r = f(r) if f in (Unit.square, np.cos) else f(r) * unit.w
    return r


def a_static_method_is_that_of_the_class(x):
    f = Unit(x[0]).square
    return f(x[1]) * 2.0 if f is Unit.square else x[1] * x[0]


def test_a_static_method_read_through_an_object_is_the_function_of_the_class() -> None:
    """It was written as a function of its own, which is another one: the other branch was differentiated."""
    for function in (a_static_method_is_that_of_the_class, a_static_method_in_a_list):
        value, gradient = srcgrad.value_and_grad(function)(POINT)
        again, tangent = srcgrad.jvp(function, (POINT,), (np.array([1.0, -0.4]),))
        differences = [(function(POINT + d) - function(POINT - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
        assert value == again == function(POINT)
        np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(tangent, gradient @ [1.0, -0.4], rtol=1e-12)


def makes_two(x):
    def multiple(by):
        return lambda v: v * by

    made = [multiple(x[0]), multiple(x[0])]
    return made[made.index(made[1])](x[1]) * (2.0 if made.index(made[1]) == 1 else x[1])


def test_local_functions_of_one_text_are_not_told_apart() -> None:
    """They were equal where what they captured was equal, and are two functions in Python."""
    with pytest.raises((SrcgradError, TypeError)):
        srcgrad.grad(makes_two)(POINT)


def product(a, b):
    return a * b


def product_and_rest(a, b, *rest):
    return a * b + sum(rest)


def by_star(function, items):
    return function(*items)


def what_is_raised(x, n, function):
    items = []
    for i in range(n):
        items.append(x[i])
    try:
        return by_star(function, items)
    except ValueError:
        return 100.0 * x[0]
    except TypeError:
        return x[0]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("function", [product, product_and_rest])
@pytest.mark.costly(2)
def test_a_star_of_another_length_raises_what_python_raises(function: Any, n: int) -> None:
    """ValueError was raised, which another handler takes."""
    point = np.array([0.7, 1.1, 0.3])

    def f(x):
        return what_is_raised(x, n, function)

    if function is product_and_rest:
        with pytest.raises(SrcgradError, match="a call with stars"):
            srcgrad.grad(f)(point)
        return
    value, gradient = srcgrad.value_and_grad(f)(point)
    differences = [(f(point + d) - f(point - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(value, f(point), rtol=1e-15)
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-9)
