"""Objects that globals, closures and their containers hold: what they say is followed, whatever their classes are."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, value_and_grad
from srcgrad.errors import SrcgradError

POINT = np.array([0.7, 1.3, -0.4, 2.1])


class Gain:
    def __init__(self, w):
        self.w = w
        self.calls = 0

    def __add__(self, v):
        return self.w * v

    __and__ = __or__ = __lt__ = __gt__ = __eq__ = __radd__ = __add__
    __hash__ = None

    def __getitem__(self, v):
        return self.w * v

    def __lshift__(self, v):
        v[0] *= self.w
        return v

    def __divmod__(self, v):
        return self.w * v, self.w

    def of(self, v):
        return self.w * v

    def into(self, v):
        v[0] *= self.w

    @staticmethod
    def tripled(v):
        v[0] *= 3.0

    def counted(self, v):
        self.calls = self.calls + 1
        return self.w * v * self.calls


class Squared(Gain):
    def __add__(self, v):
        return self.w * v * v

    def of(self, v):
        return self.w * v * v


GAIN = Gain(3.0)
LISTED = [Gain(2.0), GAIN]
NAMED = {"a": GAIN}


def operators(x):
    return (GAIN + x[0]) + (GAIN & x[1]) + (GAIN | x[2]) + divmod(GAIN, x[3])[0]


def reflected(x):
    return (1.0 + GAIN) * 0.0 + (x[0] + GAIN) + (x[1] > GAIN)


def comparisons(x):
    return (GAIN < x[0]) + (GAIN == x[1]) * 1.0


def items(x):
    return GAIN[x[0]] + LISTED[0][x[1]] + NAMED["a"][x[2]]


def methods(x):
    return GAIN.of(x[0]) + LISTED[0].of(x[1]) + NAMED["a"].of(x[2])


def loops(x):
    s = 0.0
    for gain in LISTED:
        s = s + (gain + x[0]) + gain[x[1]] + gain.of(x[2])
    return s + sum(gain.of(x[3]) for gain in LISTED)


def given_on(x):
    return asked(GAIN, x[0]) + asked(LISTED[1], x[1])


def asked(gain, v):
    return gain.of(v) + gain[v]


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (operators, [3, 3, 3, 3]),
        (reflected, [3, 3, 0, 0]),
        (comparisons, [3, 3, 0, 0]),
        (items, [3, 2, 3, 0]),
        (methods, [3, 2, 3, 0]),
        (loops, [5, 5, 5, 5]),
        (given_on, [6, 6, 0, 0]),
    ],
)
@pytest.mark.costly(2, first=1)
def test_what_an_object_outside_says_is_followed(f, expected):
    """Operators, comparisons and items once had no derivative, in silence; methods were refused."""
    np.testing.assert_array_equal(grad(f)(POINT), expected)


def by_method(y):
    GAIN.into(y)


def by_item(y):
    LISTED[1].into(y)


def by_key(y):
    NAMED["a"].into(y)


def by_operator(y):
    GAIN << y


def by_static(y):
    GAIN.tripled(y)


@pytest.mark.parametrize("store", [by_method, by_item, by_key, by_operator, by_static])
def test_what_it_stores_into_an_argument_has_its_derivative(store):
    """Once left out, in silence."""

    def f(x):
        y = x * 1.0
        store(y)
        return np.sum(y**2)

    np.testing.assert_allclose(grad(f)(POINT), 2 * POINT * [9, 1, 1, 1])


def test_an_object_in_a_closure():
    gain = Gain(4.0)

    def f(x):
        y = x * 1.0
        gain.into(y)
        return gain[y[0]] + (gain < x[1])

    np.testing.assert_array_equal(grad(f)(POINT), [16, 4, 0, 0])


def stores_into_its_field(x):
    return GAIN.counted(x[0])


def stores_into_an_item(x):
    return LISTED[0].counted(x[0])


def stores_by_another_name(x):
    gain = GAIN
    gain.calls = 3
    return gain.of(x[0])


@pytest.mark.parametrize("f", [stores_into_its_field, stores_into_an_item, stores_by_another_name])
def test_stores_into_it_are_refused(f):
    before = [gain.calls for gain in LISTED]
    with pytest.raises(UnsupportedSyntax, match="this may store into the global or closure variable"):
        grad(f)(POINT)
    assert [gain.calls for gain in LISTED] == before


class Calling(Gain):
    def __call__(self, v):
        return self.w * v

    def counted_too(self, v):
        self.calls = 5
        return v


CALLING = Calling(2.0)


def test_one_that_is_called_is_read_again_and_may_not_be_stored_into():
    """Once taken for a function: it was fixed when compiled, and stores into it were let through."""
    global CALLING

    def f(x):
        return CALLING(x[0])

    derivative = grad(f)
    before = CALLING
    assert derivative(POINT)[0] == 2
    try:
        CALLING = Calling(7.0)
        assert derivative(POINT)[0] == 7
    finally:
        CALLING = before

    def g(x):
        return CALLING.counted_too(x[0])

    with pytest.raises(UnsupportedSyntax, match="this may store into the global or closure variable"):
        grad(g)(POINT)


def test_it_is_read_again_at_each_call_whatever_its_class_is_then():
    global GAIN

    def f(x):
        return GAIN.of(x[0]) + (GAIN + x[1])

    derivative = grad(f)
    before = GAIN
    np.testing.assert_array_equal(derivative(POINT), [3, 3, 0, 0])
    try:
        GAIN = Gain(5.0)
        np.testing.assert_array_equal(derivative(POINT), [5, 5, 0, 0])
        GAIN.w = 6.0
        np.testing.assert_array_equal(derivative(POINT), [6, 6, 0, 0])
        GAIN = Squared(2.0)
        np.testing.assert_allclose(derivative(POINT), [4 * POINT[0], 4 * POINT[1], 0, 0])
    finally:
        GAIN = before
    np.testing.assert_array_equal(derivative(POINT), [3, 3, 0, 0])


MANY = [Gain(float(i)) for i in range(100)]


def test_many_of_them():
    """Once, in a list of more than 64, not known: their operators had no derivative, in silence."""

    def f(x):
        s = MANY[3] + x[0]
        for gain in MANY:
            s = s + (gain + x[1])
        return s

    np.testing.assert_array_equal(grad(f)(POINT), [3, 4950, 0, 0])


def test_a_list_of_them_may_grow_between_calls():
    derivative = grad(loops)
    np.testing.assert_array_equal(derivative(POINT), [5, 5, 5, 5])
    LISTED.append(Squared(1.0))
    try:
        by_hand = [5 + 2 * POINT[0], 6, 5 + 2 * POINT[2], 5 + 2 * POINT[3]]
        np.testing.assert_allclose(derivative(POINT), by_hand)
    finally:
        LISTED.pop()


class Holder:
    inst = Calling(2.5)
    several = [Gain(1.5), GAIN]

    def scaled(self, v):
        return self.inst + v


def of_a_class(x):
    return Holder.several[0][x[1]] + Holder().scaled(x[2])


def test_attributes_of_classes():
    """Once no derivative, in silence."""
    np.testing.assert_array_equal(grad(of_a_class)(POINT), [0.0, 1.5, 2.5, 0.0])
    with pytest.raises(UnsupportedSyntax, match=r"(?s)the attribute 'inst'.*\^"):
        grad(lambda x: Holder.inst + x[0])(POINT)


MIXED = [2.0, GAIN, np.array(3.0)]
ORDERED = collections.OrderedDict(a=GAIN)


class Arrayed:
    def __array__(self, dtype=None, copy=None):
        return np.arange(4.0)

    def __mul__(self, other):
        return 5.0 * other

    __rmul__ = __mul__


ARRAYED = Arrayed()


def of_a_mixed_list(x):
    return MIXED[int(x[0] > 0)] + x[1]


def one_or_a_number(x):
    gain = GAIN if x[0] > 0 else 1.0
    return gain + x[1]


def of_an_ordered_dict(x):
    return ORDERED["a"] + x[1]


def of_its_own_operator(x):
    return ARRAYED * x[0]


@pytest.mark.parametrize("f", [of_a_mixed_list, one_or_a_number])
@pytest.mark.costly(1)
def test_where_a_number_may_stand_as_well_an_object_is_asked(f):
    for point in (POINT, -POINT):
        steps = 1e-6 * np.eye(len(point))
        slopes = [(f(point + step) - f(point - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(grad(f)(point), slopes, rtol=1e-6)


def test_an_object_in_an_ordered_dict():
    """Once taken for a number, in silence."""
    value, slope = value_and_grad(of_an_ordered_dict)(POINT)
    assert value == of_an_ordered_dict(POINT)
    assert slope[1] == pytest.approx(of_an_ordered_dict(POINT + np.eye(len(POINT))[1]) - value)


def test_a_number_may_become_an_object():
    global BECOMES

    def f(x):
        return BECOMES + x[0]

    derivative = grad(f)
    assert derivative(POINT)[0] == 1
    BECOMES = Gain(4.0)
    try:
        assert derivative(POINT)[0] == 4
    finally:
        BECOMES = 2.0


BECOMES = 2.0


def by_the_global(v):
    return BECOMES + v


def test_it_may_where_a_function_is_known_only_when_the_program_runs():
    global BECOMES
    table = {"a": by_the_global, "b": np.sin}

    def f(x, name):
        return table[name](x[0])

    derivative = grad(f)
    assert derivative(POINT, "a")[0] == 1
    BECOMES = Gain(4.0)
    try:
        assert derivative(POINT, "a")[0] == 4
    finally:
        BECOMES = 2.0
    assert derivative(POINT, "a")[0] == 1


def in_copies(x):
    copied, fixed = dict(NAMED), tuple(LISTED)
    return (copied["a"] + x[2]) + (NAMED.copy()["a"] + x[2]) + (fixed[1] + x[3])


def test_what_copies_of_containers_hold_is_followed():
    """Once taken for numbers, in silence, of local dicts and lists as well."""
    np.testing.assert_allclose(grad(in_copies)(POINT), [0, 0, 6, 3])


@pytest.mark.parametrize("f", [
    lambda x: {**NAMED, "n": x[0]}["a"] + x[1],
    lambda x: {**NAMED, "b": Gain(x[0])}["a"] + x[1],
    lambda x: (NAMED | {"c": LISTED[0]})["c"] + x[1],
])
def test_what_is_joined_with_objects_outside_is_refused(f):
    with pytest.raises(UnsupportedSyntax, match=r"(?s)may store into the global or closure variable 'NAMED'.*\^"):
        grad(f)(POINT)


class Doubler:
    def double(self, y):
        y *= 2.0


DOUBLE = Doubler().double


def by_a_method_under_a_global_name(x):
    y = x * 1.0
    DOUBLE(y)
    return np.sum(y * y)


def test_the_method_of_an_object_under_a_global_name_is_refused():
    """Once wrong in silence: what it stores into its argument had no derivative."""
    with pytest.raises(UnsupportedSyntax, match=r"(?s)this call cannot be differentiated.*DOUBLE"):
        grad(by_a_method_under_a_global_name)(POINT)


class Squares:
    def __getitem__(self, k):
        return k * k


SQUARES = Squares()


def indexed_twice(x):
    return SQUARES[x][0] * x[1] + np.sum(SQUARES[x[1:]][1:2] * x[:1])


def test_what_an_object_outside_makes_of_an_index_is_indexed():
    """Once a constant, silently wrong."""
    a, b, c = POINT[:3]
    np.testing.assert_allclose(grad(indexed_twice)(POINT)[:3], [2 * a * b + c * c, a * a, 2 * a * c])


MADE: dict = {}
exec("class Lib:\n    def __add__(self, k): return k * k\n    def __lt__(self, k): return k * 2\n", MADE)
LIB = MADE["Lib"]()


@pytest.mark.parametrize("f", [lambda x: LIB + x[0], lambda x: (LIB < x[0]) * 2.0])
def test_an_object_whose_class_has_no_source_is_refused(f):
    """Once taken for a number, silently wrong."""
    with pytest.raises(SrcgradError, match=r"(?s)class Lib.*\^"):
        grad(f)(POINT)
