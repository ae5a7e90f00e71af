"""Local functions that bind names of the functions around them."""

from __future__ import annotations

import numpy as np

from tests.directed.program import directed, vector


@directed(vector(3))
def an_accumulator(x):
    total = 0.0
    count = 0

    def add(v):
        nonlocal total, count
        total += v * v
        count += 1
        if total > 1.0:
            total *= 0.5
        return count

    last = [add(v) for v in x][-1]
    add(x[0] * last)
    return total * count


@directed(vector(3))
def a_name_is_bound_anew_for_all_who_read_it(x):
    y = x * 2.0
    def later():
        return np.sum(y)

    def step(scale):
        nonlocal y
        y = y * y * scale + x

    before = y
    step(x[0])
    before[0] = 7.0 * x[1]
    step(x[1])
    return later() * before[0] + sum([y * 0.0 + y[0] for y in (x, y)])[0]


@directed(vector(3))
def a_parameter_is_bound_from_two_levels_below(x):
    def outer(v):
        "Its own v in every call."

        def middle(w):
            def inner():
                nonlocal v
                v = v * w

            inner()

        middle(x[1])
        middle(v)
        return v

    return outer(x[0]) + outer(x[2])


@directed(vector(3))
def what_is_loaded_before_the_call_is_the_old_value(x):
    t = x[0]

    def scaled():
        nonlocal t
        t = t * x[1]
        return t

    return t + scaled() * t


class Point:
    def __init__(self, a):
        self.a = a


@directed(vector(3))
def objects_in_cells(x):
    p = Point(x[0])
    best = None

    def move(v):
        nonlocal p, best
        p = Point(p.a * v)
        if best is None or p.a > best:
            best = p.a

    for v in x:
        move(v + 2.0)
    return p.a * best


@directed(vector(3))
def bound_by_a_loop_before_it_is_changed(x):
    def add(v):
        nonlocal total
        total += v

    for i in range(2):
        total = x[i]
    for v in x:
        add(v * v)
    return total * total


@directed(vector(3), 1)
def bound_by_an_inner_function_first(x, n):
    def begin():
        nonlocal a
        a = x[0] * 2.0

    def use():
        return a * x[1]

    if n > 5:
        a = x[2]
    begin()
    return use() * a


@directed(vector(3))
def bound_in_the_first_round(x):
    def change():
        nonlocal a
        a = a * x[1]

    for i in range(3):
        if i == 0:
            a = x[i]
        change()
    return a * a


# --- defaults of functions that are called inside try, which another function does -----------------------------------
@directed(vector(3), 0.83)
def default_inside_try_after_a_change(x, a):
    s, t = a * 0.5, x[0]
    s += 1.0
    try:

        def g(v, w=s):
            return v * w + t

        s = g(a)
    finally:
        x[2] -= 1.0
    return s * x[2]


@directed(vector(3), 0.83)
def default_of_a_lambda_inside_try_after_a_change(x, a):
    s = a * 0.5
    s += 1.0
    try:
        k = lambda v, w=s: v * w
        s = k(a)
        s += k(a, 2.0)
    finally:
        x[2] -= s
    return s * x[2]


@directed(vector(3), 0.83)
def default_of_a_function_that_another_one_calls(x, a):
    s = a * 0.5
    s *= 2.0

    def h(q):
        return g(q) + g(q, 2.0)

    try:

        def g(v, w=s):
            return v * w

        s = h(a)
    finally:
        x[1] = s
    return s * x[1]
