"""Deques hold what lies in them, as lists do: their adjoint is that of their items, once."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

import srcgrad


def two_of_one(y):
    y[0] = y[1]
    s = deque([y, y])
    return np.sum(s[0] * s[-1])


def one_and_another(y):
    y[0] = y[1]
    s = deque([y, y * 2.0], maxlen=2)
    y[2] *= y[0]
    return np.sum(s[0] * s[-1])


def stacked(y):
    z = y if y[0] > 0 else 2.0 * y
    z[-1] = y[0] * y[0]
    q = deque([y[:], y + y], maxlen=2)
    return np.sum(np.stack(q).sum(axis=0) * q[-1])


@pytest.mark.parametrize("f", [two_of_one, one_and_another, stacked])
def test_items_of_a_deque_have_their_adjoint_once(f):
    y = np.array([0.7, -1.2, 0.4])
    expected = [(f(y.copy() + step) - f(y.copy() - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(f)(y), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose([srcgrad.jvp(f, (y,), (step,))[1] for step in np.eye(3)], expected, rtol=1e-7, atol=1e-8)
