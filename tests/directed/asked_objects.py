"""Objects that are asked by functions of Python: ``abs``, ``divmod``, ``round``, those of ``operator`` and ``copy``."""

import copy
import math
import operator

import numpy as np

from tests.corpus.example import vector
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
