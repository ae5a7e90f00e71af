"""List comprehensions and generator arguments of reductions."""

import math

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(vector(4))
def list_comprehension(x):
    return np.sum(np.array([np.sin(v) * v for v in x]))


@example(vector(4), 0.3)
def comprehension_with_condition(x, a):
    return np.sum(np.array([a * v * v for v in x if v > 0.0])) + a


@example(vector(4))
def generator_in_sum(x):
    return sum(v * v for v in x) + sum([v * x[0] for v in x])


@example(matrix(2, 3))
def nested_comprehension(m):
    table = np.array([[v * v for v in row] for row in m])
    return np.sum(table @ m.T)


@example(matrix(2, 3))
def two_fors(m):
    return sum(m[i, j] * (i + j) for i in range(2) for j in range(3) if i != j)


@example(vector(4), 0.4)
def comprehension_variable_shadows(x, v):
    squares = [v * v for v in x]
    return sum(squares) * v


@example(0.4, 5)
def comprehension_over_range(a, n):
    terms = [a**k / math.factorial(k) for k in range(n)]
    return sum(terms) + terms[2]


@example(vector(5))
def comprehension_with_calls(x):
    def term(k, v):
        return v**k

    return sum([term(k, v) for k, v in enumerate(x, start=1)])


@example(vector(3), vector(3, 1))
def comprehension_over_zip(x, y):
    return max([u * v for u, v in zip(x, y)]) + min(u + v for u, v in zip(x, y))


@example(vector(4))
def comprehension_in_a_loop(x):
    s = 0.2
    for k in range(3):
        s = s + sum([s * v for v in x[k:]])
    return s


@example(vector(4))
def stacked_comprehension(x):
    rows = np.stack([x * k for k in range(1, 4)])
    return np.sum(rows @ x)
