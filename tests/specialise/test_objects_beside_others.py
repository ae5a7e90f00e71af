"""Objects of the user's beside numbers, arrays and other objects: which method runs, on what, and how often."""

from __future__ import annotations

import copy
import operator
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from srcgrad import grad, options, value_and_grad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedType
from tests.specialise.serving import check_right

X = np.array([0.7, 1.3, 0.4, 0.9])


class Growing:
    """Asking it for anything changes it: so it is seen how often it is asked."""

    def __init__(self, v):
        self.v = v

    def __getitem__(self, k):
        self.v = self.v * 1.5
        return self.v * (k + 1)

    def __add__(self, other):
        self.v = self.v + other
        return self.v

    def __radd__(self, other):
        return self.v * other

    def __lt__(self, other):
        self.v = self.v * 2.0
        return self.v * other

    def __bool__(self):
        self.v = self.v * 3.0
        return True

    @property
    def w(self):
        return self.v * 11.0


class Plain:
    def __init__(self, v):
        self.v = v
        self.w = v * 13.0


class Typed:
    """Its reflected methods tell numbers of Python's from those of NumPy's."""

    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return self.v * other * (1.0 if type(other) is float else 7.0)

    def __gt__(self, other):
        return self.v * other * (1.0 if type(other) is float else 7.0)

    def __rmul__(self, other):
        return self.v * other * (7.0 if isinstance(other, np.floating) else 1.0)


class Pair(NamedTuple):
    a: float
    b: float


def one_of(x, k):
    return Growing(x[1]) if x[k] > 1.0 else x * 2.0


def items_of_an_object_or_an_array(x):
    a, b = one_of(x, 0), one_of(x, 1)
    return a[0] * b[1] * a[1] * b[0]


def fields_and_properties(x):
    a = Growing(x[0]) if x[1] > 1.0 else Plain(x[0])
    b = Growing(x[0]) if x[2] > 1.0 else Plain(x[0])
    return a.w * b.w


def truth_of_an_object_or_a_list(x):
    asked = Growing(x[0])
    a = asked if x[1] > 1.0 else []
    b = asked if x[2] > 1.0 else []
    s = (x[0] if a else x[1]) * (x[2] if b else x[3]) * (3.0 if not b else 1.0)
    return s * asked.v


def comparisons_with_an_object_or_a_number(x):
    a = Growing(x[0]) if x[1] > 1.0 else x[0]
    b = Growing(x[0]) if x[2] > 1.0 else x[0]
    return (a < x[1]) * x[2] + (b < x[1]) * x[3] + (a < 2.0) * x[0]


def sums_in_a_loop(x):
    s = 0.0
    for k in range(4):
        a = Growing(x[k]) if x[k] > 0.8 else x[k]
        s = s + (a + x[0])
        s = a + s
    return s


def items_of_a_mixed_list(x):
    s = 1.0
    for item in [Growing(x[0]), x[1], Growing(x[2]), x * 1.0]:
        s = s * np.sum(item + x[3])
    return s


def copies_of_what_may_be_none(x):
    a = Growing(x[0]) if x[1] > 1.0 else [x[0]]
    b, c = copy.copy(a), Growing(x[2]) if x[2] > 1.0 else None
    return b[0] * a[0] * (1.0 if copy.copy(c) is None else 2.0)


def numbers_of_numpy_are_handed_over_as_those_of_python(x):
    return (x[0] + Typed(x[1])) * (x[0] < Typed(x[2])) * (x[3] * Typed(x[1])) + sum([Typed(x[2]), Typed(x[3])])


def operators_in_place_of_an_object(x):
    o = Growing(x[0])
    o += x[1]
    return o * x[2]


def entries_that_hold_objects(x):
    table = {"p": Plain(x[0]), "q": Plain(x[1])} | {"r": Plain(x[2])}
    same = table["p"]
    table["p"] = Plain(x[3])
    del table["q"]
    table = table | {"p": Plain(x[1])}
    key, last = table.popitem()
    same.v = same.v * 2.0
    return table["p"].v * last.v * same.v * len(table)


def named_tuples_are_joined_and_unpacked(x):
    both = operator.add(Pair(x[0], x[1]), Pair(x[2], x[0])) + Pair(x[1], x[1]) * 2
    made = Pair(*x[2:])
    return both[2] * both[5] * made.a * made.b * len(both) + both[3]


def items_that_were_taken_out(x):
    stack = []
    for k in range(4):
        stack.append(np.sin(x[k]))
        if k % 2:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b + x[0])
    return stack.pop() * stack.pop()


class Forgetting:
    def __init__(self, v):
        self.v = v
        self.names = []

    def __delattr__(self, name):
        self.v = self.v * (2.0 if name == "gone" else 3.0)
        self.names.append(name)


def fields_that_are_deleted_by_a_method(x):
    a = Forgetting(x[0])
    same = a
    del a.gone
    del same.other
    return a.v * x[1] * len(same.names)


PROGRAMS = [
    fields_that_are_deleted_by_a_method,
    items_of_an_object_or_an_array, fields_and_properties, truth_of_an_object_or_a_list,
    comparisons_with_an_object_or_a_number, sums_in_a_loop, items_of_a_mixed_list, copies_of_what_may_be_none,
    operators_in_place_of_an_object, entries_that_hold_objects, named_tuples_are_joined_and_unpacked,
    items_that_were_taken_out,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.costly(2)
def test_it_is_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


@pytest.mark.parametrize("way", [{}, {"specialise": False}], ids=str)
def test_the_reflected_method_is_given_a_number_of_python(way):
    def function(x):
        return x[0] + Typed(x[1])

    steps = 1e-6 * np.eye(len(X))
    with options(**way):
        value, found = value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X))
    np.testing.assert_allclose(found, [(function(X + e) - function(X - e)) / 2e-6 for e in steps], rtol=1e-6)


def test_numbers_of_numpy_are_handed_over_as_those_of_python():
    function = numbers_of_numpy_are_handed_over_as_those_of_python
    steps = 1e-6 * np.eye(len(X))
    value, found = value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X))
    np.testing.assert_allclose(found, [(function(X + e) - function(X - e)) / 2e-6 for e in steps], rtol=1e-6)


class Declining:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return NotImplemented


def what_declines(x):
    return Declining(x[0]) + x[1]


def test_what_declines_raises():
    with pytest.raises(TypeError, match="unsupported operand"):
        value_and_grad(what_declines)(X)


# --- where nothing is said of the arguments --------------------------------------------------------------------------
class Held:
    def __init__(self, v):
        self.v = v

    def __mul__(self, other):
        return self.v * other

    def __radd__(self, other):
        return self.v * other

    def __iadd__(self, other):
        self.v = self.v + other
        return self


def operators_beside_data(x):
    held = Held(x[0])
    same = held
    held += x[1]
    return held * x[2] + (x[3] + same) + sum([Held(x[1]), Held(x[2])])


def an_array_on_the_left(x):
    return np.sum(x + Held(x[0]))


def raised_beside_data(x):
    held = Held(x[0])
    try:
        if x[1] > 1.0:
            held.v = held.v * x[2]
            raise ValueError("too large")
    except ValueError as error:
        held.v = held.v * len(str(error))
    return held * x[3]


@pytest.mark.parametrize("function", [operators_beside_data, raised_beside_data])
@pytest.mark.costly(1, first=1)
def test_objects_beside_data(function):
    expected = value_and_grad(function)(X)
    with options(specialise=False):
        assert "_fwd" in value_and_grad(function).source
        found = value_and_grad(function)(X)
    np.testing.assert_allclose(found[0], function(X))
    np.testing.assert_equal(found, expected)


def test_an_array_on_the_left_is_refused_when_the_program_runs():
    with options(specialise=False), pytest.raises(RefusedType, match="goes to every element"):
        grad(an_array_on_the_left)(X)


# --- arguments that make what is missing -----------------------------------------------------------------------------
def read_and_put(d, x):
    d["b"] = d["a"] * x[1]
    return d["b"] * d.get("c", x[0]) * len(d)


def read_in_vain(d, x):
    return d["b"] * x[0]


def test_what_is_missing_in_an_argument_is_refused():
    made = grad(read_and_put)(defaultdict(float, {"a": 1.5}), X)
    np.testing.assert_allclose(made["a"], X[1] * X[0] * 2)
    with pytest.raises(UnsupportedSyntax, match="a missing key of a defaultdict"):
        grad(read_in_vain)(defaultdict(float, {"a": 1.5}), X)
