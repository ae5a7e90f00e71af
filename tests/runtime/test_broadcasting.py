"""Broadcasting and reductions undone: shapes, dtypes, and what cannot fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from srcgrad.runtime import count, rebroadcast, ties, unbroadcast, unreduce, wins


def test_what_agrees_is_handed_through() -> None:
    g = np.ones(3)
    assert unbroadcast(g, np.zeros(3)) is g
    assert rebroadcast(g, np.zeros(3)) is g
    assert unbroadcast(2.0, 1.0) == 2.0


@pytest.mark.parametrize(
    ("shape", "like"),
    [((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((0, 3), (3,)), ((2, 3), (1, 1)), ((4, 0), (4, 1))],
)
def test_sums_down(shape: Any, like: Any) -> None:
    made = unbroadcast(np.ones(shape), np.zeros(like))
    assert made.shape == like
    assert np.sum(made) == np.prod(shape)
    assert rebroadcast(np.ones(like), np.zeros(shape)).shape == shape


@pytest.mark.parametrize(("shape", "like"), [((3,), (2,)), ((3,), (2, 3)), ((), (3,)), ((1,), (3,)), ((2, 3), (2,))])
def test_what_no_broadcast_made_raises(shape: Any, like: Any) -> None:
    with pytest.raises(ValueError):
        unbroadcast(np.ones(shape), np.zeros(like))


@pytest.mark.parametrize("value", [[1.0], (1.0,), {"a": 1.0}, None, "a"])
def test_containers_are_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        unbroadcast(1.0, value)
    with pytest.raises(TypeError):
        unbroadcast(value, 1.0)


def test_dtypes_follow_the_primal() -> None:
    assert unbroadcast(np.ones((2, 3)), np.zeros(3, np.float32)).dtype == np.float32
    assert type(unbroadcast(np.ones(3), np.float32(1))) is np.float32
    assert type(unbroadcast(np.ones(3), 1.0)) is float
    assert type(unbroadcast(np.float64(2), 1)) is float
    assert type(unbroadcast(np.longdouble(2), 1.0)) is float
    assert type(unbroadcast(np.longdouble(2) * 1j, 1j)) is complex
    assert type(unbroadcast(np.complex64(2 + 1j), np.float32(1))) is np.float32
    assert type(unbroadcast(np.float32(2), 1j)) is complex
    assert unbroadcast(2.0 + 1j, 1.0) == 2.0
    assert unbroadcast(np.ones(3), np.zeros(3, int)).dtype == np.float64
    assert unbroadcast(np.ones(3) * (1 + 2j), np.zeros(3)).dtype == np.float64
    assert unbroadcast(np.ones(3), np.zeros(3, complex)).dtype == np.complex128
    assert type(unbroadcast(np.ones(3), np.array(1.0))) is np.ndarray


def test_unreduce_is_fresh_and_of_the_dtype_of_its_primal() -> None:
    a = np.zeros((2, 3), np.float32)
    assert unreduce(1.0, a).dtype == np.float32
    g = np.arange(3.0)
    made = unreduce(g, a, 0)
    np.testing.assert_array_equal(made, [[0, 1, 2], [0, 1, 2]])
    assert made.flags.writeable and not np.shares_memory(made, g)
    np.testing.assert_array_equal(unreduce(np.ones((2, 1)), a, 1, True), np.ones((2, 3)))
    np.testing.assert_array_equal(unreduce(np.ones(2), a, (-1,)), np.ones((2, 3)))
    assert unreduce(2.0, 1.0) == 2.0


@pytest.mark.parametrize(
    ("shape", "axis", "keepdims"), [((3,), None, False), ((2,), 0, False), ((3,), 0, True), ((2, 3), 0, True)]
)
def test_unreduce_refuses_what_no_reduction_gives(shape: Any, axis: Any, keepdims: bool) -> None:
    with pytest.raises(ValueError):
        unreduce(np.ones(shape), np.zeros((2, 3)), axis, keepdims)


def test_ties_share() -> None:
    a = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    np.testing.assert_allclose(ties(a, np.max(a, 1), 1), [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(ties(a, np.max(a)), [[0, 0.5, 0.5], [0, 0, 0]])
    np.testing.assert_array_equal(ties(np.array([np.nan, 1.0]), np.nan), [1.0, 0.0])  # nan is the greatest of all
    assert wins(1.0, 1.0) == 0.5
    np.testing.assert_array_equal(wins(np.array([0.0, 1.0, 2.0]), 1.0), [0.0, 0.5, 1.0])
    assert wins(np.ones(2, np.float32), np.arange(2.0, dtype=np.float32)).dtype == np.float32


def test_counts() -> None:
    a = np.zeros((2, 3, 4))
    assert (count(a), count(a, 1), count(a, (0, -1))) == (24, 3, 8)
