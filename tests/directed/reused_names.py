"""One name for several things: an array, then the object or named tuple that is made of it; names of inner scopes."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed

Pair = namedtuple("Pair", "a b")


@dataclass
class Spring:
    k: float
    rest: float

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest) ** 2

    def stiffen(self, by):
        self.k = self.k * by
        return self


@dataclass
class Damper:
    c: float

    def energy(self, x):
        return self.c * x


def springs(x):
    return [Spring(v, 0.1) for v in x]


@directed(vector(3))
def a_parameter_made_an_object(theta):
    theta = Spring(theta[0], theta[1] * theta[2])
    return theta.energy(2.0) * theta.k


@directed(vector(3))
def a_parameter_unpacked_into_a_named_tuple(theta):
    theta = Pair(*theta[1:])
    return theta.a * theta.b + theta[0]


@directed(vector(3))
def an_array_then_an_object(x):
    s = x * 2.0
    s = Spring(s[0], s[1])
    s.stiffen(x[2])
    return s.energy(x[0])


@directed(vector(3))
def an_object_then_its_number(x):
    s = Spring(x[0], x[1])
    s = s.stiffen(x[2]).energy(1.5)
    return s * s


@directed(vector(3))
def in_one_branch_only(x):
    if x[0] > 0.0:
        x = Pair(x[0], x[1] * x[2])
        y = x.a * x.b
    else:
        x = Spring(x[1], x[2])
        y = x.energy(0.7)
    return y


@directed(vector(3))
def anew_in_every_round(x):
    r = x * x
    for k in range(3):
        r = Pair(r[k], r[0])
        r = np.array([r.a * r.b, r.b, r.a])
    return r.sum()


@directed(vector(3))
def two_classes_under_one_name(x):
    part = Spring(x[0], x[1])
    total = part.energy(x[2])
    part = Damper(x[1])
    return total * part.energy(x[2])


@directed(vector(3))
def a_list_of_objects_then_of_numbers(x):
    parts = springs(x)
    parts[0].stiffen(x[1])
    parts = [s.energy(x[2]) for s in parts]
    return sum(parts)


@directed(vector(3))
def after_an_attempt(x):
    s = x[0]
    try:
        s = s * np.exp(x[1])
        if x[2] > 100.0:
            raise ValueError
    except ValueError:
        s = x[1]
    s = Spring(s, x[2])
    with np.errstate(all="ignore"):
        e = s.energy(x[0])
        s = s.k
    return e * x[1]


@directed(vector(3))
def stored_into_before_it_is_reused(x):
    s = np.zeros(3)
    s[1:] = x[:2] * x[2]
    s[0] += s[1]
    s = Pair(s, s[::-1])
    s.a[0] *= 3.0
    return np.sum(s.a * s.b)


@directed(vector(2))
def bound_again_on_the_way_out_of_a_loop(x):
    """What is done finally runs after the break."""
    s = x * 2.0
    y = s[0]
    s = Damper(y)
    while True:
        try:
            break
        finally:
            s = Spring(x[1], 0.1)
    return s.energy(x[0]) + y


@directed(vector(3))
def a_field_of_what_was_bound_just_before(x):
    s = x * 2.0
    s = Spring(s[0], 0.1).energy(x[1])
    s, s.c = Damper(x[2]), x[1] * s
    return s.energy(x[0])


def last_index(row, k):
    for k in range(2):
        row = row * (1.0 + k)
    return k, row


@directed(vector(3), vector(3))
def an_argument_that_becomes_an_index(x, y):
    k, row = last_index(x, y * 2.0)
    for y in range(int(k)):
        row = row * (2.0 + y)
    return np.sum(row * x) * (1.0 + k)


@directed(vector(3), vector(3))
def an_argument_that_would_become_an_index(x, y):
    for y in range(x.size - 3):
        x = x * y
    return np.sum(x * y)


def last_place(row, k):
    for k, v in enumerate(row):
        row = row * (v + k)
    return k, row


@directed(vector(3), vector(3))
def an_argument_that_becomes_a_place(x, y):
    k, row = last_place(x, np.multiply(y, np.ones((2, 3))))
    return np.sum(row * x) * (1.0 + k)


@directed(vector(3))
def elements_and_then_indices(x):
    total = 0.0
    for v in [x * 2.0, x[:2]]:
        total = total + v @ v
    for v in range(2):
        total = total * (2.0 + v)
    return total * v


# --- names of comprehensions and lambdas, and what they are read from ------------------------------------------------
@directed(vector(3))
def inner_comprehension_over_its_own_name(x):
    v = x
    sums = [sum([v * v for v in v]) for v in (v[:2], v[1:])]
    return sums[0] * sums[1]


@directed(vector(3))
def inner_range_of_the_same_name(x):
    i = 2
    sums = [sum([x[i] for i in range(i + 1)]) for i in range(2)]
    return sums[0] * sums[1] * i


@directed(vector(3))
def inner_comprehension_in_one_of_a_dict(x):
    v = x
    made = {i: [v for v in v][0] for i, v in enumerate([v[:2], v[1:]])}
    return made[0] * made[1]


@directed(vector(3))
def default_of_a_lambda_in_a_comprehension(x):
    i = 2
    made = [lambda w, i=i: w * x[i] for i in range(2)]
    return made[0](2.0) * made[1](x[2]) + i


@directed(vector(3))
def all_arguments_of_a_lambda_in_a_comprehension(x):
    v = x
    made = [(lambda *v, **i: v[0] * i["a"])(v[0], a=v[1]) for v in (v[:2], v[1:])]
    return made[0] * made[1]


@directed(vector(3))
def captured_and_bound_by_an_inner_comprehension(x):
    w = x * 2.0
    act = lambda q: (lambda v: sum([v * w for w in (w[0], w[1])]))(q)
    return act(x[0])


@directed(vector(3))
def captured_by_a_pattern(x):
    match [x[0] * x[1], x[2], x[1]]:
        case [math, *cmath]:
            return math * cmath[0] * cmath[1]


@directed(vector(3))
def index_that_an_augmented_store_binds(x):
    y = x * 2.0
    y[(i := 1)] *= y[i] + i  # noqa: F821 (Python evaluates the index first)
    return y[0] * y[1]


@directed(vector(3))
def captured_where_the_guard_fails(x):
    w = x[1]
    match x[0] * x[1]:
        case w if w > 50.0:
            pass
    return w * x[2]


@directed(vector(3))
def captured_by_a_case_before(x):
    s = 0.0
    for v in [[x[0], x[1]], [x[1]], [x[2], x[0]]]:
        match v:
            case [a, b] if b > 50.0:
                s = s + a
            case [c]:
                s = s + c * a
            case [c, d]:
                s = s + a * b * d
    return s
