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


@pytest.mark.parametrize("infer_first", [False, True])
def test_what_is_saved_for_it_is_not_read(infer_first: bool) -> None:
    """The reverse sweep read what a callee had saved, which no sweep that comes to it has."""
    with options(infer_first=infer_first):
        derivative = value_and_grad(stores_and_raises, (0, 1))
        value, (x_bar, a_bar) = derivative(np.array([1.0, 2.0]), 3.0)
        with pytest.raises(ValueError, match="negative"):
            derivative(np.array([1.0, 2.0]), -0.5)
    assert (value, a_bar) == (9.0, 3.0)
    np.testing.assert_array_equal(x_bar, [3.0, 3.0])
    assert "product_bwd" not in derivative.source
