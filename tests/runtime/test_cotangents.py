"""Cotangents of numbers, arrays and containers: zeros, sums, accumulation, the doors."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from srcgrad.runtime import add, add_at, as_cotangent, as_list, own, pack_like, untake, zeros_like

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("x", "zero"),
    [
        (2.5, 0.0),
        (3, 0.0),
        (True, 0.0),
        (2j, 0j),
        (np.float32(2), np.float32(0)),
        (np.int64(2), 0.0),
        ((1.0, [2, None]), [0.0, [0.0, None]]),
        ({"w": 1.0, "name": "a"}, {"w": 0.0, "name": None}),
        ("text", None),
        (len, None),
    ],
)
def test_zero_of(x: Any, zero: Any) -> None:
    made = zeros_like(x)
    assert made == zero
    assert type(made) is type(zero)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_zero_of_an_array_keeps_its_floating_dtype(dtype: Any) -> None:
    assert zeros_like(np.ones((2, 3), dtype)).dtype == dtype
    assert zeros_like(np.ones(2, int)).dtype == np.float64
    assert zeros_like(np.ones(2, bool)).dtype == np.float64
    assert zeros_like(range(2, 5)) == [0.0, 0.0, 0.0]
    assert zeros_like(np.array(["a"])) is None
    assert type(zeros_like(np.array(1.0))) is np.ndarray


def test_sum_is_deep_fresh_and_takes_none_for_zero() -> None:
    a = np.ones(2)
    assert add(1.0, 2.0) == 3.0
    assert add(None, None) is None
    assert add((1.0, None), [2.0, 3.0]) == [3.0, 3.0]
    assert add({"a": 1.0}, {"a": 2.0, "b": 1.0}) == {"a": 3.0, "b": 1.0}
    for made in (add(a, None), add(None, a)):
        assert made is not a and not np.shares_memory(made, a)
    assert add([a], None)[0] is not a


@pytest.mark.parametrize(
    ("a", "b"), [(np.ones(2), np.ones(3)), (np.ones((3, 1)), np.ones(3)), ([1.0], [1.0, 2.0]), ([1.0], 2.0), ({}, 1.0)]
)
def test_a_sum_of_unlike_cotangents_raises(a: Any, b: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        add(a, b)


def test_accumulation_meets_a_place_twice() -> None:
    buffer = np.zeros(3)
    add_at(buffer, [0, 0, 2], np.array([1.0, 2.0, 4.0]))
    add_at(buffer, 1, 5.0)
    add_at(buffer, np.array([True, False, False]), 10.0)
    add_at(buffer, (slice(1, None),), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(buffer, [13.0, 5.5, 4.5])
    matrix = np.zeros((2, 2))
    add_at(matrix, ([0, 0], 1), np.array([1.0, 2.0]))
    assert matrix[0, 1] == 3.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.float16])
@pytest.mark.parametrize("kind", [np.int16, np.int64, np.uint8])
@pytest.mark.parametrize("width", [30, 31])
def test_many_elements_are_accumulated_as_numpy_adds_them(dtype: Any, kind: Any, width: int) -> None:
    """More than a thousand are added at their numbers in one row: no number may wrap around in a short integer."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0 if kind is np.uint8 else -200, 200, 100).astype(kind)
    columns = rng.integers(0, width, (100, 20)).astype(kind)
    for index, shape in ((rows, (100, width)), ((rows[:, None], columns), (100, 20)), ((rows, columns[:, 0]), (100,))):
        g = rng.integers(-8, 8, shape).astype(dtype)
        for given in (g, np.asfortranarray(g), np.broadcast_to(g[0], shape), g.real.astype(np.int8)):
            made, expected = np.zeros((200, width), dtype), np.zeros((200, width), dtype)
            add_at(made, index, given)
            np.add.at(expected, index, given)
            np.testing.assert_array_equal(made, expected)


def test_accumulation_into_containers() -> None:
    buffer: Any = [0.0, [0.0, np.zeros(2)], None]
    add_at(buffer, 1, [1.0, np.ones(2)])
    add_at(buffer, 0, 2.0)
    add_at(buffer, 2, None)
    add_at(buffer, slice(0, 1), [1.0])
    assert buffer[0] == 3.0 and buffer[1][0] == 1.0 and buffer[2] is None
    record: Any = {"w": 0.0}
    add_at(record, "w", 2.0)
    assert record == {"w": 2.0}
    with pytest.raises(ValueError):
        add_at(buffer, slice(0, 2), [1.0])


def test_own_protects_the_items_of_the_other() -> None:
    seed = [0.0, np.zeros(2)]
    mine = own(seed)
    add_at(mine, 1, np.ones(2))
    np.testing.assert_array_equal(seed[1], np.zeros(2))
    array = np.zeros(2)
    assert own(array) is not array
    assert as_list(None) == [] and as_list((1.0,)) == [1.0]


def test_untake_and_pack_like() -> None:
    np.testing.assert_array_equal(untake(1.0, np.zeros(3), -1), [0.0, 0.0, 1.0])
    assert untake([1.0], (0.0, 0.0), slice(1, 2)) == [0.0, 1.0]
    np.testing.assert_array_equal(pack_like((1.0, None), np.ones(2)), [1.0, 0.0])
    assert pack_like((1.0, None), (2.0, "a")) == [1.0, None]
    with pytest.raises(ValueError):
        pack_like((1.0,), np.ones(2))


def test_the_last_door_conforms_to_the_argument() -> None:
    x = (1.0, [np.ones(2, np.float32), 3], {"a": np.float32(1), "n": None}, Point(0.0, 1.0))
    g = [np.float64(2.0), (np.ones(2), 0.0), {"a": 1.0}, [1.0, None]]
    made = as_cotangent(g, x)
    assert isinstance(made, tuple) and isinstance(made[1], list) and isinstance(made[3], Point)
    assert type(made[0]) is float and made[1][0].dtype == np.float32 and made[1][1] is None
    assert type(made[2]["a"]) is np.float32 and made[2]["n"] is None
    assert made[3] == Point(1.0, 0.0)
    array = np.ones(2)
    assert not np.shares_memory(as_cotangent(array, np.zeros(2)), array)
    assert as_cotangent(1 + 2j, 1.0) == 1.0
    with pytest.raises(ValueError):
        as_cotangent(np.ones(3), np.ones(2))
    with pytest.raises(TypeError):
        as_cotangent([1.0], (1.0, 2.0))
