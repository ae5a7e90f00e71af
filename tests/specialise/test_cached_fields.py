"""Fields that ``functools.cached_property`` computes where an object does not hold them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest

from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 1.3, 0.4, 1.9])


class Cell:
    def __init__(self, v):
        self.v = v

    @cached_property
    def squared(self):
        return self.v * self.v

    @cached_property
    def scaled(self):
        return np.array([1.0, 2.0]) * self.v


class Taller(Cell):
    @cached_property
    def squared(self):
        return self.v**3

    @cached_property
    def sum(self):
        return self.squared + self.v


def is_computed_once(x):
    cell = Cell(x[0])
    first = cell.squared
    cell.v = x[1]
    return first * cell.squared * cell.v


def is_computed_under_a_test_that_holds(x):
    cell = Cell(x[0])
    if x[1] > 1.0:
        _ = cell.squared
    cell.v = cell.v * x[2]
    return cell.squared * cell.v


def is_computed_behind_a_test_that_does_not_hold(x):
    cell = Cell(x[0])
    if x[1] > 2.0:
        _ = cell.squared
    cell.v = cell.v * x[2]
    return cell.squared * cell.v


def in_a_loop(x):
    s, cell = 0.0, Cell(x[0])
    for v in x:
        s = s + cell.squared * v
        cell.v = v
    return s


def of_many_objects(x):
    cells, s = [Cell(v) for v in x], 0.0
    for cell in cells:
        s = s + cell.squared
        cell.v = cell.v * 2.0
    return s * cells[0].squared * cells[1].v


def is_set(x):
    cell = Cell(x[0])
    cell.squared = x[1] * 3.0
    return cell.squared * cell.v


def is_deleted(x):
    cell = Cell(x[0])
    first = cell.squared
    cell.v = x[1]
    del cell.squared
    return first * cell.squared


def is_stored_into(x):
    cell = Cell(x[0])
    cell.scaled[0] = x[1]
    return np.sum(cell.scaled * cell.squared)


def by_another(x):
    taller = Taller(x[0])
    return taller.sum * taller.squared


def plus_one(cell):
    return cell.squared + 1.0


def in_a_callee(x):
    cell = Cell(x[0])
    return plus_one(cell) * plus_one(cell)


def of_several_classes(x):
    s = 0.0
    for cell in [Cell(x[0]), Taller(x[1])]:
        s = s + cell.squared
    return s


class Counted(Cell):
    n = 0

    @cached_property
    def squared(self):
        self.n = self.n + 1
        return self.v * self.v * self.n


def of_objects_in_a_list(x):
    a, b = Counted(x[0]), Counted(x[1])
    _ = a.squared
    a.v, s = x[2], 0.0
    for cell in [a, b, a]:
        s = s * 0.5 + cell.squared * cell.v
    b.v = x[0]
    return s * a.squared * b.squared + a.n


@pytest.mark.parametrize("function", [
    is_computed_once, is_computed_under_a_test_that_holds, is_computed_behind_a_test_that_does_not_hold, in_a_loop,
    of_many_objects, is_set, is_deleted, is_stored_into, by_another, in_a_callee, of_several_classes,
    of_objects_in_a_list,
])  # fmt: skip
@pytest.mark.costly(2)
def test_fields_that_are_computed_when_they_are_read_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


GLOBAL = Cell(2.0)


def of_a_global(x):
    return GLOBAL.squared * x[0]


def test_a_field_that_a_global_object_may_be_given_is_refused(monkeypatch):
    check_refused(of_a_global, monkeypatch, X)
