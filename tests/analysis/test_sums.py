"""``v[i] = v[i] - e`` becomes ``v[i] -= e`` where the two are one, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

X = np.array([0.3, -0.7, 1.1, 0.2, 0.9])


def elements(x, a):
    y = 1.0 * x
    for i in range(1, 5):
        y[i] = y[i] - a * y[i - 1] * y[i]
    return np.sum(y * y)


def overlapping_slices(x, a):
    y = 1.0 * x
    y[1:] = y[1:] - y[:-1]
    y[:-1] = y[:-1] + a * y[1:]
    return np.sum(y**3)


def reversed_in_itself(x, a):
    y = a * x
    y[:] = y[:] + y[::-1]
    return np.sum(y**3)


def a_constant(x, a):
    y = a * x
    y[2] = y[2] + 1.5
    return np.sum(y**3)


def the_first_of_the_elements(x, a):
    y = a * x
    for i in range(3):
        y[i] = y[i] + y[4]
        y[4] = y[4] - a * y[i]
    return np.sum(y**3)


def twice_the_place(x, a):
    y = a * x
    y[1] = y[1] + y[1]
    return np.sum(y**3)


def the_index_moves(x, a):
    y = a * x
    i = 1
    t = y[i]
    i = 2
    y[i] = t - a
    return np.sum(y**3)


def the_place_changes(x, a):
    y = a * x
    t = y[1]
    y[1] = a
    y[1] = t - a
    return np.sum(y**3)


def changed_by_a_callee(x, a):
    y = a * x
    y[1] = y[1] - doubled(y)
    return np.sum(y**3)


def doubled(y):
    y[1] = 2.0 * y[1]
    return y[2]


def another_array(x, a):
    y = a * x
    z = 2.0 * y
    z[1] = y[1] - a
    return np.sum(y**3 * z)


def on_the_right(x, a):
    y = a * x
    y[1] = a - y[1]
    return np.sum(y**3)


def read_again(x, a):
    y = a * x
    t = y[1]
    y[1] = t - a
    return np.sum(y**3) * t


def the_sum_is_kept(x, a):
    y = a * x
    r = y[1] - a
    y[1] = r
    y[1] = y[1] * 3.0
    return np.sum(y**3) * r


def a_larger_sum(x, a):
    y = np.zeros((1, 5)) + x
    e = a * y
    z = a * x
    z[:] = z[:] - e
    return np.sum(z**3)


ADDED = [
    elements, overlapping_slices, reversed_in_itself, a_constant, the_first_of_the_elements, twice_the_place,
]  # fmt: skip
STORED = [
    the_index_moves, the_place_changes, changed_by_a_callee, another_array, on_the_right, read_again,
    the_sum_is_kept, a_larger_sum,
]  # fmt: skip


def stores(program):
    """How many stores and how many augmented ones into a user's array the forward sweep holds."""
    text = srcgrad.grad(program, (0, 1)).source_for(X.copy(), 0.6)
    lines = [line.split() for line in text.splitlines()]
    targets = [line for line in lines if line and line[0][:2] in ("y[", "z[") and len(line) > 1]
    return sum(line[1] == "=" for line in targets), sum(line[1] in ("+=", "-=") for line in targets)


@pytest.mark.parametrize("program", ADDED, ids=lambda program: program.__name__)
def test_what_is_added(program):
    assert stores(program)[1] > 0


@pytest.mark.parametrize("program", STORED, ids=lambda program: program.__name__)
def test_what_is_stored(program):
    assert stores(program)[1] == 0


@pytest.mark.parametrize("program", ADDED + STORED, ids=lambda program: program.__name__)
def test_the_gradient_is_that_of_differences(program):
    x_bar, a_bar = srcgrad.grad(program, (0, 1))(X.copy(), 0.6)
    h = 1e-5
    for j in range(X.size):
        e = np.zeros(X.size)
        e[j] = h
        slope = (program(X + e, 0.6) - program(X - e, 0.6)) / (2.0 * h)
        np.testing.assert_allclose(x_bar[j], slope, rtol=1e-6, atol=1e-8)
    slope = (program(X.copy(), 0.6 + h) - program(X.copy(), 0.6 - h)) / (2.0 * h)
    np.testing.assert_allclose(a_bar, slope, rtol=1e-6, atol=1e-8)
    tangent = srcgrad.jvp(program, (X.copy(), 0.6), (np.ones(X.size), 1.0))
    tangent = tangent[1] if isinstance(tangent, tuple) else tangent
    np.testing.assert_allclose(tangent, np.sum(x_bar) + a_bar, rtol=1e-9)


def test_an_array_of_integers_stays_one():
    def program(x):
        y = np.arange(4)
        y[1] = y[1] + 0.75
        return x * y[1]

    assert srcgrad.grad(program)(2.0) == 1.0


def test_a_value_of_another_precision():
    def program(x):
        y = np.zeros(3)
        y[1:] = y[1:] + x * np.ones(2)
        return np.sum(y)

    np.testing.assert_allclose(srcgrad.grad(program)(np.float32(0.5)), 2.0)
