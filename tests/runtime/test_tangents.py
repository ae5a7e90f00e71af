"""Tangents share memory exactly where the values do."""

from __future__ import annotations

import numpy as np

from srcgrad import runtime


def test_views_that_interleave_keep_the_memory_of_their_tangents() -> None:
    r, r_dot = np.zeros(9), np.arange(9.0)
    values = r[::2], r[1:-3:2], r[3:-1:2]  # the first meets none of the others, which meet
    moved = r_dot[::2], r_dot[1:-3:2], r_dot[3:-1:2]
    made = runtime.tangent_like(moved, values)
    assert all(one is other for one, other in zip(made, moved, strict=True))


def test_values_apart_have_tangents_apart() -> None:
    r_dot = np.arange(4.0)
    first, second = runtime.tangent_like((r_dot, r_dot[1:]), (np.zeros(4), np.zeros(3)))
    second[:] = 0.0
    assert first.tolist() == [0.0, 1.0, 2.0, 3.0]
