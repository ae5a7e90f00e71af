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


def into_a_list(x):
    u = [1.0, 2.0, 3.0]
    u **= x
    return u


@pytest.mark.parametrize("f, words", [
    (lambda x: np.rint(x[0], x[1], x[0], dtype=np.float32), "a call that stores into an array"),
    (lambda x: np.sin(x, np.zeros(3), np.zeros(3)), "a call that stores into an array"),
    (lambda x: np.divmod(x, 0.7, np.zeros(3))[1], "stores some of its results into arrays"),
    (lambda x: special.fresnel(x[0], np.zeros(3))[1], "a call that stores"),
    (lambda x: np.dot(x, x, out=np.zeros(())), "a product that may be a number, into an output"),
    (into_a_list, "this augmented assignment to a container"),
])  # fmt: skip
def test_stores_in_other_forms_are_refused(f, words):
    with pytest.raises(srcgrad.errors.SrcgradError, match=rf"(?s){words}.*\^"):
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


def doubled_into(w, v):
    w *= v
    return w


def more_axes_in_place(x):
    w = np.array([x[0], x[1]])
    try:
        w **= np.ones((1, 2)) * x[2]
    except ValueError:
        w += x[2] * 2.0
    return np.sum(w * w)


def more_axes_in_a_callee(x):
    w = x[:1] * 1.0
    try:
        w = doubled_into(w, x[1:2].reshape((1, 1)))
    except ValueError:
        w = w - x[2] * 2.0
    return np.sum(w * x[0])


@pytest.mark.parametrize("changed", [{}, {"specialise": False}], ids=str)
@pytest.mark.parametrize("f", [more_axes_in_place, more_axes_in_a_callee])
@pytest.mark.costly(2)
def test_what_changes_an_array_in_place_has_its_axes(f, changed):
    """A store takes axes of length 1 away; NumPy raises ValueError, which took another branch."""
    at = np.array([0.7, 1.3, 1.9])
    slopes = [(f(at + 1e-6 * e) - f(at - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    with srcgrad.options(**changed):
        assert srcgrad.grad(f)(at) == pytest.approx(np.array(slopes), rel=1e-5)
        assert srcgrad.jvp(f, (at,), (np.eye(3)[1],))[1] == pytest.approx(slopes[1], rel=1e-5)


def added_in_place(x, y):
    z = x.copy()
    z += y
    return np.sum(z * z) * z.itemsize


def test_an_array_keeps_its_shape_and_dtype_where_nothing_is_known_of_it():
    """``z += y`` of an array that nobody else sees was ``z = z + y``, of another shape or dtype."""
    x, y = np.array([0.5, 1.2], np.float32), np.array([1.0, 2.0])
    with srcgrad.options(specialise=False):
        np.testing.assert_allclose(srcgrad.grad(added_in_place)(x, y), 2.0 * (x + y) * 4)
        np.testing.assert_allclose(srcgrad.jvp(added_in_place, (x, y), (x, None))[1], 2.0 * (x + y) @ x * 4)
    for call in (srcgrad.grad(added_in_place), lambda x, y: srcgrad.jvp(added_in_place, (x, y), (x, None))):
        with srcgrad.options(specialise=False), pytest.raises(ValueError):
            call(np.array([[1.0], [2.0]]), y)
