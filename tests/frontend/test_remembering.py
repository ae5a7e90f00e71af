"""Local functions under ``functools.cache``, which are refused."""

from __future__ import annotations

import functools
from functools import cache, lru_cache

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad

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


def scales(x):
    @cache
    def scaled(t):
        return x * t

    b = scaled(0.5)
    b[0] = x[1] * 3
    return np.sum(scaled(0.5) ** 2)


def tells_true_from_one(x):
    @cache
    def chosen(n):
        return x[1] * (3 if n is True else 2)

    return chosen(1) + chosen(True)


def calls_itself(x):
    @functools.lru_cache(None)
    def best(n):
        return x[0] if n == 0 else sum([best(k) * x[n] for k in range(n)])

    return best(3)


@pytest.mark.parametrize(
    "f", [stores, is_bounded, takes_any_keyword, hands_on, counts, scales, tells_true_from_one, calls_itself]
)
def test_a_function_made_inside_is_not_remembered(f):
    """Some were once wrong in silence: a dict remembers in other ways than the cache does."""
    with pytest.raises(UnsupportedSyntax, match="a cache of a function that is made inside"):
        grad(f)(POINT)
