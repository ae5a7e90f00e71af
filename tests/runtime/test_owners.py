"""Arrays found by their memory: what the table gives covers all that shares memory, and little else."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest

from srcgrad import runtime
from srcgrad.runtime.owners import Table, owner_of
from srcgrad.runtime.shadows import shadow


def names_near(table: Table, array: np.ndarray) -> set[object]:
    return {beside for other, beside in table.near(array) if np.shares_memory(array, other)}


def test_views_of_views_have_one_owner() -> None:
    y = np.zeros((4, 6))
    assert owner_of(y[1:][::2].T[2:].reshape(-1)) is not y  # a copy
    assert owner_of(y[1:, ::2].T[1:]) is y
    assert owner_of(np.asarray(shadow([y, y[1]])[1])).base is None
    assert owner_of(np.frombuffer(b"12345678")) is None  # memory that is none of NumPy's


def test_random_views_are_found() -> None:
    """Whatever the order in which they come, and whether their whole is there or not."""
    rng = np.random.default_rng(3)
    for with_whole in (False, True):
        memory = [np.zeros(30), np.zeros(30)]
        views = [m[a : a + int(rng.integers(1, 9)) : int(rng.integers(1, 4))] for m in memory
                 for a in map(int, rng.integers(0, 22, 12))] + (memory if with_whole else [])  # fmt: skip
        rng.shuffle(order := list(range(len(views))))
        table, kept = Table(), order[: len(order) // 2]
        for place in kept:
            table.add(views[place], place)
        for view in views:
            assert names_near(table, view) == {place for place in kept if np.shares_memory(views[place], view)}


def test_memory_without_owner_is_found_by_its_address() -> None:
    held = (ctypes.c_double * 6)()
    one, other = np.ctypeslib.as_array(held), np.frombuffer(memoryview(held).cast("B"))
    own = np.zeros(6)
    pointed = np.ctypeslib.as_array(own.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), (6,))
    table = Table()
    table.add(own, "own")
    table.add(one, "one")
    assert names_near(table, other[2:3]) == {"one"}
    assert names_near(table, pointed[1:]) == {"own"}
    first = Table()
    first.add(own, "own")  # here what is asked for is the first that has no owner
    assert names_near(first, pointed[1:]) == {"own"}


def test_a_number_of_id_is_not_given_again() -> None:
    table = Table()
    for k in range(200):
        table.add(np.zeros(3), k)
        gc.collect(0)
        assert not names_near(table, np.zeros(3))
    assert len({id(array) for array, _ in table._beside.values()}) == 200


@pytest.mark.parametrize("is_whole_known", [True, False])
def test_rows_of_one_array_are_told_apart_in_linear_time(is_whole_known: bool) -> None:
    """Rows find themselves and their whole, and not one another."""
    rows, table = np.zeros((500, 2)), Table()
    for k in range(500):
        table.add(rows[k], k)
    if is_whole_known:
        table.add(rows, "whole")
    found = list(table.near(rows[77]))
    assert found[0][1] == "whole" if is_whole_known else [k for _, k in found] == [77]


def test_tangents_of_rows_lie_as_the_rows_do() -> None:
    y, y_dot = np.zeros((6, 2)), np.arange(12.0).reshape(6, 2)
    rows, moved = [y[k] for k in range(6)], [y_dot[k].copy() for k in range(6)]
    made = runtime.tangent_like(moved, rows, y, y_dot)
    made[3][:] = 7.0
    assert y_dot[3].tolist() == [7.0, 7.0]
    assert all(np.shares_memory(row, y_dot) for row in made)


def test_a_tangent_is_not_that_of_an_argument_whose_value_is_apart() -> None:
    w, w_dot = np.zeros(4), np.arange(4.0)
    v = np.zeros(2)
    made = runtime.tangent_like(w_dot[1:3], v, w, w_dot)
    made[:] = 9.0
    assert w_dot.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_shadows_of_slices_that_overlap_share_what_these_share() -> None:
    y = np.zeros(8)
    bars = shadow([y[2:6], y, y[4:], y[::2]])
    bars[0][2] = 5.0
    assert bars[1].tolist() == [0, 0, 0, 0, 5, 0, 0, 0]
    assert bars[2][0] == 5.0
    assert bars[3][2] == 5.0


def test_tangents_of_arguments_with_one_base_share_it() -> None:
    y = np.arange(6.0)
    x = [y[:4], y[2:], y]
    dots = runtime.entering(x, [y[:4] * 2, y[2:] * 2, y * 2])
    dots[0][3] = -1.0
    assert dots[1][1] == -1.0
    assert dots[2][3] == -1.0
