"""Objects of classes: made inside, read, called, computed with, changed."""

from __future__ import annotations

import dataclasses
from collections import namedtuple
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from tests.corpus.example import example, vector


class Square:
    """A method that a class below overrides, a constant, functions of the class itself."""

    factor = 2.0

    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side * self.factor

    @staticmethod
    def squared(x):
        return x * x

    @classmethod
    def of_side(cls, side):
        return cls(side)


class Block(Square):
    factor = 3.0

    def __init__(self, side, height):
        super().__init__(side * 2.0)
        self.height = height

    def area(self):
        return super().area() + self.height * self.squared(self.height)

    @property
    def volume(self):
        return self.area() * self.height


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0
    names: list = dataclasses.field(default_factory=list)

    def squared(self):
        return self.x**2 + self.y**2

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __neg__(self):
        return Point(-self.x, -self.y)


@dataclasses.dataclass(frozen=True)
class Tripled:
    a: float
    b: float = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * 3.0)


class Pair(NamedTuple):
    u: float
    v: float = 1.5

    def product(self):
        return self.u * self.v


Record = namedtuple("Record", "p q")


class Affine:
    """Slots, a field called as something of arrays, calls, items."""

    __slots__ = ("T", "w")

    def __init__(self, w, shift):
        self.w = w
        self.T = shift

    def __call__(self, x):
        return self.w * x + self.T

    def __getitem__(self, i):
        return self.w * i

    def __len__(self):
        return 3


class Activated:
    """A function and None in fields."""

    def __init__(self, w, activation=np.tanh, bias=None):
        self.w = w
        self.activation = activation
        self.bias = bias

    def __call__(self, x):
        y = self.activation(self.w * x)
        if self.bias is not None:
            y = y + self.bias
        return y


class Vector:
    def __init__(self, items):
        self.items = items

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.items + other.items)
        return Vector(self.items + other)

    def __radd__(self, other):
        return self + other

    def __matmul__(self, other):
        return np.sum(self.items * other.items)


class Node:
    def __init__(self, value, rest=None):
        self.value = value
        self.rest = rest

    def total(self):
        if self.rest is None:
            return self.value
        return self.value + self.rest.total() * 2.0


class Meter:
    """An object that changes, with a list that grows and a property that is set."""

    def __init__(self, weight):
        self.total = 0.0
        self.weight = weight
        self.seen = []

    def add(self, value):
        self.total += value * self.weight
        self.seen.append(self.total)
        return self

    @property
    def mean(self):
        return self.total / len(self.seen)

    @mean.setter
    def mean(self, value):
        self.total = value * 2.0


class Stack:
    """Layers made in a loop, by an ``__init__`` that calls a method that changes the object."""

    def __init__(self, w):
        self.layers = []
        for i in range(2):
            self.layers.append(Affine(w, i + 1.0))
        self.reset()

    def reset(self):
        self.count = 0.0

    def __call__(self, x):
        for layer in self.layers:
            x = np.sin(layer(x))
        self.count += 1.0
        self.last = x
        return x * self.count


class Momentum:
    def __init__(self, w, rate):
        self.w = w
        self.rate = rate
        self.speed = np.zeros_like(w)

    def step(self, slope):
        self.speed = 0.9 * self.speed + slope
        self.w = self.w - self.rate * self.speed


@example(0.7)
def inheritance_and_super(a):
    block = Block(a, a * a)
    return block.area() + block.factor * block.side + Square.of_side(a).area() + block.volume


@example(0.7)
def operators_of_a_dataclass(a):
    p = Point(a, a * 3.0)
    q = Point(a)
    r = p + q * 2.0 + 2.0 * -p
    return r.squared() + q.y * r.x + len(q.names) + dataclasses.replace(p, y=a).squared()


@example(0.7)
def frozen_dataclass(a):
    t = Tripled(a)
    return t.a * t.b


@example(0.7)
def named_tuples_made_inside(a):
    pair = Pair(a, a + 1.0)
    other = pair._replace(u=a * a)
    u, v = other
    return pair.product() + other.u * u + v + Pair(a).product() + Record(a, 2.0).p + pair[0] * other[1]


@example(1.1)
def slots_and_items(x):
    s = Affine(x, x * x)
    return s(x) * s.T + s[2] * len(s)


@example(0.4)
def namespace_made_inside(a):
    m = SimpleNamespace(w=a, b=a * 2.0)
    return m.w * m.b


@example(0.3)
def functions_in_fields(a):
    return Activated(a)(0.4) + Activated(a, np.cos, a)(a)


@example(0.5)
def layers_of_several_classes(a):
    x = a
    for layer in [Affine(a, a * a), Activated(a), Affine(a, 1.0)]:
        x = layer(x)
    return x


@example(vector(3))
def reflected_operators(x):
    v = Vector(x)
    w = 1.0 + v + 2.0 + v
    return w @ v


# At second order a method of what is None at the end of the list would have to be known in our own text: refused.
@example(0.6, order=1)
def linked_list(a):
    nodes = Node(a, Node(a * a, Node(2.0 * a)))
    return nodes.total() ** 2 + nodes.rest.value


def scaled(p, s):
    return Point(p.x * s, p.y)


@example(0.3, 1.2)
def objects_through_functions(a, s):
    p = Point(a, 0.5)
    for _ in range(3):
        p = scaled(p, s)
    return p.squared()


@example(0.3, 0.8)
def object_chosen_by_a_test(a, b):
    p, q = Point(a, 1.0), Point(b, 0.5)
    best = None
    for each in [p, q]:
        if best is None or each.x > best.x:
            best = each
    return best.squared() * p.y


@example(vector(3))
def object_that_changes(x):
    m = Meter(x[0])
    for v in x:
        m.add(v)
    m.weight = m.total * 2.0
    m.add(1.0).add(x[1])
    return m.total * m.seen[1] + m.mean


@example(vector(3))
def property_that_is_set(x):
    m = Meter(x[0])
    m.add(x[1])
    m.mean = x[2] * m.mean
    return m.total**2


@example(vector(3), 0.1)
def optimizer_as_an_object(w, rate):
    o = Momentum(w, rate)
    for _ in range(4):
        o.step(2.0 * o.w * np.sum(o.w))
    return np.sum(o.w**2)


@example(vector(3))
def network_that_counts(x):
    net = Stack(x)
    y = net(x)
    z = net(y)
    return np.sum(z * net.last) + net.count


@example(vector(3))
def two_names_of_one_object(x):
    a = Meter(x[0])
    b = a
    b.total = x[1]
    a.seen.append(x[2] * a.total)
    return b.seen[0] * a.total * b.weight
