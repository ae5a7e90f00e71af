"""Local functions under ``functools.cache``: which are remembered, and which are refused."""

from __future__ import annotations

import functools
from functools import cache, lru_cache

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad
from srcgrad.runtime.refusals import RefusedType

POINT = np.array([0.7, 1.3, -0.4, 2.1])


def stores(x):
    y = x.copy()

    @cache
    def once(i):
        y[i] *= x[0]

    once(1)
    once(1)
    return np.sum(y * y)


def is_bounded(x):
    y = x.copy()

    @lru_cache(maxsize=1)
    def once(i):
        y[i] *= x[0]
        return y[i]

    return once(1) + once(2) + once(1)


def takes_any_keyword(x):
    @cache
    def chosen(**k):
        return x[k["i"]] ** 2

    return chosen(i=1) + chosen(i=2)


def hands_on(x):
    found = {1: x[0]}

    @cache
    def kept(n):
        same = found
        same[n] = x[1]
        return same[n]

    return kept(2) + kept(2) + len(found) * x[2]


def counts(x):
    n = 0

    @cache
    def kept(i):
        nonlocal n
        n += 1
        return x[i]

    return kept(1) + kept(1) + n * x[2]


@pytest.mark.parametrize("f", [stores, is_bounded, takes_any_keyword, hands_on, counts])
def test_a_function_that_does_more_than_return_is_refused(f):
    """Once wrong in silence: a dict remembers in other ways than the cache does."""
    with pytest.raises(UnsupportedSyntax, match="what a function made in here has returned is remembered"):
        grad(f)(POINT)


def test_what_may_change_is_not_remembered_under_a_number_that_may_vary():
    def f(x):
        @cache
        def scaled(t):
            return x * t

        b = scaled(0.5)
        b[0] = x[1] * 3
        return np.sum(scaled(0.5) ** 2)

    with pytest.raises(RefusedType, match="a ndarray is remembered under a floating-point number, and may change"):
        grad(f)(POINT)


def test_true_alone_is_another_key_than_one():
    def f(x):
        @cache
        def chosen(n):
            return x[1] * (3 if n is True else 2)

        return chosen(1) + chosen(True)

    np.testing.assert_array_equal(grad(f)(POINT), [0, 5, 0, 0])


def test_what_is_made_inside_may_be_stored_into():
    def f(x):
        @functools.lru_cache(None)
        def best(n):
            if n == 0:
                return x[0]
            found = []
            total = x[n]
            for k in range(n):
                found.append(best(k) * x[n])
            total += sum(found)
            return total

        return best(3)

    def plain(x):
        b0 = x[0]
        b1 = x[1] + b0 * x[1]
        b2 = x[2] + b0 * x[2] + b1 * x[2]
        return x[3] + x[3] * (b0 + b1 + b2)

    np.testing.assert_allclose(grad(f)(POINT), grad(plain)(POINT), rtol=1e-14)
