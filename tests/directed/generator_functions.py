"""Generator functions with several ``yield``, and ``yield from``: each part runs when the next item is asked for."""

import numpy as np

from tests.directed.program import directed

X = np.array([0.3, 1.1, -0.7, 0.9])


def squares(x):
    for v in x:
        yield v * v


def both(x):
    yield from squares(x)
    yield x[0]
    yield from squares(np.sin(x))


def steps(x):
    a = x[0]
    yield a
    a = a * x[1]
    yield a
    for i in range(2):
        a = a + x[2]
        yield a
        if a > 5.0:
            return
        yield a * x[i]


def newton(x):
    y = x
    while True:
        y = 0.5 * (y + x / y)
        yield y
        yield y * y


def changing(y):
    """Reads what the loop over it has stored meanwhile."""
    yield 0, y[0]
    yield 1, y[0] * y[1]
    for i in range(2, 4):
        yield i, y[i - 1] + y[i - 2]


def halves(x, deep):
    yield x
    if deep:
        yield from (0.5 * v for v in (x, x * x))


class Path:
    def __init__(self, points):
        self.points = points

    def legs(self):
        yield self.points[0]
        for a, b in zip(self.points, self.points[1:]):
            yield b - a


@directed(X)
def items_of_two_generators(x):
    s = 1.0
    for v in both(x):
        s = s + v * s * 0.1
    return s


@directed(X)
def a_generator_closed_early(x):
    s = 0.0
    for v in both(x):
        if v > 1.0:
            break
        s += v**3
    return s


@directed(X)
def a_generator_that_returns_early(x):
    s = 0.0
    for v in steps(x):
        s += v * v
    return s


@directed(X, argnums=(0,))
@directed(4.0 * X, argnums=(0,))
def rounds_that_end_in_several_ways(x):
    s, last = 0.0, 1.0
    for v in steps(x):
        if v < 0.2:
            last = v
            continue
        if v > 2.0:
            s = s * last
            break
        s += v * last
    else:
        s = s * 2.0
    return s + last


@directed(3.0)
def a_generator_without_end(x):
    s = 0.0
    for y in newton(x):
        s += y
        if s > 20.0:
            return s * x
    return x


@directed(X)
def a_generator_that_sees_what_the_loop_stores(x):
    y = x * 1.0
    for i, v in changing(y):
        y[i] = v * x[i]
    return np.sum(y**2)


@directed(X)
def generators_inside_each_other(x):
    s = 0.0
    for a in steps(x):
        for b in both(x):
            if b > 1.0:
                break
            s += a * b
        s = s * 0.5
    return s


@directed(X)
def what_built_in_functions_take(x):
    listed = list(steps(x))
    assert "," in ", ".join(f"{v}" for v in x)
    return listed[-1] * sum(both(x))


@directed(1.3)
def a_generator_expression_given_on(x):
    s = 0.0
    for v in halves(x, True):
        s += v * v
    for v in halves(x, False):
        s += v
    return s


@directed(X)
def methods_that_yield(x):
    path = Path([x[0], x[1] * x[2], x[3]])
    s = 0.0
    for leg in path.legs():
        s += leg * leg
    return s


@directed(X)
def a_generator_of_arrays(x):
    def parts():
        yield x[:2]
        yield x[2:] * x[:2]

    s = np.zeros(2)
    for part in parts():
        s += part
    return np.sum(s**2)


def leaves_its_loops(x):
    for v in x:
        for w in x:
            if w > 1.0:
                return
            yield v * w
            if v * w < -0.1:
                break
        else:
            yield v


@directed(X)
@directed(0.9 * X)
def returns_out_of_loops(x):
    s = 0.0
    for v in leaves_its_loops(x):
        s += v * v * v
    return s + sum(leaves_its_loops(x)) * len(list(leaves_its_loops(x)))


def swapped(x):
    a, b = x[0], x[1]
    yield a
    a, b = b, a * b
    yield a
    a, b = b, a * b
    yield a
    k = 3
    yield k * a


@directed(X)
def variables_of_both(x):
    s, t = 1.0, x[3]
    for v in swapped(x):
        s, t = s * t + v, s + v
    a, b, c, d = swapped(x)
    return s * t + a * b * c * d


def stores_around_items(y, out):
    for i in range(2):
        out[i] = y[i] * y[i]
        yield out[i]
        out[i] *= 3.0
        yield out[i + 1]


@directed(X)
def stores_of_both(x):
    out = x * 2.0
    s = 0.0
    for v in stores_around_items(x, out):
        out[1] += v
        s += v * out[0]
    return s + np.sum(out**2)


@directed(X)
def what_a_closed_generator_does_not_store(x):
    out = x * 2.0
    s = 0.0
    for v in stores_around_items(x, out):
        out[1] += v
        s += v * out[0]
        if s > 0.05:
            break
    return s + np.sum(out**2)


@directed(X)
def a_variable_that_the_generator_binds(x):
    k = x[2]

    def halved(n):
        nonlocal k
        for i in range(n):
            k = k * 0.5 + x[i]
            yield k
            yield k * k

    s = 0.0
    for v in halved(3):
        s += v * k
    return s * k


def fails_in_between(x):
    yield x[0]
    if x[1] > 1.0:
        raise ValueError("too large")
    yield x[1]


@directed(X)
@directed(0.5 * X)
def an_exception_of_the_generator(x):
    s = 0.0
    try:
        for v in fails_in_between(x):
            s += v * v
    except ValueError:
        s = s * x[2]
    return s


@directed(X)
def exceptions_in_the_rounds(x):
    s = 0.0
    for v in swapped(x):
        try:
            if v < 0.31:
                raise ValueError
            s += v * v
        except ValueError:
            s += v**3
    return s


@directed(X)
def returned_in_a_round(x):
    for v in swapped(x):
        if v > 0.32:
            return v * x[1]
    return x[0]
