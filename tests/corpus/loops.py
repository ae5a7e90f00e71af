"""for and while without early exits."""

import numpy as np

from tests.corpus.example import example, matrix, positive, vector


@example(0.6, 5)
@example(0.6, 0)
def repeated_sine(x, n):
    for _ in range(n):
        x = np.sin(x) * 1.5
    return x


@example(0.6, 4)
def design_page(x, n):
    """The program of the design's page on emitted code."""
    s = x
    for i in range(n):
        u = np.sin(s)
        s = u * x + s / 3.0
    return s


@example(vector(6))
def running_product(x):
    p = 1.0
    for value in x:
        p = p * (1.0 + value)
    return p


@example(matrix(3, 4))
def rows_of_a_matrix(m):
    s = 0.0
    for row in m:
        s = s * 0.5 + np.sum(row**2)
    return s


@example(vector(5), vector(5, 1))
def zipped(x, y):
    s = 0.0
    for u, v in zip(x, y):
        s = s + u * np.sin(v) - s * u
    return s


@example(vector(5))
def enumerated(x):
    s = 0.0
    for i, u in enumerate(x):
        s += (i + 1) * u**2 * (1.0 - s)
    return s


@example(vector(5), 0.3)
def enumerated_from_one_and_zipped(x, a):
    s = a
    for k, (u, v) in enumerate(zip(x, x[1:]), start=1):
        s = s + u * v / k
    return s * s


@example(vector(5))
def reversed_range(x):
    s = 0.0
    for i in reversed(range(len(x))):
        s = np.tanh(s + x[i])
    return s


@example(vector(5))
def reversed_array(x):
    s = 1.0
    for value in reversed(x):
        s = value + 1.0 / (2.0 + s)
    return s


@example(vector(9))
def range_with_steps(x):
    s = 0.0
    for i in range(1, 9, 3):
        s = s + x[i] * x[i - 1]
    for i in range(8, 2, -2):
        s = s * x[i] + x[i]
    return s


@example(0.8)
def loop_over_a_tuple_of_numbers(x):
    s = x
    for weight in (0.5, 1.5, -2.0):
        s = s * x + weight
    return s


@example(0.8, 0.3)
def loop_over_a_list_of_variables(x, y):
    s = 0.0
    for value in [x, y, x * y]:
        s = s * value + np.sin(value)
    return s


@example(matrix(3, 3))
def nested_loops(m):
    s = 0.0
    for i in range(3):
        t = 1.0
        for j in range(3):
            t = t * (m[i, j] + 1.5)
        s = s + np.log(t) * s + t
    return s


@example(0.4, 4)
def triangular_loops(x, n):
    s = x
    for i in range(n):
        for j in range(i):
            for k in range(j, i):
                s = s * 0.9 + np.sin(s) * k
            s = s + x * j
    return s


@example(vector(6))
def branch_in_a_loop(x):
    s = 0.0
    for value in x:
        if value > 0.0:
            s = s + value**2
        else:
            t = s * value
            s = s - t
    return s


@example(vector(6), 0.7)
def branches_of_different_length(x, a):
    s = a
    for i in range(6):
        if i % 3 == 0:
            u = s * x[i]
            v = u * u
            s = s + v * a
        elif i % 3 == 1:
            s = np.exp(-s)
    return s


@example(3.7)
def while_counter(x):
    i = 0
    y = x
    while i < 4:
        y = y / 2.0 + np.sin(y)
        i += 1
    return y


@example(9.3)
def while_on_a_value(x):
    n = 0
    while x > 1.0:
        x = x / 2.0
        n = n + 1
    return x * n + x


@example(5.0)
@example(0.3)
def while_in_while(x):
    total = x
    while total > 1.0:
        y = total
        while y > 2.0:
            y = np.sqrt(y)
        total = total - y * 0.7
    return total


@example(2.0, 50)
def loop_carried_pair(x, n):
    a, b = x, 1.0
    for _ in range(n):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return a + b


@example(vector(4), matrix(4, 4))
def array_carried_round_a_loop(x, w):
    for _ in range(3):
        x = np.tanh(w @ x) + 0.1 * x
    return np.sum(x)


@example(vector(4))
def accumulated_array(x):
    total = np.zeros(4)
    for k in range(3):
        total = total + np.sin(k * x) * x
    return np.sum(total**2)


@example(positive(3), 7)
def loop_with_inactive_work(x, n):
    scale = 1.0
    s = 0.0
    for i in range(n):
        scale = scale * 0.5 + i
        label = f"step {i}"
        s = s + x[i % 3] / (scale + len(label))
    return s


@example(0.2, 3)
def loop_invariant_and_late_use(x, n):
    y = x * x
    z = 0.0
    for _ in range(n):
        z = z + y * x
    y = y * z
    return y + x


@example(vector(5))
def two_loops_with_one_variable(x):
    s = 0.0
    for i in range(5):
        s = s + x[i] ** 2
    for i in range(3):
        s = s * x[i]
    return s


@example(vector(3), {"a": 0.5, "b": -0.25})
def dict_views(x, table):
    s = np.sum(x)
    for value in table.values():
        s = s * value + 1.0
    for key, value in table.items():
        if key == "b":
            s = s + value**2
    for key in table.keys():
        s = s + table[key]
    for key in table:
        s = s * (1.0 + table[key])
    return s


@example(2.5)
def collatz_like(x):
    """Data-dependent trip count and branch."""
    steps = 0
    while steps < 12:
        if x < 1.0:
            x = 3.0 * x + 0.1
        else:
            x = x * 0.55
        steps += 1
    return x


@example(vector(4), 0.4)
def condition_overwritten_in_the_loop(x, a):
    keep = a > 0.0
    s = a
    for value in x:
        if keep:
            s = s * value
        keep = s > value
        s = s + a
    return s
