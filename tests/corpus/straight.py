"""Straight-line programs on scalars and arrays."""

import math

import numpy as np

from tests.corpus.example import example, matrix, positive, vector


@example(0.7)
def cube(x):
    return x**3


@example(0.7, -1.3)
def product_of_sums(x, y):
    return (x + 2.0 * y) * (x - y)


@example(1.3, 0.4)
def quotient(x, y):
    return x / (1.0 + y * y) - y / x


@example(0.3, 1.1)
def reused_subexpression(x, y):
    u = np.sin(x) * y
    v = u * u + u
    return v * u - v


@example(0.9)
def unary_operators(x):
    return -(+x) * -np.exp(-x)


@example(1.7, 2.3)
def powers(x, y):
    return x**2 + x**-1.5 + 2.0**y + x**y


@example(5.3, 1.7, analytic=False)
def floor_and_remainder(x, y):
    return (x // y) * y + (x % y) ** 2


@example(vector(5))
def sum_of_squares(x):
    return np.sum(x * x)


@example(vector(4), 0.6)
def scaled_sine(x, a):
    return np.sum(np.sin(a * x) / (1.0 + a * a))


@example(matrix(3, 4), vector(4), vector(3, 1))
def affine_layer(w, x, b):
    return np.tanh(w @ x + b)


@example(matrix(2, 3), vector(3), 0.4)
def broadcasting(m, row, a):
    column = np.sum(m, axis=1, keepdims=True)
    return np.sum((m - row) * column + a)


@example(positive(4))
def log_sum_exp(x):
    top = np.log(x)
    return np.log(np.sum(np.exp(top + x)))


@example(0.2, 0.5, 1.5, analytic=False)
def long_chain(x, mu, sigma):
    """The density of a normal law, written in small steps."""
    z = (x - mu) / sigma
    e = -0.5 * z**2
    p = math.exp(e)
    p = p / sigma
    p = p / math.sqrt(2.0 * math.pi)
    return p


@example(0.8, -0.4)
def several_results(x, y):
    return x * y, np.sin(x), y**2


@example(vector(3), 1.2)
def dictionary_result(x, a):
    scaled = a * x
    return {"scaled": scaled, "norms": (np.sum(scaled**2), [np.sum(x), a])}


@example(1.1, 2.2)
def constants_only_partly(x, y):
    k = 3.0 * 4.0 - 2
    j = k / 5
    return j * x + k


@example(0.4, 0.3, 0.9, argnums=(0, 2))
def some_arguments_only(x, y, z):
    return x * y * z + np.cos(y) * z


@example(vector(3), 2.0)
def augmented_assignment(x, a):
    s = a
    s += np.sum(x)
    s *= a
    s -= 0.5
    s /= 1.0 + a * a
    s **= 2
    return s


@example(0.3)
def many_intermediate_names(x):
    x1 = np.sin(x)
    x2 = x1 * x
    x3 = x2 + x1
    x4 = np.exp(x3)
    x5 = x4 / (x3 + 2.0)
    x6 = x5 * x1
    x7 = np.cos(x6)
    x8 = x7 - x2
    return x8 * x7
