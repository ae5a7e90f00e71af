"""Managers that ``contextlib.contextmanager`` makes of what varies: the generator runs around the body."""

from contextlib import contextmanager

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


@contextmanager
def scaled(v, k=2.0):
    yield v * k


@contextmanager
def changed(box, k):
    old = box[0]
    box[0] = old * k
    yield box
    box[0] = box[0] + old


@contextmanager
def larger(v):
    if v > 0.5:
        w = v * v
    else:
        w = 3.0 * v
    yield w


@directed(vector(3))
def what_a_generator_gives(x):
    with scaled(x[0]) as a:
        s = a * x[1]
    return s * a


@directed(vector(3))
def a_return_inside_the_body(x):
    box = [x[0]]
    with changed(box, x[2]) as c:
        return c[0] * np.sin(x[1])


@directed(vector(3))
def what_stands_behind_the_yield(x):
    box = [x[0]]
    with changed(box, k=x[2]) as c:
        s = c[0] * x[1]
        c[0] = c[0] * s
    return s * box[0]


@directed(vector(4), vector(2))
def several_managers_in_a_loop(x, y):
    s = 0.0
    for v in x:
        with larger(v) as w, scaled(w, y[0]) as z:
            s = s + w * z
        with scaled(s, k=y[1]) as s:
            if v > 0.9:
                break
    return s


@directed(vector(3))
def an_exception_leaves_the_generator(x):
    box, s = [x[0]], 0.0
    try:
        with changed(box, x[1]) as c:
            s = c[0]
            if x[0] > 0.0:
                raise ValueError
            s = 100.0
    except ValueError:
        s = s + box[0]
    return s * box[0]


@directed(vector(3))
def a_round_that_ends_in_the_body(x):
    box, s = [x[0]], 0.0
    for v in x:
        with changed(box, v) as c:
            s = s + c[0]
            continue
    return s * box[0]


@directed(vector(3))
def a_generator_that_is_made_inside(x):
    n, s, box = 0.0, 0.0, [x[0]]

    @contextmanager
    def counted(v, k=x[2]):
        nonlocal n
        n = n + v * k
        yield n * box[0]
        box[0] = box[0] + v

    for v in x:
        with counted(v) as a, counted(x[1], v) as b:
            s = s + a * b
    return s * n
