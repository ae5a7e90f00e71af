"""Functions that are compared: static methods are one function, local functions of one text are not told apart."""

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


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("function", [a_static_method_in_a_list, a_static_method_is_that_of_the_class])
def test_a_static_method_read_through_an_object_is_the_function_of_the_class(function: Any, infer: bool) -> None:
    """It was written as a function of its own, which is another one: value and gradient were those of another branch."""
    with srcgrad.options(infer=infer):
        value, gradient = srcgrad.value_and_grad(function)(POINT)
    differences = [(function(POINT + d) - function(POINT - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    assert value == function(POINT)
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-9)


def makes_two(x):
    def multiple(by):
        return lambda v: v * by

    made = [multiple(x[0]), multiple(x[0])]
    return made[made.index(made[1])](x[1]) * (2.0 if made.index(made[1]) == 1 else x[1])


@pytest.mark.parametrize("infer", [True, False])
def test_local_functions_of_one_text_are_not_told_apart(infer: bool) -> None:
    """They were equal where what they captured was equal, and are two functions in Python."""
    with srcgrad.options(infer=infer), pytest.raises((SrcgradError, TypeError)):
        srcgrad.grad(makes_two)(POINT)
