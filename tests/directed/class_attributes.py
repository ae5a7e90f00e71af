"""What a class holds stands in for a field until an object is given one of its own."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Square:
    def at(self, x):
        return x * x


class Cube:
    def at(self, x):
        return x * x * x


class Model:
    curve = Square()
    rate = 0.5
    weights = np.array([1.0, 2.0])
    kept = None

    def __init__(self, x):
        self.x = x

    def run(self, x):
        return self.curve.at(x)

    def scaled(self, x):
        return self.rate * np.sum(self.weights * x)

    def squared(self):
        if self.kept is None:
            self.kept = self.x**2
        return self.kept

    def curved(self):
        if self.kept is None:
            return self.x
        return self.kept.at(self.x)


class Box:
    def __init__(self, inside):
        self.inside = inside


def run(model, x):
    return model.curve.at(x)


def slow_down(model, by):
    model.rate = model.rate * by


@directed(vector(2))
def an_object_of_the_class_gives_way_to_one_of_the_object(x):
    model = Model(x[0])
    before = run(model, x[1])
    model.curve = Cube()
    return before + run(model, x[1]) * model.run(x[0])


@directed(vector(2))
def an_object_of_the_class_gives_way_in_a_loop(x):
    model = Model(x[0])
    total = 0.0
    for i in range(3):
        total = total + run(model, x[1]) * (i + 1)
        model.curve = Cube()
    return total * x[0]


@directed(vector(2))
def none_of_the_class_gives_way_to_an_object(x):
    model = Model(x[0])
    before = model.curved()
    model.kept = Cube()
    return before + model.curved() * x[1]


@directed(vector(2))
def some_objects_have_the_field_and_some_have_not(x):
    first, second = Model(x[0]), Model(x[1])
    first.curve = Cube()
    total = 0.0
    for model in (first, second):
        total = total + model.curve.at(x[1])
    return total


@directed(vector(2), order=1)
def deep_inside_of_other_objects(x):
    model = Model(x[0])
    box = Box(Box(Box(model)))
    before = run(box.inside.inside.inside, x[1])
    model.curve = Cube()
    return before + run(box.inside.inside.inside, x[1]) * 2.0


@directed(vector(2))
def numbers_and_arrays_of_the_class_give_way(x):
    model = Model(x[0])
    total = model.scaled(x[1])
    for _ in range(2):
        slow_down(model, x[0])
        total = total + model.scaled(x[0]) * total
        model.weights = model.weights * x[1]
    return total


@directed(vector(2))
def what_is_kept_is_not_computed_again(x):
    model = Model(x[0])
    first = model.squared()
    model.x = 5.0 * x[1]
    return first * model.squared() + model.kept


def doubled(v, w=2.0):
    return v * w if not isinstance(v, Activated) else 100.0


@dataclass
class Activated:
    weight: float
    act: Callable = doubled


@directed(0.7)
def a_function_as_a_default_of_a_field_is_no_method(x):
    one, other = Activated(x), Activated(3.0, lambda v: v * x)
    held = one.act
    return one.act(2.0 * x) * other.act(x) + held(one.weight)


class Acting:
    def __init__(self, by):
        self.by = by

    def act(self, v):
        return v * self.by


@directed(0.7, 1.3)
def a_store_hides_a_method(x, a):
    acting = Acting(x)
    same = acting
    same.act = lambda v: v * a
    return acting.act(2.0)


_PATCHED = Acting(2.0)
_PATCHED.act = math.sin


@directed(0.7, _PATCHED, argnums=(0,))
def an_argument_hides_a_method(x, acting):
    return acting.act(x)


class Stencil:
    weights = np.array([1.0, 2.0, 3.0])
    order = 2.0

    def __init__(self, values):
        self.values = values


@directed(vector(3))
def what_the_class_holds_is_read_before_the_object_has_its_own(x):
    stencil = Stencil(x)
    first = stencil.weights[1] * stencil.order
    stencil.weights = x * 2.0
    stencil.order = x[0]
    return first * stencil.weights[1] * stencil.weights[0] * stencil.order
