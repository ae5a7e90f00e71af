"""Conditions: if, elif, else, ternaries, boolean operators, chains, match."""

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(0.7)
@example(-0.7)
def leaky(x):
    if x > 0.0:
        return x * x
    return 0.1 * x


@example(0.3, 0.8)
@example(0.8, 0.3)
def larger_by_hand(x, y):
    if x > y:
        m = x * 2.0
    else:
        m = y * y
    return m * x


@example(-1.5)
@example(0.2)
@example(1.5)
@example(4.0)
def piecewise(x):
    if x < -1.0:
        y = -x
    elif x < 1.0:
        y = x**2
    elif x < 3.0:
        y = np.sin(x)
    else:
        y = np.log(x)
    return y + 0.5 * x


@example(0.4, 0.9)
@example(-0.4, 0.9)
@example(0.4, -0.9)
@example(-0.4, -0.9)
def nested_branches(x, y):
    z = x * y
    if x > 0.0:
        z = z + np.exp(y)
        if y > 0.0:
            z = z * z
        else:
            z = z - x
    else:
        if y > 0.0:
            w = np.sin(z)
            z = w * y
    return z


@example(0.5)
@example(-0.5)
def branch_without_else(x):
    y = x * x
    if y > x:
        y = y * 3.0 + x
    return y


@example(0.6, 0.2)
@example(0.2, 0.6)
def ternary(x, y):
    return (x * x if x > y else np.sin(y)) * (y if y > 0.0 else x)


@example(0.5, 0.5)
@example(0.5, 2.5)
@example(-0.5, 0.5)
def boolean_operators(x, y):
    if x > 0.0 and y < 1.0 or not (x < 0.0):
        r = x * y
    else:
        r = x - y
    if not (x > 0.0 and y > 0.0):
        r = r * r
    return r


@example(0.5)
@example(1.5)
@example(-2.0)
def chained_comparison(x):
    if 0.0 < x <= 1.0:
        return x**3
    if -3.0 < x < -1.0 != 0.0:
        return np.exp(x)
    return 2.0 * x


@example(0.7, "square", argnums=(0,))
@example(0.7, "sine", argnums=(0,))
@example(0.7, "else", argnums=(0,))
def match_on_strings(x, kind):
    match kind:
        case "square":
            y = x * x
        case "sine" | "sin":
            y = np.sin(x)
        case _:
            y = -x
    return y * x


@example(0.7, 0, argnums=(0,))
@example(0.7, 2, argnums=(0,))
@example(0.7, 9, argnums=(0,))
def match_on_numbers(x, order):
    match order:
        case 0:
            return x * 1.0
        case 1 | 2:
            x = x * x
        case _ if order > 5:
            x = x * float(order)
    return np.sin(x)


@example(0.8, None, argnums=(0,))
@example(0.8, 0.3, argnums=(0, 1))
def optional_argument(x, bias):
    if bias is None:
        return np.tanh(x)
    return np.tanh(x + bias)


@example(0.8, "tanh", argnums=(0,))
@example(0.8, "none", argnums=(0,))
def membership(x, name):
    if name in ("tanh", "sigmoid"):
        x = np.tanh(x)
    if name not in ("tanh",):
        x = x * 3.0
    return x * x


@example(vector(4))
def elementwise_where(x):
    return np.sum(np.where(x > 0.0, x**3, np.sin(x)))


@example(vector(4), vector(4, 1))
def maximum_and_minimum(x, y):
    return np.sum(np.maximum(x, y) * np.minimum(x, 0.3) + np.clip(y, -0.4, 0.4))


@example(matrix(2, 3))
@example(-2.0 * matrix(2, 3))
def condition_on_a_reduction(m):
    total = np.sum(m)
    if total > 0.0 and np.all(m < 10.0):
        return total * np.sum(m[0])
    return np.sum(np.exp(m))


@example(0.3, True, argnums=(0,))
@example(0.3, False, argnums=(0,))
def both_branches_assign_two_names(x, flag):
    if flag:
        a, b = x, x * x
    else:
        b, a = np.sin(x), 1.0
    return a * b + b


@example(0.9)
def untaken_branch_would_fail(x):
    if x < 0.0:
        y = np.ones((2, 3)) @ np.ones((2, 3)) * x
    else:
        y = x * x
    return y


@example(1.4, 0.3)
def condition_computed_from_result(x, y):
    z = x * y
    big = z > 0.1
    z = z - 1.0
    if big:
        z = z * z * x
    return z
