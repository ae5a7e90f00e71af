"""What ``del`` of an attribute runs, on both roads."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.roads import ROADS, refused, right


class Kept:
    def __init__(self, v):
        self.held = v
        self.n = v * 3.0

    @property
    def v(self):
        return self.held

    @v.deleter
    def v(self):
        self.held = self.held * self.held

    def drop(self):
        del self.v


class Plain:
    def __init__(self, v):
        self.held = v

    @property
    def v(self):
        return self.held


def deletes(x):
    p, q = Kept(x[0]), Kept(x[1])
    p.drop()
    for _ in range(2):
        del q.v
    del p.v, p.n
    return p.v * q.v * x[1]


class Scaled:
    k = 2.0

    def __init__(self, v):
        self.v = v

    def reset(self):
        del self.k


@dataclass
class Sized:
    v: float
    k: float = 3.0


def fields_are_deleted(x):
    s = Scaled(x[0])
    s.k = x[1] * 5.0
    t = s.k * x[0]
    del s.k
    t = t + s.k * x[1]
    s.k = x[0] * x[1]
    if x[0] > 0.5:
        s.reset()
    u = Scaled(x[1])
    for each in (s, u):
        each.k = each.k * x[0]
        if x[1] > 0.5:
            del each.k
    del u.v
    u.v = x[0]
    return t * s.k * u.k * u.v


def what_is_deleted_is_read(x):
    s = Scaled(x[0])
    del s.v
    return s.v


def a_field_that_hides_a_default(x):
    s = Sized(x[0], x[1])
    del s.k
    return s.v * s.k


def in_a_try(x):
    s = Scaled(x[0])
    try:
        del s.k
    except AttributeError:
        s.v = s.v * 2.0
    return s.v


def deletes_of_two_classes(x):
    p = Kept(x[0]) if x[0] > 0.0 else Plain(x[0])
    del p.v
    return p.v


def has_no_deleter(x):
    p = Plain(x[0])
    del p.v
    return p.v


def test_fields_are_deleted():
    right(fields_are_deleted, "inferred")
    right(fields_are_deleted, "generic")
    with pytest.raises(AttributeError, match="'v'"):
        right(what_is_deleted_is_read, "inferred")


@pytest.mark.parametrize("function", [a_field_that_hides_a_default, in_a_try])
def test_fields_that_are_deleted_otherwise_are_refused(function):
    refused(function, "inferred", "'k'|that may raise what is caught")


@ROADS
def test_the_deleter_of_a_property_is_called(road):
    """Once a KeyError of the shadow's."""
    right(deletes, road)


@ROADS
def test_a_deleter_that_is_not_known_is_refused(road):
    refused(deletes_of_two_classes, road, "which deleter the property 'v' has")


@ROADS
def test_a_property_without_a_deleter_raises_what_python_raises(road):
    with pytest.raises(AttributeError, match="no deleter|can't delete"):
        right(has_no_deleter, road)
