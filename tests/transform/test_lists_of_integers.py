"""Lists of integers have no shadows, and what is read of them is what they held then."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])


def read_then_changed(x):
    places = [0, 1]
    y = x[places[0]] * x[places[1]]
    places[0] = 2
    return y * x[places[0]]


def at(x, places):
    return x[places[0]] * x[places[-1]]


def changed_after_a_call(x):
    places = [0, 1]
    y = at(x, places)
    places[0] = 3
    places.append(2)
    return y * at(x, places)


def next_place(x, places, also):
    places[0] = places[0] + 1
    return x[places[0]] * x[also[0]] * x[also[1]]


def one_list_twice(x):
    places = [0, 1]
    y = next_place(x, places, places)
    return y * next_place(x, places, places) + x[places[0]]


def taken_at_once(x):
    places = [0, 1, 1]
    y = np.sum(np.take(x, places) ** 2)
    places[1] = 3
    return y + np.sum(x[places] ** 3)


def popped_and_sorted(x):
    places = [3, 1, 2]
    y = x[places.pop()] ** 2
    places.sort()
    y = y * x[places[0]]
    del places[0]
    places.insert(0, 0)
    places.extend([1, 2])
    places.reverse()
    return y * x[places[0]] * x[places[-1]]


def pairs_of_places(x):
    pairs = [(0, 1), (2, 3)]
    s = 0.0
    for j, k in pairs:
        s = s + x[j] * x[k] ** 2
    pairs[0] = (3, 3)
    j, k = pairs[0]
    return s * x[j] * x[k]


def held_beside_arrays(x):
    places = [0, 1]
    both = [places, x * x]
    y = both[1][both[0][1]]
    places[1] = 2
    return y * both[1][both[0][1]]


def counted(x):
    counts = [0, 0]
    s = 0.0
    for j in range(4):
        counts[j % 2] += 1
        s = s + x[j] ** counts[j % 2]
    while counts[0] > 0:
        s = s * x[counts[0]]
        counts[0] -= 1
    return s


def given_out(places):
    places.append(len(places))
    return places


def the_same_list_comes_back(x):
    places = [1]
    same = given_out(places)
    y = x[same[1]] * x[places[0]]
    same[0] = 3
    return y * x[places[0]]


def walk(x, places, n):
    if n == 0:
        return x[places[0]]
    places[0] = n
    y = x[places[0]] * walk(x, places, n - 1)
    places[0] = n
    return y + x[places[0]]


def a_recursion(x):
    return walk(x, [0], 3)


FUNCTIONS = [
    read_then_changed, changed_after_a_call, one_list_twice, taken_at_once, popped_and_sorted, pairs_of_places,
    held_beside_arrays, counted, the_same_list_comes_back, a_recursion,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_was_read_of_a_list_of_integers(function):
    numeric = numeric_gradient(function, X)
    gradient = srcgrad.grad(function)(X)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)
    _, pullback = srcgrad.vjp(function, X)
    for _ in range(2):
        np.testing.assert_array_equal(pullback(1.0)[0], gradient)
    with srcgrad.options(specialise=False):
        np.testing.assert_allclose(srcgrad.grad(function)(X), gradient, rtol=1e-12)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_second_derivative_beside_a_list_of_integers(function):
    gradient = srcgrad.grad(function)
    weights = np.array([0.3, -1.1, 0.7, 0.2])
    expected = numeric_gradient(lambda x: float(gradient(x) @ weights), X)
    np.testing.assert_allclose(weights @ srcgrad.hessian(function)(X), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("function", [read_then_changed, changed_after_a_call, one_list_twice, a_recursion])
def test_such_a_list_has_no_shadow(function):
    gradient = srcgrad.grad(function)
    gradient(X)
    assert "shadow" not in gradient.source and "places_bar" not in gradient.source


def stored_argument(x, places):
    places[0] = 1
    return x[places[0]] * x[places[1]]


def test_a_list_of_the_users_stays_as_it_is():
    places = [0, 2]
    np.testing.assert_allclose(srcgrad.grad(stored_argument)(X, places), [0.0, 1.3, -0.9, 0.0])
    assert places == [0, 2]
