"""A variable that is bound again is another variable for memory, unless a read joins the two."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])
Y = np.array([0.2, 0.8, -0.5, 1.1])


# --- apart -----------------------------------------------------------------------------------------------------------
def a_copy_under_the_same_name(x, y):
    x = x.copy()
    x[0] = y[1] * y[2]
    return np.sum(x * x * y)


def stepped(state, u):
    state = state.copy()
    state[0] = state[1] * u
    state[1] = u * u
    return state


def states(x, y):
    s = x * y
    total = 0.0
    for i in range(3):
        s = stepped(s, y[i])
        total = total + np.sum(s * s) * x[i]
    return total


# --- joined, wholly or in part ---------------------------------------------------------------------------------------
def an_alias_of_what_the_name_held(x, y):
    z = x * y
    w = z
    z = z.copy()
    w[0] = y[1] * 2.0
    z[1] = x[2] * w[0]
    return np.sum(z * w * x)


def a_view_of_what_the_name_held(x, y):
    z = x * 2.0
    v = z[1:3]
    z = z * z
    z[0] = v[0] * y[0]
    v[1] = z[2] * y[1]
    return np.sum(z * z) + np.sum(v * v)


def the_same_memory_again(x, y):
    z = x * y
    w = z[::-1]
    z = w
    z[0] = x[1] * z[1]
    w[2] = z[0] * y[3]
    return np.sum(z * w * y)


def on_one_path_only(x, y):
    z = x * y
    if x[0] > 0.0:
        z = z.copy()
        z[1] = y[0]
    z[2] = z[1] * x[3]
    return np.sum(z * z)


def on_the_path_that_is_not_taken(x, y):
    z = x * y
    if x[0] < 0.0:
        z = z.copy()
        z[1] = y[0]
    z[2] = z[1] * x[3]
    return np.sum(z * z)


def around_a_loop(x, y):
    z = x * y
    for i in range(3):
        w = z
        z = z * y[i]
        w[i] = z[i + 1] * x[0]
        z[i] = w[i] * w[i + 1]
    return np.sum(z * w)


def behind_a_break(x, y):
    z = x * 1.0
    for i in range(4):
        z[i] = z[i] * y[i]
        if i == 2:
            break
        z = z * y
    z[0] = z[1] * z[2]
    return np.sum(z * x)


def out_of_a_loop(x, y):
    z = x * y
    while True:
        z = z.copy()
        z[0] = z[1] * x[0]
        if z[0] < 5.0:
            return np.sum(z * z)


def swapped(x, y):
    a, b = x * y, x + y
    for i in range(3):
        a, b = b, a
        a[i] = b[i + 1] * x[i]
    a, b = b * 2.0, a
    b[3] = a[0]
    return np.sum(a * b)


def items_of_a_list(x, y):
    z = [x * y, x + y]
    z = [z[1], z[0] * z[1]]
    z[0][1] = y[0] * y[1]
    w = z[0]
    z = z[1]
    z[0] = w[1] * x[0]
    return np.sum(z * w)


def the_name_inside_an_expression(x, y):
    z = x * y
    n = sum(z.shape[0] for z in [y, x])
    z = z / n
    z[0] = y[1]
    n = len([z for z in (1.0, 2.0)])
    return np.sum(z * z) * n


def added_to_in_place(x, y):
    z = x * y
    w = z
    z += y
    z = z * x
    z *= w
    z[0] = w[1]
    return np.sum(z * w)


def read_where_nothing_is_bound(x, y, bound=True):
    if bound:
        z = x * y
        z[0] = y[1]
        s = np.sum(z * z)
    else:
        s = 0.0
    if bound:
        z = x + y
        z[1] = x[0]
        s = s + np.sum(z * z)
    return s * np.sum(z)


def two_loops_over_one_name(x, y):
    total = 0.0
    for row in np.outer(x, y):
        row = row * 1.0
        row[0] = row[1] * y[2]
        total = total + np.sum(row * row)
    for row in [x * 1.0, y * 2.0]:
        row[1] = row[0] * x[2]
        total = total + np.sum(row * row)
    return total


ALL = [
    a_copy_under_the_same_name, states, an_alias_of_what_the_name_held, a_view_of_what_the_name_held,
    the_same_memory_again, on_one_path_only, on_the_path_that_is_not_taken, around_a_loop, behind_a_break,
    out_of_a_loop, swapped, items_of_a_list, the_name_inside_an_expression, added_to_in_place,
    read_where_nothing_is_bound, two_loops_over_one_name,
]  # fmt: skip


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
@pytest.mark.parametrize("specialise", [True, False], ids=["specialised", "generic"])
def test_each_mode_gives_the_gradient(function, specialise):
    direction = np.array([0.3, -1.0, 0.7, 0.5])
    x, y = X.copy(), Y.copy()
    with srcgrad.options(specialise=specialise):
        found = srcgrad.grad(function, (0, 1))(x, y)
        _, slope = srcgrad.jvp(function, (x, y), (direction, -direction))
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    by_x = numeric_gradient(lambda v: function(v, Y.copy()), X)
    by_y = numeric_gradient(lambda v: function(X.copy(), v), Y)
    np.testing.assert_allclose(found[0], by_x, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], by_y, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(slope, by_x @ direction - by_y @ direction, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "function", [states, an_alias_of_what_the_name_held, a_view_of_what_the_name_held, around_a_loop, swapped]
)
def test_second_derivatives(function):
    found = srcgrad.hessian(function)(X, Y)
    for j in range(4):
        expected = numeric_gradient(lambda v, j=j: srcgrad.grad(function)(v, Y)[j], X)
        np.testing.assert_allclose(found[j], expected, rtol=1e-6, atol=1e-7)


def test_what_comes_in_is_not_stored_into_because_its_copy_is():
    derivative = srcgrad.grad(states)
    derivative(X, Y)
    assert "def stepped_fwd(state, u):" in derivative.source  # without a shadow
    assert "private" not in derivative.source


def test_an_unbound_name_is_still_unbound():
    with pytest.raises(UnboundLocalError):
        srcgrad.grad(read_where_nothing_is_bound)(X, Y, False)
