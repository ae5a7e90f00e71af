"""Blocks that end in an exception have no reverse sweep."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import options, value_and_grad


def product(v, w):
    return np.sin(v) * w


def stores_and_raises(x, a):
    y = x * 1.0
    if a < 0.0:
        y[0] = product(a * a, x[1])
        if a < -1.0:
            raise ValueError("far")
        else:
            raise ValueError("negative")
    return np.sum(y) * a


def test_what_is_saved_for_it_is_not_read() -> None:
    """The reverse sweep read what a callee had saved, which no sweep that comes to it has."""
    derivative = value_and_grad(stores_and_raises, (0, 1))
    value, (x_bar, a_bar) = derivative(np.array([1.0, 2.0]), 3.0)
    with pytest.raises(ValueError, match="negative"):
        derivative(np.array([1.0, 2.0]), -0.5)
    assert (value, a_bar) == (9.0, 3.0)
    np.testing.assert_array_equal(x_bar, [3.0, 3.0])
    assert "product_bwd" not in derivative.source


class Held:
    def __init__(self, v):
        self.v = v


def second(u, v):
    return v


def stores_into_a_field_and_raises(x, d, a):
    if a < 0.0:
        m = [a, Held(a)]
        m[1].v = second(x, d)
        return m.shape
    return a * np.sum(x)


def test_what_is_stored_before_it_is_what_a_callee_returned() -> None:
    """The shadow of what the callee had returned was read, and nothing had bound it."""
    arguments = np.ones(2), {"q": np.ones(3)}
    with options(check=True):
        value, (x_bar, _, a_bar) = value_and_grad(stores_into_a_field_and_raises, (0, 1, 2))(*arguments, 3.0)
        with pytest.raises(AttributeError, match="shape"):
            value_and_grad(stores_into_a_field_and_raises, (0, 1, 2))(*arguments, -3.0)
    assert (value, a_bar) == (6.0, 2.0)
    np.testing.assert_array_equal(x_bar, [3.0, 3.0])
