"""Callees that read parts of an array add to the adjoint that the caller has of it."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])


def pick(a, j):
    return a[j] * a[j + 1]


def once(x):
    return pick(x * x, 1)


def twice_the_same(x):
    return both(x, x)


def both(a, b):
    return a[0] * b[1] + a[1] * b[1]


def in_a_loop(x):
    s = 0.0
    for j in range(3):
        s = s + pick(x, j) * x[j]
    return s


def beside_other_uses(x):
    y = np.sin(x)
    return np.sum(y * x) + pick(y, 0) + pick(x, 2) + y @ x


def part(a, j):
    return a[j : j + 2]


def bound_to_its_argument(x):
    for j in range(2):
        x = part(x, j) * 2.0
        x = np.concatenate((x, x))
    return np.sum(x * x)


def recursive(a, n):
    return a[n] if n == 0 else a[n] * recursive(a, n - 1) + recursive(a, n - 1)


def a_recursion(x):
    return recursive(x, 3)


def leaves_early(a, n):
    for j in range(n):
        if a[j] > 1.0:
            return a[j] * a[0]
        if a[j] < -5.0:
            break
    return a[1]


def early(x):
    return leaves_early(x, 4) * leaves_early(x[::-1], 4) * x[0]


def nested(a, j):
    return pick(a, j) * a[0] + pick(a[1:], 0)


def through_two(x):
    return nested(x, 1) * nested(np.exp(x), 2)


def bound_again(a, j):
    first = a[j]
    a = a * first
    return a[j + 1]


def a_parameter_that_is_bound_again(x):
    return bound_again(x, 0) + bound_again(x, 2)


def view(x):
    return pick(x[1:], 0) * pick(x.reshape(2, 2)[0], 0)


def stored_by_the_caller(x):
    y = x * 2.0
    s = pick(y, 0)
    y[1] = s * x[2]
    return s * pick(y, 1) + pick(y, 0)


def stored_by_the_callee(x):
    y = np.zeros(3)
    fill(y, x, 0)
    fill(y, x, 1)
    return y[0] * y[1]


def fill(y, a, j):
    y[j] = a[j] * a[j + 1]
    y[j] *= a[j]
    return 0


def looked_at(a, j):
    if a[j] > 0.0:
        return a[j] * 2.0
    return 1.0


def unread_on_one_path(x):
    return looked_at(x, 0) * looked_at(x, 1) * looked_at(x, 2)


FUNCTIONS = [
    once, twice_the_same, in_a_loop, beside_other_uses, bound_to_its_argument, a_recursion, early, through_two,
    a_parameter_that_is_bound_again, view, stored_by_the_caller, stored_by_the_callee, unread_on_one_path,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_callee_adds_to_the_adjoint_of_its_argument(function):
    numeric = numeric_gradient(function, X)
    gradient = srcgrad.grad(function)(X)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)
    _, pullback = srcgrad.vjp(function, X)
    for _ in range(2):  # nothing is left of the first in what was saved
        np.testing.assert_array_equal(pullback(1.0)[0], gradient)
    with srcgrad.options(optimise=False):
        np.testing.assert_allclose(srcgrad.grad(function)(X), gradient, rtol=1e-14)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_second_derivative_of_such_a_function(function):
    gradient = srcgrad.grad(function)

    def along(x):
        return np.sum(gradient(x) * np.array([0.3, -1.1, 0.7, 0.2]))

    expected = numeric_gradient(lambda x: float(along(x)), X)
    hessian = srcgrad.hessian(function)(X)
    np.testing.assert_allclose(np.array([0.3, -1.1, 0.7, 0.2]) @ hessian, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(srcgrad.grad(along)(X), expected, rtol=1e-5, atol=1e-7)


def test_a_recursion_makes_no_array_at_each_call():
    gradient = srcgrad.grad(a_recursion)
    gradient(X)
    assert gradient.source.count("zeros_like(") == 1


def test_an_array_of_another_kind():
    x = np.array([1.0, 2.0, 3.0, 4.0], dtype=np.float32)
    assert srcgrad.grad(in_a_loop)(x).dtype == np.float32
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j, 2.0 + 0.0j, 1.0j])
    found = srcgrad.grad(lambda z: np.real(pick(z, 0)))(z)
    np.testing.assert_allclose(found, [z[1], z[0], 0.0, 0.0])
