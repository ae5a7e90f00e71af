"""Classes that a function defines for itself."""

import dataclasses
import enum
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed

RATE = 2.0


@directed(vector(4))
def a_named_tuple_replaced_in_a_loop(x):
    class State(NamedTuple):
        u: float
        v: float

    s = State(x[0], x[1])
    for _ in range(3):
        s = s._replace(u=s.u + 0.1 * s.v, v=s.v - x[2] * s.u)
    u, v = s
    return u * v + s.u * x[3]


@directed(vector(3))
def a_dataclass_with_a_log(x):
    @dataclass(eq=False)
    class Part:
        w: float
        k: float = 2.0
        log: list = field(default_factory=list)

        def go(self, t):
            self.log.append(t * self.w * RATE)
            return self.k * t * self.w

    p = Part(x[0])
    return p.go(x[1]) * p.go(x[2]) + p.log[0]


@directed(vector(2))
def one_derived_from_the_other(x):
    class Square:
        scale = 3.0

        def __init__(self, v):
            self.v = v

        def area(self):
            return self.v**2 * self.scale

    class Cube(Square):
        def area(self):
            return super().area() * self.v

    return Cube(x[0]).area() + Square(x[1]).area()


@directed(vector(2))
def of_a_function_inside(x):
    def squared(y):
        @dataclasses.dataclass
        class Kept:
            a: float

        return Kept(y * y)

    return squared(x[0]).a * squared(x[1]).a


@directed(vector(2))
def methods_that_read_variables_and_make_more(x):
    k = x[1]

    class Leaf:
        def __init__(self, v):
            self.v = v * k

        def total(self):
            return self.v * k

        def added(self, other):
            return Leaf(self.v + other.v)

    class Node:
        def __init__(self, left, right):
            self.left, self.right = left, right

        def total(self):
            return self.left.total() * self.right.total() * self.left.added(self.right).total()

        def grown(self):
            return Node(Leaf(self.total()), self.left)

    return Node(Leaf(x[0]), Leaf(k)).grown().total()


@directed(vector(2))
def variables_that_bases_operators_and_properties_read(x):
    k, n = x[1], 2

    @dataclass
    class Point:
        a: float
        b: float = RATE
        rate = 3.0

        def __add__(self, other):
            return Point(self.a + other.a * k, self.b)

        @property
        def size(self):
            return self.scaled(k)

        def scaled(self, by):
            return sum(self.a * by * k for _ in range(n)) * self.rate

        @staticmethod
        def twice(v):
            return 2.0 * v

    @dataclass
    class Heavy(Point):
        def __mul__(self, other):
            return dataclasses.replace(self, a=self.a * other)

        def scaled(self, by):
            return super().scaled(by) * self.twice(self.b) + (lambda v: v * k)(self.a)

    both = Point(x[0]) + Point(k, b=x[0])
    return both.size * both.b + (Heavy(x[0]) * k).size


@directed(vector(2))
def layers_of_captured_weights(x):
    x = np.asarray(x)
    weights = np.outer(x, x) + np.eye(2)

    class Layer:
        def __init__(self, bias):
            self.bias, self.seen = bias, []

        def __call__(self, v):
            self.seen.append(v)
            return np.tanh(weights @ v + self.bias * x[0])

    layers, v = [Layer(each) for each in x], x
    for layer in layers:
        v = layer(v) if isinstance(layer, Layer) else v
    weights[0, 0] = 2.0 * x[0]  # the array that the methods see
    return np.sum(layers[0](v)) + layers[0].seen[0][1]


@directed(vector(2))
def numbers_that_keep_their_operands(x):
    class Config:
        rates = (0.5, 2.0)
        step = 0.1

    class Value:
        def __init__(self, data, parents=()):
            self.data, self.parents = data, parents

        def __add__(self, other):
            return Value(self.data + other.data, (self, other))

        def __mul__(self, other):
            return Value(self.data * other.data * Config.step, (self, other))

        __iadd__, __imul__ = __add__, __mul__

    a, b = Value(x[0]), Value(x[1])
    out = a * b + Value(Config.rates[1]) * a
    out += b
    return out.data * out.parents[1].data


@directed(vector(2))
def modes_and_exceptions(x):
    class Mode(enum.Enum):
        LINEAR = 1
        SQUARE = 2

    class Enough(Exception):
        pass

    total = x[0]
    try:
        for mode in (Mode.LINEAR, Mode.SQUARE, Mode.LINEAR):
            total = total * (x[1] if mode is Mode.LINEAR else x[1] ** 2)
            if mode is Mode.SQUARE:
                raise Enough
    except Enough:
        total = total * x[0]
    return total
