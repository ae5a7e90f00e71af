"""Classes that a function defines for itself."""

import dataclasses
from dataclasses import dataclass, field
from typing import NamedTuple

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
