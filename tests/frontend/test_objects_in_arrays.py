"""Objects that NumPy makes numbers of, where they are stored into arrays, on both roads."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, jvp, options, value_and_grad
from tests.roads import OPTIONS, POINT, ROADS, right


class Number:
    def __init__(self, v):
        self.v = v

    def __float__(self):
        return float(self.v)


def put(y, v):
    y[0] = v


def an_item(x):
    y = np.zeros(2)
    put(y, Number(x[0]))
    return y[0]


def all_items(x):
    y = np.zeros(2)
    y[:] = Number(x[0])
    return y[0]


def filled(x):
    y = np.zeros(2)
    y.fill(Number(x[0]))
    return y[0]


def into_containers(x):
    y, d = [None, None], {}
    put(y, Number(x[0]))
    d["a"] = Number(x[1])
    z = np.zeros(2)
    z[0] = d["a"].v
    return d["a"].v * z[0] * len(y) * x[0]


@ROADS
@pytest.mark.parametrize("function", [an_item, all_items, filled])
def test_an_object_that_is_stored_into_an_array_is_refused(function, road):
    """Once an IndexError or TypeError of emitted code."""
    for derivative in (value_and_grad(function), lambda x: jvp(function, (x,), (x,))):
        with options(**OPTIONS[road]), pytest.raises(UnsupportedSyntax, match=r"(?s)of class Number.*\^"):
            derivative(POINT.copy())


@ROADS
def test_an_object_that_is_stored_into_a_container_stays_what_it_is(road):
    right(into_containers, road)
