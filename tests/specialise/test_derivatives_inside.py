"""Derivatives taken inside of differentiated functions: right in both directions against numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from tests.specialise.test_functions import check

X = np.array([0.7, 1.3, -0.4])


def captured_that_changes(x):
    a = x[0]

    def f(y):
        return a * y**3

    g = grad(f)
    a = a * x[1]
    return g(x[2]) * g(a)


def of_a_factory(x):
    def make(k):
        return lambda y: k * np.sin(y)

    return grad(make(x[0]))(x[1]) * grad(make(x[2]))(x[0])


def of_arrays(x):
    def f(w, k=x[0]):
        return np.sum(w * w * x) * k

    return np.sum(grad(f)(x * 2.0) * grad(f, 0)(x, 3.0))


def twice_and_mixed(x):
    def f(a, b):
        return a * a * b * b * x[2]

    value, (p, q) = value_and_grad(f, argnums=(0, 1))(x[0], x[1])
    return value * p + grad(grad(f), 1)(x[1], q)


def of_what_is_passed(x):
    def slope(f, at):
        return grad(f)(at)

    return slope(np.tanh, x[0]) if x[0] < 0.0 else slope(lambda v: v * v * x[1], x[2])


def descent(x):
    w = x * 1.0
    for k in range(3):
        def loss(w):
            return np.sum((w - x) ** 2) * (k + 1.0) * w[0]
        w = w - 0.1 * grad(loss)(w)
    return np.sum(w)


def with_stores(x):
    def f(a):
        held = np.zeros(2)
        held[0] = a * x[0]
        held[1] = held[0] * a
        return held[1]

    return grad(f)(x[1])


def in_a_container(x):
    steps = [grad(lambda v: v**3 * x[0]), grad(lambda v: v * x[1])]
    return steps[0](x[2]) + steps[1](x[2])


def with_auxiliary(x):
    g, aux = grad(lambda v: (v * v * x[0], v * x[1]), has_aux=True)(x[2])
    return g * aux


PROGRAMS = [
    (captured_that_changes, (X,)), (of_a_factory, (X,)), (of_arrays, (X,)), (twice_and_mixed, (X,)),
    (of_what_is_passed, (X,)), (descent, (X,)), (with_stores, (X,)), (in_a_container, (X,)), (with_auxiliary, (X,)),
]  # fmt: skip
REFUSED: frozenset[str] = frozenset("with_auxiliary of_what_is_passed".split())


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_derivatives(function: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(function, arguments, monkeypatch) == (function.__name__ not in REFUSED)


def _stores(values):
    values[0] = values[0] * values[1]
    return values[0] * values[1]


def test_gradients_by_items_of_a_list_are_numbers():
    """They were arrays without axes, so that ``y *= x[0]`` changed the item that ``y`` was read from."""

    def f(x):
        found = grad(_stores)([x[0], x[1]])
        y = found[0]
        y *= x[0]
        return y * found[0]

    point = np.array([0.7, 1.1])
    value, gradient = value_and_grad(f)(point)
    differences = [(f(point + d) - f(point - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(value, f(point), rtol=1e-15)
    np.testing.assert_allclose(gradient, differences, rtol=1e-7)
