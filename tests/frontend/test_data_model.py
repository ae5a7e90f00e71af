"""What Python asks of an object, in which order, on both roads."""

from __future__ import annotations

import pytest

from srcgrad import value_and_grad
from tests.roads import POINT, ROADS, refused, right


# --- what is run through ---------------------------------------------------------------------------------------------
class Unending:
    """Its length is not where an index fails."""

    def __init__(self, d):
        self.d = d

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return self.d[i]


class Unmeasured:
    def __init__(self, d):
        self.d = d

    def __getitem__(self, i):
        return self.d[i]


class Doubled:
    def __init__(self, d):
        self.d = d

    def __len__(self):
        return len(self.d)

    def __getitem__(self, k):
        return self.d[k] * 2.0


def summed(x):
    return sum(v for v in Unending(x))


def looped(x):
    t = 0.0
    for v in Unmeasured(x):
        t += v
    return t


def in_step(x):
    t = 0.0
    for i, (v, w) in enumerate(zip(Unending(x), x)):
        t += v * w * i
    return t


def listed(x):
    return list(Unending(x))[-1] + max(Unending(x)) + sum(Unending(x))


def total(*values):
    return sum(values)


def spread(x):
    return total(*Unending(x))


def unpacked(x):
    a, b, *_ = Unending(x)
    return a + 3.0 * b


OUTSIDE = Unending([1.0, 2.0])


def an_object_outside(x):
    t = 0.0
    for v in OUTSIDE:
        t += v * x[1]
    return t


def counted(x):
    t = 0.0
    for k, v in enumerate(Doubled(x)):
        t += v * v * (k + 1)
    return t + sum(Doubled(x)) * max(Doubled(x))


def taken_apart(x):
    a, b = Doubled(x)
    first, *rest = Doubled(x)
    return a * b + first * rest[0]


class Held(Doubled):
    def __getitem__(self, k):
        return self.d[k]


def grows(x):
    o, s = Held([x[0], x[1]]), 0.0
    for v in o:
        s = s * 0.5 + v
        if len(o.d) < 4:
            o.d.append(v * x[1])
    return s


def grows_and_computes(x):
    o, s = Doubled([x[0], x[1]]), 0.0
    for _, v in enumerate(o):
        s = s * 0.5 + v
        if len(o.d) < 4:
            o.d.append(v * x[1])
    return s


@ROADS
@pytest.mark.parametrize(
    "function",
    [
        summed, looped, in_step, listed, spread, unpacked, an_object_outside, counted, taken_apart, grows,
        grows_and_computes,
    ],
)
@pytest.mark.costly(2)
def test_an_object_is_indexed_until_that_fails(function, road):
    """Once wrong in silence: the loop counted to ``__len__``."""
    right(function, road)


# --- what is reversed ------------------------------------------------------------------------------------------------
class Measured:
    """Its ``__iter__`` hands out something else than its ``__getitem__``."""

    def __init__(self, d):
        self.d = d
        self.e = [d[0], 3.0 * d[0]]

    def __iter__(self):
        return iter(self.d)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.e[i]


class Turning:
    def __init__(self, d):
        self.d = d
        self.e = [d[0], 3.0 * d[0]]

    def __iter__(self):
        return iter(self.d)

    def __reversed__(self):
        return reversed(self.e)


class Choosing(Turning):
    def __reversed__(self):
        return iter(self.e)


class Onward:
    def __init__(self, d):
        self.d = d

    def __iter__(self):
        return iter(self.d)


def backwards_by_length(x):
    t = 1.0
    for v in reversed(Measured(x)):
        t = t * 2.0 + v * x[1]
    return t


def backwards_by_a_method(x):
    t, o = 1.0, Turning(x)
    for k, v in enumerate(reversed(o)):
        t = t * 2.0 + v * k
    return t


def backwards_by_another_method(x):
    t = 1.0
    for v in reversed(Choosing(x)):
        t = t * 2.0 + v
    return t


def backwards_by_nothing(x):
    t = 1.0
    for v in reversed(Onward(x)):
        t = t * 2.0 + v
    return t


@ROADS
def test_an_object_is_reversed_by_its_length_and_indices(road):
    """Once wrong in silence: it was what ``__iter__`` hands out, from the end."""
    right(backwards_by_length, road)


@ROADS
@pytest.mark.parametrize("function", [backwards_by_a_method, backwards_by_another_method, backwards_by_nothing])
def test_an_object_that_is_reversed_by_a_method_is_refused(function, road):
    refused(function, road, "is reversed, whose __reversed__ is not|over what is no container or array for sure")


# --- what declines ---------------------------------------------------------------------------------------------------
class Declining:
    def __init__(self, v):
        self.v = v

    def __le__(self, other):
        return NotImplemented

    def __ge__(self, other):
        return self.v >= other.v

    def __eq__(self, other):
        return NotImplemented

    def __sub__(self, other):
        return NotImplemented

    __hash__ = None


class Reflecting:
    def __init__(self, v):
        self.v = v

    def __rsub__(self, other):
        return self.v * 2.0 + other.v


class Sometimes:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        if self.v > 1.5:
            return NotImplemented
        return self.v < other.v

    def __gt__(self, other):
        return self.v > other.v + 100.0

    def __sub__(self, other):
        if self.v > 1.5:
            return NotImplemented
        return self.v - other.v


class Guarding:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        if not isinstance(other, Guarding):
            return NotImplemented
        return self.v == other.v

    def __add__(self, other):
        if not isinstance(other, Guarding):
            return NotImplemented
        return Guarding(self.v * other.v)

    __hash__ = None


class Varying:
    """Its comparison has a derivative."""

    def __init__(self, v):
        self.v = v

    def __le__(self, other):
        return NotImplemented

    def __ge__(self, other):
        return self.v * other.v


def the_other_is_asked(x):
    return x[0] if Declining(x[0]) <= Declining(x[1]) else x[1]


def neither_is_equal(x):
    return x[0] if Declining(1) == Declining(1) else 3.0 * x[1]


def the_same_is_equal(x):
    o = Declining(x[0])
    return x[0] * (o == o) + x[1] * (o != o) + x[1] * (o == Guarding(x[0]))


def the_data_decide(x):
    return x[0] if Sometimes(x[0]) < Sometimes(x[1]) else x[1]


def guards(x):
    o = Guarding(x[0])
    return (o + Guarding(x[1])).v * (2.0 if o == Guarding(x[0]) else 1.0) * (1.0 if o == 3 else 4.0)


def the_right_operand_subtracts(x):
    return Declining(x[0]) - Reflecting(x[1])


def nobody_subtracts(x):
    return Declining(x[0]) - Declining(x[1])


def the_data_decide_who_subtracts(x):
    return Sometimes(x[0]) - Reflecting(x[1])


def the_other_varies(x):
    return (Varying(x[0]) <= Varying(x[1])) * x[0]


@ROADS
@pytest.mark.parametrize(
    "function",
    [
        the_other_is_asked, neither_is_equal, the_same_is_equal, the_data_decide, guards, the_right_operand_subtracts,
        the_other_varies,
    ],
)
def test_a_method_that_declines_is_followed_by_the_other_one(function, road):
    """Once wrong in silence: NotImplemented was taken for a truth value."""
    right(function, road)


def test_where_nobody_takes_the_other_operand_it_raises_what_python_raises():
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for -: 'Declining' and 'Declining'"):
        value_and_grad(nobody_subtracts)(POINT)


def test_a_method_that_declines_where_the_data_decide_is_refused_if_it_has_a_derivative():
    refused(the_data_decide_who_subtracts, "inferred", "NotImplemented")


# --- text beside an object -------------------------------------------------------------------------------------------
class Lettered:
    def __init__(self, v):
        self.v = v

    def __rmul__(self, other):
        return self.v * len(other)

    def __mul__(self, other):
        return self.v * self.v * len(other)

    __radd__ = __rsub__ = __rmul__

    def __rmod__(self, other):
        return self.v

    def __str__(self):
        return "v"


def lettered(v):
    return Lettered(v)


def text_on_the_left(x):
    o = Lettered(x[0])
    return ("ab" * o) * ("abc" + o) + ("a" - lettered(x[1])) * (b"ab" + o)


def text_on_the_right(x):
    return Lettered(x[0]) * "ab"


def text_that_formats(x):
    return len("%s, %s" % (Lettered(x[0]), x[1] > 5.0)) * x[0] + len("ab%s" % Lettered(x[0])) * x[1]


@ROADS
@pytest.mark.parametrize("function", [text_on_the_left, text_on_the_right, text_that_formats])
def test_an_object_beside_text_is_asked(function, road):
    """Once wrong in silence: what text is computed with was taken for text."""
    right(function, road)


class Asking:
    def __init__(self, x):
        self.x = x

    @staticmethod
    def same(a, b):
        if not isinstance(b, Asking):
            return NotImplemented
        return a.x == b.x

    def __eq__(self, other):
        return Asking.same(self, other)

    __hash__ = None


def a_static_method_declines(x):
    return x[0] * 100.0 if Asking(x[0]) == 3.0 else x[0] * x[1]


@ROADS
def test_a_method_that_declines_by_another_one(road):
    right(a_static_method_declines, road)
