"""``itertools.groupby`` by keys that do not vary, loops over generators that make functions, and second derivatives of
what is asked for one item after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, options

X = np.array([0.7, 1.3, 0.4])
V = np.array([0.3, -0.8, 1.1])
KEYS = ["a", "a", "b"]


def sums_of_groups(x):
    s = 1.0
    for _, places in itertools.groupby(range(3), key=lambda i: KEYS[i]):
        s = s * sum(x[i] ** 2 for i in places)
    return s


def rows_of_groups(x):
    s = 1.0
    for key, group in itertools.groupby(zip(KEYS, x), key=lambda pair: pair[0]):
        t = 0.0
        for _, v in group:
            t = t * v + v**2
        s = s * t + len(key) * x[0]
    return s


def dict_of_groups(x):
    groups = {}
    for key, group in itertools.groupby(zip(KEYS, x), key=lambda pair: pair[0]):
        groups[key] = sum([v for _, v in group])
    return groups["a"] * groups["b"] ** 2


def lengths_of_groups(x):
    lengths = [len(list(group)) for _, group in itertools.groupby(KEYS)]
    return x[0] ** lengths[0] * x[1]


def parts(x):
    for i in range(2):
        yield x[i : i + 2]
        yield x[i : i + 1]


def functions_in_the_rounds_of_a_generator(x):
    s = 1.0
    for part in parts(x):
        scaled = lambda v: v * part[0] * s
        s = s + scaled(x[2]) * sum(v**2 for v in part)
    return s


def totals_from_a_first_one(x):
    return list(itertools.accumulate(x, lambda a, b: a * b, initial=2.0))[-1] * x[0]


def pairs_of_elements(x):
    return sum(a * b**2 for a, b in itertools.combinations(x, 2))


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [
    sums_of_groups, rows_of_groups, dict_of_groups, lengths_of_groups, functions_in_the_rounds_of_a_generator,
    totals_from_a_first_one, pairs_of_elements,
])  # fmt: skip
@pytest.mark.costly(1)
def test_all_derivatives_are_right(function: Callable[..., Any], specialise: bool) -> None:
    h = 1e-5
    slope = [(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(3)]
    with options(specialise=specialise):
        np.testing.assert_allclose(grad(function)(X), slope, atol=1e-8)
        value, change = jvp(function, (X,), (V,))
        assert value == function(X)
        np.testing.assert_allclose(change, slope @ V, atol=1e-8)
        moved = [grad(function)(X + h * V), grad(function)(X - h * V)]
        np.testing.assert_allclose(hvp(function)(X, V), (moved[0] - moved[1]) / (2 * h), atol=1e-7)
