"""Sets of objects that equal themselves alone: asked and changed, and never read."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax

X = np.array([0.31, 0.72, 0.55])


class Item:
    def __init__(self, v):
        self.v = v


class Equal(Item):
    def __eq__(self, other):
        return self.v == other.v

    def __hash__(self):
        return 1


def met(x):
    a, b, seen = Item(x[0]), Item(x[0]), set()
    seen.add(a)
    a.v = a.v * x[1]
    return (a.v if a in seen else 0.0) * (7.0 if b in seen else x[2])


def test_an_object_is_looked_for_by_identity():
    assert np.allclose(srcgrad.grad(met)(X), [X[1] * X[2], X[0] * X[2], X[0] * X[1]])


def listed(x):
    seen = set()
    seen.add(Item(x[0]))
    return list(seen)[0].v


def unpacked(x):
    seen = set()
    seen.add(Item(x[0]))
    (one,) = seen
    return one.v


def popped(x):
    seen = set()
    seen.add(Item(x[0]))
    return seen.pop().v


def gone_over(x):
    seen = set()
    for v in x:
        seen.add(Item(v))
    return sum(one.v for one in seen)


def of_a_field(x):
    held = Item(set())
    held.v.add(Item(x[0]))
    return sum(one.v for one in held.v)


def joined(x):
    seen, total = set(), 0.0
    seen.add(Item(x[0]))
    for one in seen | {1}:
        total = total + (2.0 if one == 1 else one.v)
    return total


def that_say_what_they_equal(x):
    seen = set()
    seen.add(Equal(x[0]))
    return x[1] if Equal(x[0]) in seen else x[2]


def in_a_tuple(x):
    a, seen = Equal(x[0]), set()
    seen.add((a, 1))
    return a.v * len(seen)


FUNCTIONS = [listed, unpacked, popped, gone_over, of_a_field, joined, that_say_what_they_equal, in_a_tuple]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_would_be_read_from_a_set_is_refused(function):
    with pytest.raises(UnsupportedSyntax) as refused:
        srcgrad.grad(function)(X)
    assert refused.value.code in ("E0407", "E0214")
