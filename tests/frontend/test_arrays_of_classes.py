"""Stores into arrays that a class holds for all of its objects, on both roads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.roads import ROADS, refused, right


class Weighted:
    w = np.array([1.0, 2.0])

    def own(self):
        self.w = self.w.copy()

    def raised(self, v):
        self.w += v


def added(x):
    k = Weighted()
    k.w += x[0]
    return k.w[0]


def added_by_a_method(x):
    k = Weighted()
    k.raised(x[0])
    return k.w[0]


def added_to_its_own(x):
    k = Weighted()
    k.own()
    k.raised(x[0])
    k.w *= x[1]
    return k.w[0] * k.w[1]


@ROADS
@pytest.mark.parametrize("function", [added, added_by_a_method])
def test_an_array_of_a_class_is_not_stored_into(function, road):
    """Once a ValueError of NumPy's, without a place."""
    refused(function, road, "stores into the array 'w' that class Weighted holds")


@ROADS
def test_an_array_of_the_object_is_stored_into(road):
    right(added_to_its_own, road)
