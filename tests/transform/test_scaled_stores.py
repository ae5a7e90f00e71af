"""Places of arrays that are multiplied and divided: their adjoint stays in its place."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])
Y = np.array([0.7, 0.8, -0.5, 1.1])
DIRECTION = np.array([0.3, -1.0, 0.7, 0.5])


def a_slice_by_an_array(x, y):
    z = x.copy()
    z[1:] *= y[:-1]
    z[:2] /= y[2:]
    return np.sum(z * z)


def an_element_by_an_element(x, y):
    z = x * y
    for i in range(3):
        z[i] *= z[i + 1] * y[i]
        z[i + 1] /= y[i]
    return np.sum(z * x)


def all_of_an_array(x, y):
    z = x * 2.0
    w = z
    z *= y
    z /= x
    return np.sum(w * w * y)


def by_a_number(x, y):
    z = x * y
    s = y[0] * y[1]
    z[1:3] *= s
    z[::2] /= s
    z *= 0.5
    z[0] /= 3
    z *= 2
    return np.sum(z * z) * s


def a_row_over_a_matrix(x, y):
    z = np.outer(x, y)
    z[1:] *= y
    z[:, :2] /= x[1]
    z *= x[:1]
    z[0] *= y
    return np.sum(z * z)


def axes_of_one(x, y):
    z = np.outer(x, y)[:, :1] * 1.0
    z *= x[:1]
    z[:, 0] *= y
    z[:1] /= y[1:2]
    return np.sum(z * z)


def a_part_by_another_part_of_it(x, y):
    z = x * y
    z[1:3] *= z[:2]
    z[:2] *= z[2:]
    z[1:] /= z[:-1]
    return np.sum(z * x)


def a_part_by_itself(x, y):
    z = x + y
    v = z[1:3]
    z[1:3] *= v
    z *= z
    z[:2] /= z[:2] * y[0]
    return np.sum(z * x)


def through_a_view_backwards(x, y):
    z = x * y
    v = z[::-1]
    v[1:] *= y[1:]
    z[1:] *= v[:-1]
    return np.sum(z * v)


def read_before_and_after(x, y):
    z = x * 1.0
    before = np.sum(np.sin(z) * z)
    z[1:] *= y[1:]
    return before * np.sum(np.exp(z)) + np.sum(z[:2] * x[1:3])


def in_a_loop_that_is_left(x, y):
    z = x * y
    for i in range(5):
        z[1:] *= y[0]
        if np.sum(z * z) < 0.5:
            break
        z[:-1] /= x[0] + i
    return np.sum(z * x)


def decayed(z, rate):
    z *= rate
    z[0] /= rate


def in_a_callee(x, y):
    z = x * y
    for i in range(3):
        decayed(z, y[i])
        decayed(z[1:], x[0])
    return np.sum(z * z)


def what_is_multiplied_does_not_vary(x, y):
    z = np.ones(4)
    z[1:] *= x[1:]
    z *= y
    return np.sum(z * z)


def where_the_factor_is_stored_into(x, y):
    z, f = x * 1.0, y * 1.0
    for i in range(3):
        z *= f
        f[i] *= z[i + 1]
        f /= y[0]
    return np.sum(z * f)


def as_sums_are_written(x, y):
    z = x * y
    for i in range(3):
        z[i] = z[i] * z[i + 1]
        z[i + 1] = z[i + 1] / y[i]
    return np.sum(z * z)


def by_integers(x, y):
    z = x * y
    z *= np.arange(1, 5)
    z[1:] /= np.array([2, 3, 4])
    z *= np.array([True, False, True, True])
    return np.sum(z * z)


ALL = [
    a_slice_by_an_array, an_element_by_an_element, all_of_an_array, by_a_number, a_row_over_a_matrix, axes_of_one,
    a_part_by_another_part_of_it, a_part_by_itself, through_a_view_backwards, read_before_and_after,
    in_a_loop_that_is_left, in_a_callee, what_is_multiplied_does_not_vary, where_the_factor_is_stored_into,
    as_sums_are_written, by_integers,
]  # fmt: skip


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"specialise": False}, {"strong_zeros": True}, {"optimise": False}], ids=str)
def test_each_mode_gives_the_gradient(function, options):
    x, y = X.copy(), Y.copy()
    with srcgrad.options(**options):
        found = srcgrad.grad(function, (0, 1))(x, y)
        value, pullback = srcgrad.vjp(function, x, y)
        again = pullback(1.0), pullback(1.0)
        _, slope = srcgrad.jvp(function, (x, y), (DIRECTION, -DIRECTION))
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)
    by_x = numeric_gradient(lambda v: function(v, Y.copy()), X)
    by_y = numeric_gradient(lambda v: function(X.copy(), v), Y)
    assert value == function(X.copy(), Y.copy())
    for gradient in (found, *again):
        np.testing.assert_allclose(gradient[0], by_x, rtol=2e-6, atol=1e-8)
        np.testing.assert_allclose(gradient[1], by_y, rtol=2e-6, atol=1e-8)
    np.testing.assert_allclose(slope, by_x @ DIRECTION - by_y @ DIRECTION, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("function", [a_slice_by_an_array, a_part_by_another_part_of_it, a_part_by_itself, in_a_callee])
def test_second_derivatives(function):
    found = srcgrad.hessian(function)(X, Y)
    expected = numeric_gradient(lambda v: srcgrad.grad(function)(v, Y) @ DIRECTION, X)
    np.testing.assert_allclose(found @ DIRECTION, expected, rtol=1e-5, atol=1e-6)


def test_the_adjoint_of_the_place_is_scaled():
    derivative = srcgrad.grad(a_slice_by_an_array)
    derivative(X, Y)
    assert "z_bar[1:] *= " in derivative.source
    assert "= 0.0" not in derivative.source


def a_factor_without_end(x, y):
    z = x * 1.0
    z[1:] *= y[1:]
    z[1:] = np.where(np.isfinite(z[1:]), z[1:], 0.0)
    return np.sum(z)


def test_strong_zeros():
    y = np.array([1.0, 2.0, np.inf, 3.0])
    with srcgrad.options(strong_zeros=True), np.errstate(invalid="ignore"):
        found = srcgrad.grad(a_factor_without_end)(X, y)
    np.testing.assert_array_equal(found, [1.0, 2.0, 0.0, 3.0])


def rounded(x, y):
    z = x * y
    z[1:] *= y[1:]
    z /= y[0]
    return np.sum(z)


@pytest.mark.parametrize("kind", [np.float32, np.complex128])
def test_other_dtypes(kind):
    x, y = X.astype(kind), Y.astype(kind)
    found = srcgrad.vjp(rounded, x, y)[1](kind(1.0))
    assert found[0].dtype == kind
    np.testing.assert_allclose(found[0], np.concatenate(([1.0], Y[1:] * Y[1:] / Y[0])), rtol=1e-5)


def a_copy_that_is_scaled(x, y):
    z = x.copy()
    z[1:] *= y[:-1]
    z[:2] *= z[2:]
    return np.sum(z * x)


def a_copy_that_was_seen(x, y):
    z = x.copy()
    v = z[1:]
    v[0] = y[0]
    z[1:] *= y[:-1]
    return np.sum(z * v[0])


def a_copy_of_what_is_stored_into(x, y):
    w = x * y
    z = w.copy()
    w[1] = y[0] * y[1]
    z[1:] *= w[1:]
    z = w.copy()
    z[0] /= y[1]
    return np.sum(z * w)


def a_copy_of_a_name_that_is_bound_again(x, y):
    z = x.copy()
    x = y * 2.0
    z[1:] *= x[1:]
    return np.sum(z * x)


def copies_in_a_loop(x, y):
    total = 0.0
    for i in range(3):
        z = x.copy()
        z[i] *= y[i] * z[i + 1]
        z[1:] /= y[0]
        total = total + np.sum(z * z)
    return total


@pytest.mark.parametrize(
    "function",
    [
        a_copy_that_is_scaled, a_copy_that_was_seen, a_copy_of_what_is_stored_into,
        a_copy_of_a_name_that_is_bound_again, copies_in_a_loop,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_what_a_copy_held_is_read_of_its_original(function):
    test_each_mode_gives_the_gradient(function, {})
    test_second_derivatives(function)


def test_the_place_of_a_copy_is_not_copied_again():
    derivative = srcgrad.grad(a_copy_that_is_scaled, (0, 1))
    derivative(X, Y)
    lines = [line for line in derivative.source.splitlines() if "#" not in line]
    assert "".join(lines).count(".copy()") == 2  # of x, and of the place that is scaled next
