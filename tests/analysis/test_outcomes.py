"""Outcomes of calls: results of recursions, and containers that callees change."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad


def numeric_gradient(function, x):
    """By central differences."""
    x = np.asarray(x, dtype=float)
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        ahead, behind = (x + step)[()], (x - step)[()]
        found[place] = (function(ahead) - function(behind)) / 2e-6
    return found[()]


def falling(x, n):
    return 1.0 if n == 0 else x * falling(x, n - 1)


def even(x, n):
    return 1.0 if n == 0 else x * odd(x, n - 1)


def odd(x, n):
    return x if n == 1 else x * even(x, n - 1)


def first_recursive(x, n):
    if n > 0:
        return x * first_recursive(x, n - 1)
    return x


def deeper_each_time(x, n):
    return [x] if n == 0 else [deeper_each_time(x, n - 1)]


def innermost(x):
    held = deeper_each_time(x, 3)
    while isinstance(held, list):
        held = held[0]
    return held * x


@pytest.mark.parametrize("function", [falling, even, first_recursive])
def test_a_recursion_of_numbers_gives_a_number(function):
    gradient = srcgrad.grad(function)
    assert gradient(0.7, 4) == pytest.approx(numeric_gradient(lambda x: function(x, 4), 0.7), rel=1e-6)
    assert "unbroadcast" not in gradient.source and "require" not in gradient.source


def test_a_result_that_nests_deeper_at_each_call():
    assert srcgrad.grad(innermost)(0.7) == pytest.approx(1.4)


def array_or_number(x, n):
    return np.sum(x) if n == 0 else x * array_or_number(x, n - 1)


def ends_in_an_array(x):
    return np.sum(array_or_number(x, 2) * x)


def test_a_recursion_that_gives_a_number_at_first_and_arrays_later():
    x = np.array([0.3, -0.8, 0.4])
    numeric = numeric_gradient(ends_in_an_array, x)
    np.testing.assert_allclose(srcgrad.grad(ends_in_an_array)(x), numeric, rtol=1e-6)


def count_up(places, by):
    for j in range(len(places)):
        places[j] = places[j] + by


def lets_whole_numbers(x):
    places = [0, 1, 1]
    count_up(places, 1)
    return x[places[0]] * x[places[2]] ** 2


def lets_in_numbers_that_vary(x):
    factors = [1, 2, 3]
    count_up(factors, x[1])
    return factors[0] * x[0] * factors[2]


def exchange(left, right, x):
    left[0] = x
    right.append(2)
    return right[0] * x


def exchanged_with_itself(x):
    both = [1, 2]
    return exchange(both, both, x[0]) * both[0] * both[2]


def put_inside(rows, x):
    rows[0][1] = x * x
    return 0


def a_list_in_a_list(x):
    rows = [[1, 2], [3, 4]]
    put_inside(rows, x[0])
    return rows[0][1] * x[1] * rows[1][1]


def through_another(values, x, n):
    if n > 0:
        through_another(values, x, n - 1)
    values[n] = x * n
    return 0


def put_in_by_a_recursion(x):
    values = [1, 1, 1]
    through_another(values, x[0], 2)
    return values[2] * values[1] + x[1] * values[0]


def extended(values, more):
    values.extend(more)
    return 0


def extended_by_a_callee(x):
    values = [1, 2]
    extended(values, [x[0], x[1]])
    return values[3] * values[2] * values[1]


CHANGED = [
    lets_whole_numbers, lets_in_numbers_that_vary, exchanged_with_itself, a_list_in_a_list, put_in_by_a_recursion,
    extended_by_a_callee,
]  # fmt: skip


@pytest.mark.parametrize("function", CHANGED)
def test_what_a_callee_puts_into_a_list(function):
    x = np.array([0.6, -0.9, 1.3])
    numeric = numeric_gradient(function, x)
    np.testing.assert_allclose(srcgrad.grad(function)(x), numeric, rtol=1e-6, atol=1e-9)
    pushed = srcgrad.jvp(function, (x,), (np.ones(3),))[1]
    assert pushed == pytest.approx(np.sum(numeric), rel=1e-6)
