"""Views that are read by parts add to the adjoint of the array that they show."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

PLACES = np.array([0, 2, 0])
W = np.array([[0.6, -0.9, 1.3], [0.4, 0.2, -0.7], [1.1, 0.5, 0.8]])


def ends(v, s):
    return v[0] * s + v[-1] * v[1]


def whole(v):
    return np.sum(v * v)


def by_parts(w):
    s = 0.0
    for i in range(3):
        row = w[i]
        s = s + row[0] * row[1] * row[2]
    return s


def by_a_callee(w):
    s = 1.0
    for i in range(3):
        row = w[i]
        s = s + ends(row, s)
    return s


def a_view_of_a_view(w):
    block = w[1:]
    row = block[0]
    column = block[:, 1]
    return row[0] * row[2] * column[1] + ends(column, row[1])


def also_as_a_whole(w):
    row = w[1]
    s = row[0] * row[1]
    return s * whole(row) + ends(row, s)


def behind_other_uses_of_the_array(w):
    s = np.sum(w * w)
    row = w[1]
    t = row[0] * s
    s = s + np.sum(np.sin(w)) * t
    t = t * row[1]
    return s * t + np.sum(w) * row[2]


def read_in_a_branch(w):
    row = w[0]
    s = row[1]
    if s < 0.0:
        s = s * row[0]
    return s * row[2]


def read_behind_a_loop(w):
    for i in range(3):
        row = w[i]
        s = row[0]
    return s * row[1]


def left_between(w):
    s = 0.0
    for i in range(3):
        row = w[i]
        s = s + row[0]
        if s > 0.9:
            break
        s = s * row[1]
    return s * s


def returned_between(w):
    s = 1.0
    for i in range(3):
        row = w[i]
        s = s + row[0]
        if s > 1.9:
            return s * s
        s = s * row[1] + ends(row, s)
    return s


def the_array_is_bound_again(w):
    row = w[1]
    s = row[0] * row[1]
    w = w * s
    return np.sum(w * w) * row[2]


def the_array_is_made_in_the_loop(w):
    s = 1.0
    for i in range(3):
        v = w * s
        row = v[i]
        s = s + row[0] * row[1] + np.sum(v)
    return s


def no_pass_at_all(w):
    s = np.sum(w)
    for i in range(0):
        row = w[i]
        s = s + row[0] * row[1]
    return s


def returned_by_what_is_read(w):
    row = w[1]
    part = row[1:]
    total = part
    return np.sum(total * total) * row[0]


def the_whole_by_an_ellipsis(w):
    v = w[...]
    row = v[0]
    turned = w.T[1]
    return row[0] * row[1] * turned[2] + v[2, 2]


def stored_into(w):
    v = w * 1.0
    row = v[0]
    row[1] = row[0] * row[2]
    part = w[2]
    return np.sum(v * v) * part[0] * part[1]


def at_many_places(w):
    """The same place more than once, and places that the program computes; around it, the array itself."""
    row, total = w[1], np.sum(w[:, PLACES] ** 3)
    total = total + np.sum(row[PLACES] ** 3) * row[0]
    return total + np.sum(w[PLACES] ** 2) * np.sum(w[2][np.argsort(w[0])] ** 3 * np.arange(3.0))


def where_a_mask_is_true(w):
    row = w[1]
    return np.sum(row[w[0] > 0.0] ** 3) * np.sum(w[0][np.where(w[2] > 0.6)] ** 2)


def a_branch_is_passed(w):
    """Nothing but the view reads the array behind the branch."""
    s = w[0, 1] * np.sum(w[PLACES] ** 2)
    row, column = w[1, 0:3], w[:, 1]
    if s < 0.0:
        s = s * (column @ column)
    return s * np.sum(row[PLACES] ** 3) * row[1]


def a_loop_is_passed(w):
    turned = w[-1][::-1]
    s = by_parts(w)
    for i in range(2):
        row = w[i]
        s = s + row[0] * s * s
    k = 0
    while k < 2:
        s, k = 0.5 * s, k + 1
    return s * turned[0] * turned[1]


def an_exit_is_passed(w):
    s, row = 0.0, w[1]
    for i in range(3):
        s = s + w[i, 0] * w[0, i]
        if s > 0.8:
            break
        s = s + w[2, i]
    return s * row[0] * row[2]


ALL = [
    by_parts, by_a_callee, a_view_of_a_view, also_as_a_whole, behind_other_uses_of_the_array, read_in_a_branch,
    read_behind_a_loop, left_between, returned_between, the_array_is_bound_again, the_array_is_made_in_the_loop,
    no_pass_at_all, returned_by_what_is_read, the_whole_by_an_ellipsis, stored_into, at_many_places,
    where_a_mask_is_true, a_branch_is_passed, a_loop_is_passed, an_exit_is_passed,
]  # fmt: skip


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"optimise": False}], ids=str)
def test_gradients_are_those_of_numbers(function, options):
    expected = numeric_gradient(function, W)
    with srcgrad.options(**options):
        np.testing.assert_allclose(srcgrad.grad(function)(W), expected, rtol=1e-6, atol=1e-8)
        value, pullback = srcgrad.vjp(function, W)
        for _ in range(2):
            np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(srcgrad.grad(function)(W.T), numeric_gradient(function, W.T), rtol=1e-6, atol=1e-8)
    assert value == function(W)


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
def test_second_derivatives(function):
    found = srcgrad.hessian(function)(W)
    for place in np.ndindex(3, 3):
        expected = numeric_gradient(lambda v, place=place: srcgrad.grad(function)(v)[place], W)
        np.testing.assert_allclose(found[place], expected, rtol=1e-6, atol=1e-7)


def test_a_view_has_no_zeros_of_its_own():
    for function in (by_parts, by_a_callee):
        derivative = srcgrad.grad(function)
        derivative(W)
        assert "row_bar = w_bar[i]" in derivative.source
        assert derivative.source.count("zeros_like(") == 1
