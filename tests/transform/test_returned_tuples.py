"""Tuples that are made to be returned: what they hold is stored into, and they have no shadow."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import srcgrad
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])
Pair = namedtuple("Pair", "first second")


def both(x, s):
    z = x * s
    z[0] = z[1] * s
    return z, np.sin(z)


def twice(x, s):
    z = x * s
    z[1:] *= z[0]
    return z, z


def views(x, s):
    z = x * s
    z[1] = s
    return z[1:], z, z[0]


def nested(x, s):
    z = x * s
    z[2] = z[0] * z[1]
    return (z, s * s), z[::-1]


def of_two_branches(x, s):
    z = x * s
    z[0] = s
    if s > 0.5:
        return z, x * z[1]
    z[1] = z[2]
    return z * 2.0, z


def stored_into_behind_it(x, s):
    z = x * s
    pair = z, s
    z[1] = z[0] * s
    return pair


def of_a_list(x, s):
    rows = [x * s]
    rows.append(rows[0] * x)
    rows[0][1] = s
    return rows, rows[1]


def of_an_argument(x, s):
    x[0] = x[1] * s
    return x, x[2]


def named(x, s):
    z = x * s
    z[1] *= s
    return Pair(z, z * s)


CALLEES = [both, twice, views, of_two_branches, stored_into_behind_it, of_an_argument]


def summed(callee):
    def program(x):
        first, second = callee(x * 2.0, x[0])[:2]
        return np.sum(first * first) + np.sum(second * x[0])

    return program


def stored_again(callee):
    def program(x):
        total = 0.0
        for i in range(2):
            z = x * (i + 1.0)
            result = callee(z, x[1] + 1.5)
            first, second = result[0], result[1]
            first[1] = first[0] * x[2]
            total = total + np.sum(first * first) + np.sum(second) * np.sum(z)
        return total

    return program


def carried(callee):
    def program(x):
        z, total = x * 1.0, 0.0
        for i in range(3):
            z, part = callee(z, x[0])[:2]
            total = total + np.sum(part) * x[i]
        return total * np.sum(z * z)

    return program


def both_nested(x):
    (z, s), turned = nested(x, x[1] * x[2])
    turned[0] = s
    return np.sum(z * turned) * s


def both_listed(x):
    rows, last = of_a_list(x, x[1] * x[2])
    rows[1][0] = x[3]
    return np.sum(rows[0] * last) + np.sum(rows[1])


def both_named(x):
    pair = named(x, x[1] * x[2])
    return np.sum(pair.first * pair.second)


@pytest.mark.parametrize("around", [summed, stored_again, carried])
@pytest.mark.parametrize("callee", CALLEES, ids=lambda callee: callee.__name__)
def test_callers_get_the_gradient(callee, around):
    test_gradients(around(callee))


@pytest.mark.parametrize("function", [both_nested, both_listed, both_named], ids=lambda function: function.__name__)
def test_gradients(function):
    expected = numeric_gradient(lambda v: function(v.copy()), X)
    for options in ({}, {"specialise": False}):
        with srcgrad.options(**options):
            np.testing.assert_allclose(srcgrad.grad(function)(X), expected, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(srcgrad.jvp(function, (X,), (X,))[1], expected @ X, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("callee", CALLEES, ids=lambda callee: callee.__name__)
def test_pullbacks_of_tuples(callee):
    value, pullback = srcgrad.vjp(callee, X, 0.7)
    expected = callee(X.copy(), 0.7)
    for got, wanted in zip(value, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
    seeds = tuple(np.full(np.shape(part), 1.0 + j)[()] for j, part in enumerate(expected))
    by_x = numeric_gradient(lambda v: sum(np.sum(s * p) for s, p in zip(seeds, callee(v.copy(), 0.7), strict=True)), X)
    for _ in range(2):
        np.testing.assert_allclose(pullback(seeds)[0], by_x, rtol=1e-6, atol=1e-8)


def test_second_derivatives():
    for callee in (both, twice, views):
        function = carried(callee)
        found = srcgrad.hessian(function)(X)
        for j in range(4):
            expected = numeric_gradient(lambda v, j=j, f=function: srcgrad.grad(f)(v)[j], X)
            np.testing.assert_allclose(found[j], expected, rtol=1e-5, atol=1e-5)


def test_a_tuple_that_is_returned_has_no_shadow():
    def program(x):
        z, w = both(x, x[0])
        return np.sum(z * w)

    derivative = srcgrad.grad(program)
    derivative(X)
    assert "accumulate" not in derivative.source
