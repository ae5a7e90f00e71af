"""Arrays that get another shape in place: right where one name holds them, refused where anything else may."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import jvp, options, value_and_grad
from srcgrad.errors import UnsupportedSyntax

X = np.array([1.1, 0.7, 2.3, 0.4])


def reshaped_beside_its_views(x):
    y = np.zeros(4)
    y[:] = x ** 2
    part = y[1:3]
    y.shape = (2, 2)
    row = y[0]
    row *= x[:2]
    part *= x[3]
    y[1, 0] = x[3] * y[0, 1]
    return np.sum(y * y * np.arange(4.0).reshape(2, 2)) + np.sum(row)


def reshaped_in_each_round(x):
    y = np.empty((2, 2))
    for k in range(3):
        y.shape = (4,)
        y[:] = x * (k + 1.0)
        y.shape = (2, -1)
        y[0] *= y[1]
    return np.sum(y * y)


@pytest.mark.parametrize("function", [reshaped_beside_its_views, reshaped_in_each_round])
@pytest.mark.parametrize("way", [{}, {"specialise": False}])
@pytest.mark.costly(2, first=1)
def test_reshaped(function: Callable[..., Any], way: dict[str, bool]) -> None:
    slopes = [(function(X + 1e-6 * e) - function(X - 1e-6 * e)) / 2e-6 for e in np.eye(4)]
    with options(**way):
        value, gradient = value_and_grad(function)(X.copy())
        again, slope = jvp(function, (X.copy(),), (np.ones(4),))
    assert value == again == function(X)
    np.testing.assert_allclose([*gradient, slope], [*slopes, sum(slopes)], rtol=1e-7)


# --- what is refused -------------------------------------------------------------------------------------------------
def another_name(x):
    y = x * 1.0
    z = y
    y.shape = (2, 2)
    return z[1, 0] * z[0, 1]


def in_a_list(x):
    y = x * 1.0
    l = [y]
    y.shape = (2, 2)
    return l[0][1, 0] * y[0, 1]


def an_argument(x):
    x.shape = (2, 2)
    return x[1, 0] * x[0, 0]


def handed_to_a_function(x):

    def f(z):
        return z
    y = x * 1.0
    w = f(y)
    y.shape = (2, 2)
    return w[1, 1] * y[0, 1]


def the_same_object(x):
    y = x * 1.0
    w = np.asarray(y)
    y.shape = (2, 2)
    return w[1, 1] * y[0, 1]


def its_real_part(x):
    y = x * 1.0
    w = y.real
    y.shape = (2, 2)
    return w[1, 1] * y[0, 1]


def in_a_function_inside(x):
    y = x * 1.0

    def g():
        y.shape = (2, 2)
        return y[1, 1]
    return g() * y[0, 1]


@pytest.mark.parametrize("function", [
    another_name, in_a_list, an_argument, handed_to_a_function, the_same_object, its_real_part, in_a_function_inside,
])  # fmt: skip
def test_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedSyntax):
        value_and_grad(function)(X.copy())
