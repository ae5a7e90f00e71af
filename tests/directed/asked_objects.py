"""Objects that are asked by functions of Python: ``abs``, ``divmod``, ``round``, those of ``operator`` and ``copy``."""

import copy
import functools
import math
import operator
from typing import NamedTuple

import numpy as np

from tests.corpus.example import matrix, vector
from tests.directed.program import directed


class Gauge:
    def __init__(self, level):
        self.level = level

    def __abs__(self):
        return self.level * self.level

    def __round__(self, digits=None):
        return self.level * (2.0 if digits is None else digits)

    def __floor__(self):
        return self.level * 3.0

    def __ceil__(self):
        return self.level * 4.0

    def __trunc__(self):
        return np.sin(self.level)

    def __neg__(self):
        return Gauge(self.level * -1.5)

    def __pow__(self, other):
        return self.level * other

    def __rpow__(self, other):
        return self.level + other * other

    def __divmod__(self, other):
        return self.level * other, self.level + other

    def __rdivmod__(self, other):
        return self.level - other, self.level * other * other

    def __matmul__(self, other):
        return self.level * other * 4.0

    def __lt__(self, other):
        return self.level < other.level

    def __copy__(self):
        return Gauge(self.level * 2.0)


@directed(vector(3))
def rounded_by_a_method(x):
    g = Gauge(x[1])
    return round(g) * x[0] + round(g, 3) * x[2] + round(Gauge(x[0])) * x[1]


@directed(vector(3))
def floors_of_objects(x):
    return math.floor(Gauge(x[0])) * math.ceil(Gauge(x[1])) + math.trunc(Gauge(x[2])) * abs(Gauge(x[0]))


@directed(vector(3))
def powers_by_function(x):
    return pow(Gauge(x[0]), x[1]) + pow(float(x[1]), Gauge(x[2])) * operator.pow(Gauge(x[2]), 2.0)


@directed(vector(3))
def quotients_and_remainders(x):
    a, b = divmod(Gauge(x[0]), x[1])
    c, d = divmod(float(x[1]), Gauge(x[2]))
    return a * b + c * d


@directed(vector(3))
def operators_by_function(x):
    g, h = Gauge(x[0]), Gauge(x[1])
    smaller = g if operator.lt(g, h) else h
    return operator.matmul(g, x[1]) * operator.neg(h).level + smaller.level * operator.add(x[2], x[0])


@directed(vector(3))
def copies_as_the_class_says(x):
    g = Gauge(x[0])
    return copy.copy(g).level * x[1] + copy.copy(Gauge(x[2])).level * g.level


class Counted:
    def __init__(self, level):
        self.level = level

    def __copy__(self):
        self.level = self.level * 2.0
        return Counted(self.level * 3.0)


@directed(vector(3))
def copies_that_change_what_they_are_made_of(x):
    first = Counted(x[0])
    second = copy.copy(first)
    second.level = second.level * x[1]
    third = copy.copy(second) if x[2] > 0 else second
    return first.level * second.level * third.level


class Growing:
    def __init__(self, level):
        self.level = level

    def __imul__(self, other):
        self.level = self.level * other
        return self


@directed(vector(3))
def operators_in_place_by_function(x):
    first = Growing(x[0])
    same = operator.imul(first, x[1])
    operator.imul(same, pow(x[2], 2))
    return first.level * same.level * x[0]


class Bits:
    def __init__(self, level):
        self.level = level

    def __xor__(self, other):
        return Bits(self.level * other.level + other.level)

    def __and__(self, other):
        return self.level * other.level * other.level

    def __or__(self, other):
        return self.level * 2.0 + other

    def __ior__(self, other):
        self.level = self.level * other
        return self

    def __invert__(self):
        return self.level * self.level * 3.0

    def __lshift__(self, other):
        return self.level * other

    def __rlshift__(self, other):
        return self.level * self.level * other

    def __rshift__(self, other):
        return self.level - other * other

    def __lt__(self, other):
        return Bits(self.level * other.level)

    def __add__(self, other):
        return Bits(self.level * other.level)


class Squares:
    scale = 3.0

    def __class_getitem__(cls, index):
        return index * index * cls.scale


class Pair(NamedTuple):
    first: float
    second: float


class Twice:
    def __init__(self, level):
        self.level = level * 2.0

    def __float__(self):
        return float(self.level)


def doubled(value):
    return Bits(value * 2.0)


@directed(vector(3))
def bitwise_operators_of_new_objects(x):
    mixed = (Bits(x[0]) ^ Bits(x[1])).level + (doubled(x[0]) & doubled(x[1])) + (Bits(x[1]) | x[2])
    return mixed * (~Bits(x[0] * x[0])) + (Bits(x[0]) << x[1]) + (float(x[1]) << Bits(x[2])) + (Bits(x[2]) >> x[0])


@directed(vector(3))
def bitwise_operators_of_named_objects(x):
    a, b = Bits(x[0]), Bits(x[1])
    c = a ^ b
    kept = [a, b]
    a ^= a
    b |= x[2]
    if ~a > 0 and (a & c) != 0:
        c ^= b
    return c.level * (kept[0] & kept[1]) + ~a


@directed(vector(3))
def what_comparisons_say_is_operated_on(x):
    a, b = Bits(x[0]), Bits(x[1])
    return ((a < b) & (b < a)) * (lambda p, q: p & q)(a, Bits(x[2]))


@directed(vector(3))
def bitwise_operators_by_function(x):
    table = {"^": operator.xor, "round": round}
    return (table["^"](Bits(x[0]), Bits(x[1])) & Bits(x[2])) * operator.inv(Bits(x[0])) + table["round"](Gauge(x[1]))


@directed(vector(3))
def rounded_by_keywords(x):
    either = round if x[0] > 0 else abs
    there = round(Gauge(x[0]), ndigits=2) * round(number=Gauge(x[1])) + round(ndigits=3.0, number=Gauge(x[2]))
    return there * either(Gauge(x[0] * x[1])) + pow(Gauge(x[1]), exp=x[2]) * round(Gauge(x[0]), None)


@directed(vector(3))
def items_of_a_class(x):
    kind = Squares
    return Squares[x[0] * x[1]] * kind[x[2]]


@directed(vector(3))
def functions_of_operator_and_named_tuples(x):
    both = operator.add(Pair(x[0], x[1]), Pair(x[2], x[0])) + Pair(x[1], x[1])
    return operator.getitem(Pair(x[0] * x[0], x[1]), 0) * both[2] + both[1] * both[4]


@directed(vector(3), without={"eager": "returned non-float"})
def what_functions_of_operator_tell(x):
    g = Gauge(x[0])
    return x[1] * operator.is_(g, g) + x[0] * operator.truth(g) + math.floor(Twice(x[0])) * x[2]


@directed(vector(3))
def copies_of_one_of_two(x):
    other = Twice(x[1]) if x[0] > 5.0 else Gauge(x[1])
    maybe = Twice(x[2]) if x[0] < 9.0 else None
    return copy.copy(other).level * copy.copy(maybe).level


@directed(vector(3))
def a_sum_that_starts_with_an_object(x):
    return sum([Bits(e) for e in x[1:]], Bits(x[0])).level


class Window:
    """What Python asks for where no method is called by its name."""

    def __init__(self, a):
        self.a = a

    def __getitem__(self, i):
        return self.a[i] * 2.0

    def __setitem__(self, i, v):
        self.a[i] = v * 3.0

    def __delitem__(self, i):
        self.a[i] = self.a[0] * 5.0

    def __delattr__(self, name):
        self.a[1] *= 7.0

    def __lshift__(self, i):
        self.a[i] *= 2.0
        return self

    def __le__(self, k):
        return self.a[0] * k

    def __ne__(self, k):
        return self.a[1] * k


@directed(matrix(3, 3))
def slices_and_tuples_of_an_object(x):
    """Once an error of the printer."""
    o, rows = Window(x[0] * 1.0), Window(x * 1.0)
    a, b = o[0:2]
    o[1:] = x[1, 1:] * a
    o[0] += b
    return np.sum(o[:] ** 2) + rows[0, 1] * np.sum(rows[1:, ...]) * np.sum(rows[:, 2])


@directed(vector(3))
def items_and_fields_that_an_object_deletes_itself(x):
    """Once wrong in silence: the field of the shadow was deleted."""
    o = Window(x * 1.0)
    del o[1]
    del o.name
    del o[2:]
    return np.sum(o.a**2)


@directed(vector(3))
def comparisons_with_the_object_on_the_right(x):
    """Once a half of the derivative was lost in silence."""
    o = Window(x * 1.0)
    return (3.0 >= o) * (o != 3.0) * (3.0 != o) + (x[0] * 2.0 >= o) * x[1]


@directed(vector(3))
def operators_one_after_the_other_in_a_statement(x):
    """Once the second was not read: the value was wrong too."""
    o = Window(x * 1.0)
    o << 0 << 1
    for i in range(2):
        o << i << 2
    return np.sum(o.a**2)


@directed(vector(3))
def a_function_that_stores_is_handed_to_a_call_in_a_statement(x):
    """Once left out, with what it stored."""
    y = x * 1.0

    def weight(q):
        y[q] *= 3.0
        return q

    sorted([2, 1], key=weight)
    sorted([1, 0], key=lambda q: weight(q))
    return np.sum(y * y)


class Doubling:
    def __call__(self, a):
        return a * 2.0

    def __eq__(self, other):
        return True

    __hash__ = None


DOUBLING = Doubling()


@directed(vector(3))
def an_object_that_equals_anything_is_called(x):
    """Once zero in silence: it was found among the functions without a derivative."""
    return np.sum(DOUBLING(x) ** 2) + sum(map(DOUBLING, x))


def by_two(a, b):
    return 1 if a > b else -1


@directed(vector(3))
def keys_by_comparisons(x):
    """Once a TypeError of the compiler, which looked for the key among functions."""
    low, high = sorted([x[2], x[0]], key=functools.cmp_to_key(by_two))
    return low * low * high


class Span(NamedTuple):
    low: float
    high: float

    def __abs__(self):
        return self.low * self.high

    def __round__(self, places=0):
        return self.low * self.high**2

    def __floor__(self):
        return self.high * 3.0

    def __lt__(self, other):
        return self.low * other


def length_of(span):
    return abs(span)


@directed(vector(3))
def named_tuples_that_say_what_they_are(x):
    """Once wrong in silence: what numbers give was asked of the items."""
    p = Span(x[0], x[1])
    q = Span(x[1] * 2.0, x[2])
    total = abs(p) + round(q, 2) + math.floor(p) * x[2] + length_of(q)
    return total + sum([abs(each) for each in [p, q]]) * x[0]


@directed(vector(3))
def comparisons_that_give_numbers_in_chains_and_beside_others(x):
    """Once no derivative, in silence: a comparison was taken for a truth value."""
    a, b, c = Span(x[0], x[1]), Span(x[1], x[2]), Span(x[2], x[0])
    s = (a < x[1] < 9.0) * x[0] + (a < 2.0 and b < x[2]) * x[1]
    s += float(Span(x[0], x[1]) < 2.0 and x[1] > -9.0 and Span(x[2], x[0]) < x[0])
    t = c < 2.0 or b < 1.0
    return s * t


def doubles_first(y):
    y[0] *= 2.0
    return 1


class Doubler:
    def __init__(self, y):
        self.y = y

    def hit(self):
        self.y[0] *= 2.0
        return 1


@directed(vector(3))
def statements_whose_value_nobody_takes(x):
    """Once left out with what they store, in silence: calls in displays and slices, lambdas handed to ``all``."""
    y = x * 1.0
    box = Doubler(y)
    [*map(lambda k: doubles_first(y), (1, 2))]
    all(map(lambda k: doubles_first(y) > 0, (1, 2)))
    y[: box.hit()]
    y[doubles_first(y) :]
    [1, 2][doubles_first(y)]

    def third():
        y[2] *= x[0]
        return 1

    y[third() :]
    not third()
    (third(), 2)
    return np.sum(y * y)
