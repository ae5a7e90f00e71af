"""Objects chosen by keys, by tests and by what was best so far, read, called and changed where they are chosen."""

import functools

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Ball:
    def __init__(self, m, v):
        self.m = m
        self.v = v

    def energy(self):
        return 0.5 * self.m * self.v**2

    def grow(self, k):
        self.v = self.v * k
        return self


class Heavy(Ball):
    def energy(self):
        return self.m * self.v


def make(x):
    return [Ball(1.0, x[0]), Ball(2.0, x[1]), Ball(0.5, x[2])]


def pick(balls):
    best = None
    for o in balls:
        if best is None or best.energy() < o.energy():
            best = o
    return best


@directed(vector(3))
def a_field_of_the_largest(x):
    return max(make(x), key=lambda o: o.energy()).v * x[0]


@directed(vector(3))
def a_method_of_the_larger_of_two(x):
    a, b = Ball(1.0, x[0]), Ball(1.0, x[1])
    return max(a, b, key=lambda o: o.v).energy()


@directed(vector(3))
def the_largest_by_a_method_of_the_class(x):
    return max(make(x), key=Ball.energy).v


@directed(vector(3))
def methods_of_one_of_two_classes(x):
    a, b = Ball(1.0, x[0]), Heavy(2.0, x[1])
    return (a if x[2] > 0 else b).energy() * (a if x[2] > 100 else b).energy()


@directed(vector(3))
def one_of_two_is_changed(x):
    a, b = Ball(1.0, x[0]), Ball(2.0, x[1])
    (a if x[2] > 0 else b).grow(x[0])
    (a if x[2] > 0 else b).m = x[1]
    return a.energy() * b.energy()


@directed(vector(3))
def an_object_named_where_it_is_made(x):
    return (p := Ball(1.0, x[0])).energy() * p.v


@directed(vector(3))
def the_best_so_far_of_two_classes(x):
    best = None
    for o in [Ball(1.0, x[0]), Heavy(2.0, x[1])]:
        if best is None or o.energy() > best.energy():
            best = o
    return best.energy() * x[0]


@directed(vector(3))
def the_best_so_far_by_what_is_skipped(x):
    best = None
    for o in make(x):
        if best is not None and o.energy() <= best.energy():
            continue
        best = o
    return best.v * x[0]


@directed(vector(3))
def the_best_is_changed_where_a_callee_found_it(x):
    s = make(x)
    pick(s).grow(x[1])
    return sum(o.energy() for o in s)


@directed(1.3, 0.7)
def text_of_what_varies_is_no_number(x, a):
    """What text of a value may be: a key, a test, a rounded count, something that is kept beside the value."""
    label = f"{x:.3f}"
    kept = {label: x * a, "text": str(x) + "%s" % a}
    rounded = int(f"{x:.0f}")
    if len(label) > 3 and kept["text"] != "1":
        return kept[label] * x * rounded
    return x


class Ranked:
    def __init__(self, x, w):
        self.x = x
        self.w = w

    def __lt__(self, other):
        return self.x < other.x


def ranked(x, a):
    return [Ranked(x[i], a * (i + 1)) for i in range(3)]


@directed(vector(3), 0.7)
def sorted_objects_that_compare(x, a):
    made = ranked(x, a)
    falling = sorted(made, reverse=True)
    falling[0].w = falling[1].x * falling[2].w
    made.sort()
    return sum(o.w * o.x * k for k, o in enumerate(made)) + falling[2].w


@directed(vector(3), 0.7)
def the_least_of_objects_that_compare(x, a):
    made = ranked(x, a)
    min(made).w = x[0] * x[1]
    return max(made).w * min(made[0], made[1]).x + min(o for o in made).w + max(Ranked(a, x[2]), made[0]).w


@directed(vector(3), 0.7)
def rows_that_hold_objects_in_order(x, a):
    rows = [(int(10 * o.x), o) for o in ranked(x, a)]
    first = sorted(rows)[0]
    return first[1].w * first[1].x + min(rows)[1].w


class Dual:
    def __init__(self, re, du):
        self.re = re
        self.du = du

    def __lt__(self, other):
        return self.re < (other.re if isinstance(other, Dual) else other)

    def scaled(self, factor):
        return Dual(self.re * factor, self.du * factor + self.re)


@directed(vector(3))
def a_field_or_a_number_inside_of_a_test(x):
    """Refused once: the half that does not run reads a field of a number."""
    z, w = Dual(x[0], x[1]), Dual(x[1], 1.0)
    while not z < 0.25:
        z = z.scaled(0.5)
    if z < w and not w < 0.1:
        z = z.scaled(x[2])
    return z.re * z.du * w.re


@directed(np.array([0.6, 1.1, 1.7]))
def local_functions_that_remember(x):
    """Once refused: what they return is kept in a dict, a function of each call of this one."""

    @functools.lru_cache(maxsize=None)
    def ways(n):
        return x[n] if n < 3 else ways(n - 1) * x[2] + ways(n - 2) * x[0]

    @functools.cache
    def grid(i, j):
        if i == 0 or j == 0:
            return x[(i + j) % 3]
        return grid(i - 1, j) * 0.5 + grid(i, j - 1) * x[0]

    @functools.cache
    def squared(t):
        return t * t

    same = x[1] * 1.0
    return ways(12) * 1e-3 + grid(4, 3) + squared(x[1]) * squared(same)
