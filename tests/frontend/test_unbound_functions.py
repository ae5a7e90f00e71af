"""Local functions that a way of the program does not define, or defines later: Python raises where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, value_and_grad

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


def in_a_function_that_calls_it(x, m):
    def outer(v):
        return act(v) * 2.0

    if m:

        def act(v):
            return v * v

    return np.sum(outer(x))


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


@pytest.mark.parametrize("f", [by_branch, by_lambda_in_loop, in_a_function_that_calls_it, what_raises_before])
def test_where_it_is_not_defined_it_raises(f):
    assert np.array_equal(grad(f)(X, 1), 2.0 * X * (2.0 if f is in_a_function_that_calls_it else 1.0))
    with pytest.raises(NameError):
        f(X, 0)
    with pytest.raises(NameError):
        grad(f)(X, 0)


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
