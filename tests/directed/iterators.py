"""Iterators that a name keeps: ``next`` and loops read on where the last of them stopped."""

import itertools

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


class Held:
    def __init__(self, v):
        self.v = v


@directed(vector(4), 0.7)
def the_first_apart(x, a):
    it = iter(x)
    t = next(it)
    for v in it:
        t = t * v + a
    return t


@directed(vector(4), 0.7)
def a_default_at_the_end(x, a):
    it = iter([x[0] * a, x[1], a])
    t = next(it)
    u = next(it)
    return t * u * next(it, 1.0) * next(it, a)


@directed(vector(4), 0.7)
def an_item_taken_by_the_body(x, a):
    it = iter(x)
    t = 0.0
    for v in it:
        if v > 0.5:
            t = t + v * next(it)
        else:
            t = t * a
    return t


@directed(vector(4), 0.7)
def stop_iteration_is_caught(x, a):
    it = iter(x)
    t = 0.0
    while True:
        try:
            v = next(it)
        except StopIteration:
            break
        t = t * v + a
    return t


@directed(vector(4), 0.7)
def loops_that_go_on(x, a):
    it = iter(x)
    t = 0.0
    for v in it:
        if v < 1.0:
            break
        t = t + v * a
    else:
        t = t * 2.0
    for v in it:
        t = t + v
    else:
        t = t * a
    for v in it:
        t = t * 100.0
    return t + next(it, a)


@directed(vector(4), 0.7)
def a_list_that_changes_meanwhile(x, a):
    xs = [a, x[0]]
    it = iter(xs)
    t = 0.0
    for v in it:
        t = t + v * v
        if len(xs) < 5:
            xs.append(v * x[1])
        xs[0] = a * a
    xs.append(a)
    for v in it:  # it stays at its end
        t = t * v
    return t


@directed(vector(4), 0.7)
def a_while_loop_over_next(x, a):
    it = iter(x)
    while (v := next(it, None)) is not None:
        a = a * v
    return a


@directed(vector(4), 0.7)
def rows_that_are_views(x, a):
    rows = np.outer(x, x) * a
    it = iter(rows)
    first = next(it)
    first[0] = a
    next(it)
    t = np.sum(rows)
    for r in rows:
        numbers = iter(r)
        t = t + next(numbers) * next(numbers)
        for v in numbers:
            t = t * v
    return t + np.sum(next(it) * next(it))


@directed(vector(4), 0.7)
def objects_one_by_one(x, a):
    it = iter([Held(v * a) for v in x])
    best = next(it)
    for o in it:
        if o.v > best.v:
            best = o
        o.v = o.v * best.v
    return best.v * a


@directed(vector(4), 0.7)
def tokens_and_their_numbers(x, a):
    tokens = iter(["+", 2, "*", 3])
    t = a
    for token in tokens:
        n = next(tokens)
        t = t + x[n] if token == "+" else t * x[n]
    return t


def leading(rows, a):
    """The idiom of a parameter that becomes its own iterator."""
    rows = iter(rows)
    first = next(rows)
    a = a * first
    for v in rows:
        a = a + first * v * v
    return a


@directed(vector(4), 0.7)
def a_parameter_that_becomes_an_iterator(x, a):
    return leading(x * a, a) * leading([a, x[0] * x[1], x[2]], x[3])


@directed(vector(4), 0.7)
def an_array_that_becomes_an_iterator(x, a):
    x = x * a
    total = np.sum(x)
    x = iter(x)
    for v in x:
        total = total * v + next(x) * a
    return total


@directed(vector(4))
def elements_while_something_else_is_stored(x):
    y = (x * 1.5).reshape(2, 2)
    kept = np.zeros(4)
    for k, (u, v) in enumerate(zip(y.T.flat, x.flat)):
        kept[k] = u * v
    return kept @ kept


@directed(vector(4))
def elements_that_the_loop_stores(x):
    y = (x * 1.5).reshape(2, 2)
    total = 0.0
    for v in y.flat:
        y[1, 1] = y[1, 1] * v
        total = total + v * v
    return total


class Sum:
    def __init__(self, y):
        self.y = y
        self.total = 0.0


@directed(vector(3))
def elements_of_what_is_never_stored_into(x):
    s = Sum(np.outer(x, x * x).T)
    counts = {"y": s.y, "n": 0.0}
    z = s.y.copy()
    for v in s.y.flat:
        s.total += v * v
        counts["n"] = counts["n"] + v
        z[0, 0] += v
    return s.total * counts["n"] + z[0, 0] * z[1, 1]


@directed(vector(3))
def generator_expressions_handed_to_itertools(x):
    s = sum(itertools.accumulate((v * v for v in x), lambda a, b: a * 0.5 + b))
    s += sum(itertools.chain(itertools.islice((v * s for v in x), 2), filter(lambda v: v > 0.0, (v * v for v in x))))
    s += sum(a * b for a, b in zip((v * v for v in x), itertools.accumulate((v * 2.0 for v in x), initial=s)))
    *_, last = itertools.starmap(lambda a, b: a * b, ((v, v * v) for v in x))
    return s * last + sum(itertools.takewhile(lambda v: v < 1e3, map(lambda v: v * v, (v + 1.0 for v in x))))


@directed(vector(4))
def a_generator_expression_with_a_name_is_asked_several_times(x):
    k, asked = 2.0, []

    def squared(v):
        asked.append(v)
        return v * v

    g = (squared(v) * k for v in x)
    first, k = next(g), x[1]
    same = g
    for v in same:
        first = first * v
        break
    return first * len(asked) + 3.0 * next(itertools.islice(g, 1, None)) + sum(same) + sum(asked)


@directed(vector(3))
def generator_expressions_in_each_other(x):
    rows = (sum(v * w for w in x if w > v * 0.5) for v in x)
    shifted = (r + 1.0 for r in (r * r for r in rows))
    return next(shifted) * sum(shifted) + sum(sum(map(lambda u: u * v, x)) for v in x)


def blended(values):
    total = 0.0
    for v in values:
        total = total * 0.5 + v
    return total


def first_two(values):
    return next(values) * next(values)


@directed(vector(4))
def generator_expressions_that_functions_are_given(x):
    g = (v * v for v in x)
    return first_two(g) + blended(g) * blended(v * x[0] for v in x)
