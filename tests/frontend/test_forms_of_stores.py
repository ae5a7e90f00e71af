"""Calls that store, in the rarer forms that NumPy takes or refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import srcgrad


def both(f, *args):
    """Value and tangent, which the pullback's gradient agrees with."""
    value, tangent = srcgrad.jvp(f, args, tuple(np.ones_like(a) for a in args))
    again, pullback = srcgrad.vjp(f, *args)
    gradients = pullback(np.ones_like(again))
    assert np.array_equal(value, f(*args)) and np.array_equal(value, again) and type(value) is type(f(*args))
    assert np.isclose(np.sum(tangent), sum(np.sum(g) for g in gradients))


def test_one_output_at_its_place_of_a_function_of_two_results():
    def f(x):
        quotient, rest = np.divmod(x, 0.7, np.zeros(3))
        return quotient + rest * x

    x = np.array([0.3, 1.2, 2.5])
    both(f, x)
    with pytest.raises(TypeError, match="give an output for each"):
        srcgrad.grad(lambda x: np.sum(special.fresnel(x[0], np.zeros(3))[1]))(x)


def test_an_output_without_axes_of_a_product_is_refused():
    x = np.array([0.3, 1.2, 2.5])
    with pytest.raises(TypeError, match="np.dot returns a number"):
        srcgrad.vjp(lambda x: np.dot(x, x, out=np.zeros(())), x)


@pytest.mark.parametrize("f", [
    lambda x: np.rint(x[0], x[1], x[0], dtype=np.float32),
    lambda x: np.sin(x, np.zeros(3), np.zeros(3)),
])
def test_more_positional_arguments_than_a_ufunc_takes_are_refused(f):
    with pytest.raises(srcgrad.errors.SrcgradError, match="3 arguments are given"):
        srcgrad.vjp(f, np.ones(3))


def test_truth_values_are_numbers_to_put():
    def f(x):
        u = np.zeros((2, 3))
        np.put(u, np.array([[True, False, True], [False, False, True]]), x)
        u.put(np.array([False, True]), 2.0 * x[1:])
        return u

    both(f, np.array([0.3, 1.2, 2.5]))


@pytest.mark.parametrize(("shape", "axis"), [((1, 3), None), ((3,), 1)])
def test_places_along_an_axis_have_the_axes_that_numpy_asks_for(shape, axis):
    def f(x):
        u = np.zeros((3, 3))
        np.put_along_axis(u, np.reshape(np.arange(3), shape), x, axis)
        return u

    for call in (f, lambda x: srcgrad.vjp(f, x)):
        with pytest.raises(ValueError, match="dimension"):
            call(np.ones(3))


def test_a_list_to_the_power_of_an_array_in_place():
    def f(x):
        u = [1.0, 2.0, 3.0]
        u **= x
        return u

    both(f, np.array([0.3, 1.2, 2.5]))
