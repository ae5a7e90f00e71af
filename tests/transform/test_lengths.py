"""Loops over lists that grow or shrink meanwhile, through aliases and callees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from srcgrad import grad, jvp, vjp

X = np.array([0.3, 0.7, 0.5])


def grows_through_an_alias(x):
    items = [x[0], x[1]]
    same = items
    s = 0.0
    for e in items:
        s += e * e
        if len(items) < 4:
            same.append(e * 2.0)
    return s


def put(items, e):
    items.append(e * 2.0)


def grows_in_a_callee(x):
    items = [x[0], x[1]]
    s = 0.0
    for e in items:
        s += e * e
        if len(items) < 4:
            put(items, e)
    return s


def grows_by_an_augmented_assignment(x):
    rows = [x * 1.0, x * 2.0]
    same = rows
    s = 0.0
    for row in rows:
        row[0] = s + row[1]
        if len(same) < 3:
            same += [row * 3.0]
        s = s + np.sum(row * row)
    return s


def scale(row, k):
    row[1:] *= k


def rows_are_stored_into(x):
    rows = [x * 1.0, x * 2.0]
    same = rows
    s = 0.0
    for row in rows:
        scale(row, s + 1.0)
        s = s + np.sum(same[0] * row)
    return s


def grows_before_it_is_left(x):
    items = [x[0], x[1]]
    same = items
    s = 0.0
    for e in items:
        s += e * e
        if s > 0.05:
            return s * x[2]
        same.append(e)
    return s


def total(items, same, x):
    s = 0.0
    for e in items:
        s += e * e
        if len(same) < 4:
            same.append(x[2] * e)
    return s


def grows_as_another_argument(x):
    """Once wrong in silence: two arguments that are one list."""
    items = [x[0], x[1]]
    return total(items, items, x)


def grows_while_it_is_mapped(x):
    """Once wrong in silence: no heading shows what a local function is mapped over."""
    items = [x[0], x[1]]

    def grown(e):
        if len(items) < 4:
            items.append(e * x[2])
        return e * e

    return sum(list(map(grown, items)))


FUNCTIONS = (
    grows_through_an_alias,
    grows_in_a_callee,
    grows_by_an_augmented_assignment,
    grows_as_another_argument,
    grows_while_it_is_mapped,
    rows_are_stored_into,
    grows_before_it_is_left,
)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.costly(2, first=1)
def test_every_mode_follows(function: Callable) -> None:
    numeric = np.array([(function(X + h) - function(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)])
    np.testing.assert_allclose(grad(function)(X), numeric, rtol=1e-7)
    np.testing.assert_allclose(vjp(function, X)[1](2.0)[0], 2.0 * numeric, rtol=1e-7)
    np.testing.assert_allclose(jvp(function, (X,), (X,))[1], numeric @ X, rtol=1e-7)
