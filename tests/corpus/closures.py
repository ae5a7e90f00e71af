"""Nested functions and lambdas that read their surroundings."""

import numpy as np

from tests.corpus.example import example, vector


@example(0.4, 0.9)
def nested_function(x, a):
    def inner(v):
        return a * v + v * v

    return inner(x) * inner(a)


@example(0.4, 0.9)
def lambda_in_a_name(x, a):
    f = lambda v: np.sin(a * v)
    return f(x) + f(f(x))


@example(0.4)
def captured_name_changes(x):
    a = x

    def inner(v):
        return a * v

    first = inner(x)
    a = first * first
    return inner(x) + first


@example(0.4, 0.7)
def two_levels(x, a):
    def outer(v):
        def inner(w):
            return w * a + v

        return inner(v) * inner(x)

    return outer(a)


@example(0.4, 0.7)
def nested_with_early_return(x, a):
    def limited(v):
        if v > a:
            return a * a
        return v * x

    return limited(0.5) + limited(0.9)


@example(vector(4), 0.3)
def nested_called_in_a_loop(x, a):
    s = a

    def step(v):
        return s * v + a

    for value in x:
        s = step(value)
    return s


@example(0.5)
def lambda_with_default(x):
    f = lambda v, k=2.0: v**k
    return f(x) + f(x, 3.0)


@example(0.5, 3)
def nested_recursion(x, n):
    def tower(v, k):
        if k == 0:
            return v
        return np.sin(x * tower(v, k - 1))

    return tower(x, n)


@example(0.5, 0.2)
def closure_passed_on(x, a):
    def twice(f, v):
        return f(f(v))

    return twice(lambda t: a * t * t + x, x)


def make_polynomial(c0, c1, c2):
    def value(x):
        return c0 + x * (c1 + x * c2)

    return value


parabola = make_polynomial(0.5, -1.0, 2.0)
line = make_polynomial(0.25, 3.0, 0.0)


@example(0.6)
def closures_from_a_factory(x):
    return parabola(x) * line(x)


example(0.6)(make_polynomial(1.0, 2.0, -0.5))


@example(vector(3), 0.4)
def immediately_called(x, a):
    return (lambda v, k: np.sum(v * k))(x, a) * a


@example(vector(3))
def argument_named_like_the_captured(x):
    k = np.sum(x)

    def f(x):
        return x * k

    return f(k) + np.sum(f(x))
