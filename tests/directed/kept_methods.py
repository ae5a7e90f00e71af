"""Methods of an object that it keeps in its own fields: chosen where it is made, called through the field."""

import copy
from dataclasses import dataclass

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Integrator:
    def __init__(self, h, implicit):
        self.h = h
        self.step = self._shrinking if implicit else self._euler

    def _euler(self, x):
        return x + self.h * x

    def _shrinking(self, x):
        self.h = self.h * 1.1
        return x + self.h * x * x

    def run(self, x, count):
        for _ in range(count):
            x = self.step(x)
        return x


class Damped(Integrator):
    def _shrinking(self, x):
        return 0.5 * x * self.h + super()._shrinking(x)


class Layers:
    def __init__(self, w):
        self.w = w
        self.made = [self.square, self.cube]
        self.named = {"square": self.square, "cube": self.cube}
        self.hook = None

    def square(self, x):
        return x * x * self.w

    def cube(self, x):
        return x**3 + self.w

    def all(self, x):
        for f in self.made:
            x = f(x)
        return x

    def one(self, name, x):
        f = self.named[name]
        return f(x) * self.made[0](x)

    def hooked(self, x):
        return x if self.hook is None else self.hook(x)

    def hang(self):
        self.hook = self.square


class Turning:
    def __init__(self, w):
        self.w = w
        self.next = self.grow

    def grow(self, v):
        self.w = self.w * v
        self.next = self.shift
        return self.w

    def shift(self, v):
        self.w = self.w + v
        self.next = self.grow
        return self.w


class Mixed:
    def __init__(self, w, kind):
        self.w = w
        if kind == 0:
            self.f = self.square
        elif kind == 1:
            self.f = lambda x: x * w
        else:
            self.f = np.sin

    def square(self, x):
        return x * x * self.w


@dataclass
class Chosen:
    w: float
    kind: str = "plain"

    def __post_init__(self):
        self.act = {"plain": self.plain, "squared": self.squared}[self.kind]

    def plain(self, x):
        return x * self.w

    def squared(self, x):
        return x * x * self.w


@directed(vector(4), 0.3)
def chosen_in_init(x, a):
    return sum(Integrator(a, True).run(x, 2)) * Integrator(x[0], False).run(a, 3)


@directed(vector(4), 0.3)
def overridden_by_a_subclass(x, a):
    return Damped(a, True).run(x[0], 2) + Integrator(a, True).run(x[1], 1)


@directed(vector(4), 0.3)
def of_several_objects(x, a):
    made = [Integrator(a, True), Integrator(x[0], False)]
    t = x[1]
    for o in made:
        t = o.step(t)
    for o in made:
        t = o.step(t) * o.h
    return t


@directed(vector(4), 0.3)
def of_a_deep_copy(x, a):
    o = Integrator(a, True)
    p = copy.deepcopy(o)
    p.h = x[0] * p.h
    return p.step(x[1]) * o.h * p.step(a) * p.h


@directed(vector(4), 0.3)
def in_lists_and_dicts(x, a):
    o, p = Layers(a), Layers(x[2])
    return o.all(x[0]) * o.one("cube", x[1]) + p.made[1](a)


@directed(vector(4), 0.3)
def none_at_first(x, a):
    o = Layers(a)
    t = o.hooked(x[0])
    o.hang()
    return t * o.hooked(x[1])


@directed(vector(4), 0.3)
def each_call_sets_the_next(x, a):
    o = Turning(a)
    t = 0.0
    for v in x:
        t = t * a + o.next(v)
    return t * o.w


@directed(vector(4), 0.3)
def beside_other_functions(x, a):
    t = 0.0
    for k in range(3):
        t = t + Mixed(a * (k + 1), k).f(x[k])
    return t


@directed(vector(4), 0.3)
def chosen_after_the_init_of_a_dataclass(x, a):
    return Chosen(a, "squared").act(x[0]) * Chosen(x[1]).act(a)
