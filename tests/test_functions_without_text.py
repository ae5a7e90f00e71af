"""Functions that have no text of their own are differentiated as calls of them: library functions with a rule, partial
applications, methods of classes."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import numpy as np
import pytest
import scipy.special

from srcgrad import SourceUnavailable, grad, hessian, hvp, jacobian, jvp, options, value_and_grad, vjp

X = np.array([0.3, 1.1])
M = np.array([[2.0, 0.3], [0.4, 1.5]])


def power_sum(p, x, scale=1.0):
    return scale * np.sum(x**p)


class Scaled:
    factor = 2.0

    @classmethod
    def cubes(cls, x):
        return np.sum(cls.factor * x**3)


class Other(Scaled):
    factor = 3.0


CUBES = partial(power_sum, 3)


def test_ufuncs():
    assert grad(np.sin)(1.2) == np.cos(1.2)
    assert np.isclose(grad(scipy.special.gammaln)(1.7), scipy.special.digamma(1.7))
    assert np.allclose(jacobian(np.sin)(X), np.diag(np.cos(X)))
    assert np.isclose(hvp(np.sin)(1.2, 1.0), -np.sin(1.2))
    value, change = jvp(np.multiply, (X, X), (X, None))
    assert np.allclose(value, X * X) and np.allclose(change, X * X)
    assert np.isclose(hessian(grad(np.exp))(1.2), np.exp(1.2))


def test_functions_of_arrays():
    assert np.allclose(grad(np.sum)(X), 1.0)
    assert np.allclose(grad(np.sum)(X, axis=0), 1.0)
    assert np.allclose(grad(np.var)(X, ddof=1), 2.0 * (X - np.mean(X)))
    assert np.allclose(grad(np.linalg.det)(M), np.linalg.det(M) * np.linalg.inv(M).T)
    y, pullback = vjp(np.linalg.solve, M, X)
    of_matrix, of_vector = pullback(y)
    assert np.allclose(of_vector, np.linalg.solve(M.T, y)) and np.allclose(of_matrix, -np.outer(of_vector, y))
    assert np.allclose(jacobian(np.mean)(M, axis=0)[:, :, 0], [[0.5, 0.5], [0.0, 0.0]])


def test_parameters_that_numpy_leaves_out_by_default():
    """They were dropped, so that ``grad(np.clip)(x, 0.0, 1.0)`` raised TypeError."""
    x, chosen = np.array([0.5, 2.0, -1.0]), np.array([True, False, True])
    for specialise in (True, False):
        with options(specialise=specialise):
            assert grad(np.clip)(0.5, 0.0, 1.0) == grad(np.clip, 1)(0.5, 0.7, 1.0) == 1.0
            assert grad(np.clip)(2.0, a_min=None, a_max=1.0) == 0.0
            np.testing.assert_array_equal(grad(np.sum)(x, where=chosen), [1.0, 0.0, 1.0])
            np.testing.assert_array_equal(jacobian(np.clip)(x, -0.5, 1.0), np.diag([1.0, 0.0, 0.0]))
            inside = grad(lambda v: grad(np.clip)(v[0], 0.0, 1.0) * v[1] + np.sum(grad(np.sum)(v, where=chosen)))
            np.testing.assert_array_equal(inside(x), [0.0, 1.0, 0.0])
    assert "where" not in grad(np.sum).source


def test_partial_applications():
    assert np.allclose(grad(CUBES)(X), 3.0 * X**2)
    assert np.allclose(grad(CUBES)(X, scale=2.0), 6.0 * X**2)
    assert np.allclose(grad(partial(CUBES, scale=0.5))(X), 1.5 * X**2)
    assert np.allclose(grad(partial(np.linalg.norm, ord=3))(X), X**2 / np.sum(X**3) ** (2 / 3))
    assert np.allclose(hessian(CUBES)(X), np.diag(6.0 * X))


def test_a_partial_application_stays_as_it_was():
    grad(CUBES)(X)
    assert pickle.loads(pickle.dumps(CUBES)).args == (3,) and vars(copy.copy(CUBES)) == {}


def test_a_partial_application_that_becomes_another():
    squares = partial(power_sum, 2)
    assert np.allclose(grad(squares)(X), 2.0 * X)
    squares.__setstate__((power_sum, (3,), {}, {}))
    assert np.allclose(grad(squares)(X), 3.0 * X**2)


def test_a_partial_application_that_gets_another_keyword():
    weighted = partial(power_sum, 2, scale=1.0)
    slope = grad(weighted)

    def slopes_of_it(x):
        return np.sum(slope(x) ** 2)

    outer = grad(slopes_of_it)
    assert np.allclose(slope(X), 2.0 * X) and np.allclose(outer(X), 8.0 * X)
    weighted.keywords["scale"] = 5.0
    assert np.allclose(grad(weighted)(X), 10.0 * X)
    assert np.allclose(slope(X), 10.0 * X) and np.allclose(outer(X), 200.0 * X)
    del weighted.keywords["scale"]
    assert np.allclose(slope(X), 2.0 * X) and np.allclose(outer(X), 8.0 * X)


def test_methods_of_classes():
    assert np.allclose(grad(Scaled.cubes)(X), 6.0 * X**2)
    assert np.allclose(grad(Other.cubes)(X), 9.0 * X**2)
    assert np.allclose(grad(Other().cubes)(X), 9.0 * X**2)


def slopes(x):
    return np.sum(np.array([grad(np.sin)(v) for v in x]) * x) + np.sum(grad(Other.cubes)(x))


def kept(x):
    return np.sum(CUBES_SLOPE(x) ** 2)


CUBES_SLOPE = grad(CUBES)


def test_inside_of_differentiated_functions():
    assert np.allclose(grad(slopes)(X), np.cos(X) - X * np.sin(X) + 18.0 * X)
    value, slope = value_and_grad(kept)(X)
    assert np.isclose(value, 9.0 * np.sum(X**4)) and np.allclose(slope, 36.0 * X**3)


@pytest.mark.parametrize("function", [np.frompyfunc(abs, 1, 1), np.cos.__call__, float])
def test_what_has_no_rule_is_refused(function):
    with pytest.raises(SourceUnavailable):
        grad(function)(1.0)
