"""What ``del`` of an attribute runs, on both roads."""

from __future__ import annotations

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


def deletes_of_two_classes(x):
    p = Kept(x[0]) if x[0] > 0.0 else Plain(x[0])
    del p.v
    return p.v


def has_no_deleter(x):
    p = Plain(x[0])
    del p.v
    return p.v


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
