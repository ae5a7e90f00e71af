"""Local functions that a way of the program does not define, or defines later: Python raises where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, value_and_grad
from srcgrad.programs import options

X = np.array([1.0, 2.0, 3.0])


def by_branch(x, m):
    if m:

        def act(v):
            return v * v

    return np.sum(act(x))


def by_lambda_in_loop(x, m):
    for _ in range(m):
        act = lambda v: v * v
    return np.sum(act(x))


def what_raises_before(x, m):
    try:
        if not m:
            raise ValueError

        def act(v):
            return v * v

    except ValueError:
        pass
    return np.sum(act(x))


def in_what_may_suppress(x, m):
    with np.errstate(all="ignore"):
        if not m:
            return np.sum(x)
        act = np.sin
    return np.sum(act(x))


@pytest.mark.parametrize("f", [by_branch, by_lambda_in_loop, what_raises_before])
@pytest.mark.parametrize("specialise", [True, False])
def test_where_it_is_not_defined_it_raises(f, specialise):
    with options(specialise=specialise):
        assert np.array_equal(grad(f)(X, 1), 2.0 * X)
        assert jvp(f, (X, 1), (np.ones(3), None))[1] == 12.0
        np.testing.assert_allclose(hvp(lambda x: f(x, 1))(X, np.ones(3)), 2.0)
        for derivative in (f, grad(f), lambda x, m: jvp(f, (x, m), (x, None))):
            with pytest.raises(NameError):
                derivative(X, 0)


def test_on_ways_that_leave_it_need_not_be_defined():
    assert np.array_equal(grad(in_what_may_suppress)(X, 0), np.ones(3))
    assert np.allclose(grad(in_what_may_suppress)(X, 1), np.cos(X))


def test_a_builtin_that_the_function_binds_later_is_not_the_builtin():
    def f(x):
        y = abs(x)  # noqa: F823
        abs = lambda v: v * 2.0
        return np.sum(y)

    with pytest.raises(UnboundLocalError):
        value_and_grad(f)(X)


def test_a_way_that_uses_what_it_defined():
    def f(x, m):
        if m:

            def act(v):
                return v * v

        y = x
        if m:
            y = act(x)
        return np.sum(y)

    assert np.array_equal(grad(f)(X, 1), 2.0 * X)
    assert np.array_equal(grad(f)(X, 0), np.ones(3))


def by_another_name(x, n):
    def relu(v):
        return np.maximum(v, 0.0) * v

    for _ in range(n):
        act = relu
        x = act(x)
    return np.sum(act(x))


def recursive_in_a_branch(x, m):
    if m:

        def power(v, n):
            return v if n == 1 else v * power(v, n - 1)

    return np.sum(power(x, 3) if m else x)


def under_a_context(x, m):
    with np.errstate(all="ignore"):

        def loss(v):
            return np.sum(v * v)

    return grad(loss)(x)[0] * m


def before_what_it_may_call(x, n):
    def even(v, n):
        return v if n == 0 else odd(v, n - 1)

    y = even(x, 0)

    def odd(v, n):
        return v * v if n == 0 else even(v, n - 1)

    return np.sum(odd(y, n))


def in_each_case(x, m):
    match m:
        case 0:

            def act(v):
                return v * 2.0

        case _:
            raise ValueError
    return np.sum(act(x))


@pytest.mark.parametrize("f, m", [
    (by_another_name, 1), (recursive_in_a_branch, 1), (recursive_in_a_branch, 0), (under_a_context, 2),
    (before_what_it_may_call, 0), (in_each_case, 0),
])  # fmt: skip
def test_ways_that_define_it(f, m):
    slopes = [(f(X + 1e-6 * unit, m) - f(X - 1e-6 * unit, m)) / 2e-6 for unit in np.eye(3)]
    np.testing.assert_allclose(grad(f)(X, m), slopes, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X, m), (np.ones(3), None))[1], np.sum(slopes), rtol=1e-6)


def test_what_runs_last_reads_it():
    def f(x, m):
        try:
            try:
                if m:
                    raise ValueError

                def act(v):
                    return v * 5.0

            finally:
                s = act(x[0])
        except NameError:
            s = x[0] * 3.0
        except ValueError:
            s = x[0]
        return s

    assert f(X, 1) == 3.0
    assert grad(f)(X, 0)[0] == 5.0
    with pytest.raises(NameError):  # in front of the handlers: the gradient of another way would be wrong
        grad(f)(X, 1)
