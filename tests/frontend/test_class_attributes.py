"""Arrays, lists and objects that a class holds, read through objects that may have a field of their own in their place:
stores into them are seen by other objects, whose gradients lacked them."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, jvp, value_and_grad
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused


class Inner:
    def __init__(self):
        self.w = np.zeros(3)

    def __iadd__(self, other):
        self.w += other
        return self


class Model:
    w = np.zeros(3)
    z = np.zeros(())
    items = [1.0, 2.0]
    inner = Inner()

    def added(self, x):
        self.w += x


def in_place(x):
    Model().w += x
    return Model().w.sum()


def of_rank_zero(x):
    Model().z += x[0]
    return Model.z * x[1]


def in_a_method(x):
    Model().added(x)
    return Model.w.sum()


def handed_to_the_object(x):
    m = Model()
    m.w = m.w
    m.w[:] = x
    return Model.w.sum()


def read_before_it_is_set(x):
    m = Model()
    a = m.w
    m.w = x * 1.0
    a += x
    return Model.w.sum()


def by_its_name(x):
    m = Model()
    v = getattr(m, "w")
    v[0] = x[0]
    return m.w.sum()


def a_list(x):
    m = Model()
    m.items.append(x[0])
    m.items = m.items + [x[1]]
    return sum(Model.items)


def an_object(x):
    Model().inner += x
    return Model.inner.w.sum()


PROGRAMS = [
    in_place, of_rank_zero, in_a_method, handed_to_the_object, read_before_it_is_set, by_its_name, a_list, an_object,
]  # fmt: skip
X = np.array([0.7, -0.4, 1.3])


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_what_a_class_holds_is_not_stored_into(function, specialise):
    for derivative in (lambda: value_and_grad(function)(X), lambda: jvp(function, (X,), (X,))):
        with pytest.raises((SrcgradError, Refused, ValueError), match="may store into|read-only|holds|the attribute"):
            with options(specialise=specialise):
                derivative()
    assert not Model.w.any() and Model.items == [1.0, 2.0] and not Model.inner.w.any()


def test_what_a_class_holds_is_read():
    def f(x):
        m, own = Model(), Model()
        own.w = x * 2.0
        own.w += x
        return np.sum((m.w + 1.0) * own.w)

    assert np.array_equal(grad(f)(X), np.full(3, 3.0))


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


class Renamed(Slotted):
    __slots__ = ()
    c = Slotted.b


def _of_the_other_name(x):
    made = Renamed(x, 3 * x)
    return made.c * made.b


def _stored_under_the_other_name(x):
    made = Renamed(x, 3 * x)
    made.c = x * x
    return made.b


def _deleted_under_the_other_name(x):
    made = Renamed(x, 3 * x)
    del made.c
    return x * made.b if hasattr(made, "b") else x * x


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [
    _of_the_other_name, _stored_under_the_other_name, _deleted_under_the_other_name,
])  # fmt: skip
def test_two_names_of_one_slot(function, specialise):
    """Each name was taken for a field of its own: half the derivative."""
    with options(specialise=specialise), pytest.raises((SrcgradError, Refused)):
        grad(function)(2.0)
