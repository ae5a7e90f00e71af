"""User functions: defaults, keywords, stars, recursion, functions as arguments."""

import functools
import math

import numpy as np

from tests.corpus.example import example, matrix, vector


def square(v):
    return v * v


def scale(v, factor=2.0, *, shift=0.0):
    return v * factor + shift


def clipped(v, top):
    if v > top:
        return top * 1.0
    return v


@example(0.6)
def call_of_a_call(x):
    return square(square(x) + x)


@example(0.6, 1.2)
def call_in_an_expression(x, y):
    return square(x + y) / (1.0 + square(x)) - y


@example(0.5, 0.25)
def defaults_and_keywords(x, k):
    return scale(x) + scale(x, k) * scale(shift=x, v=k) - scale(x, factor=k, shift=0.5)


@example(0.5)
@example(1.5)
def callee_with_early_return(x):
    return clipped(x, 1.0) * x + clipped(x * 3.0, x)


@example(vector(5), 0.4)
def calls_in_a_loop(x, a):
    s = a
    for value in x:
        s = clipped(scale(s, value), 0.7) + square(value)
    return s


def product_and_sum(u, v):
    return u * v, u + v


@example(0.3, 0.9)
def callee_with_two_results(x, y):
    p, s = product_and_sum(x, y)
    _, t = product_and_sum(p, s)
    return p * s + t


@example(0.3, 0.9)
def unused_result_of_a_call(x, y):
    p, _ = product_and_sum(x, y)
    square(p)
    return p * x


def weighted_sum(first, *rest, weight=1.0):
    total = first
    for value in rest:
        total = total * 0.5 + weight * value
    return total


@example(0.3, 0.9, -0.4)
def star_arguments(x, y, z):
    return weighted_sum(x) + weighted_sum(x, y, z) * weighted_sum(z, y, weight=x)


@example(0.3, 0.9, -0.4)
def unpacked_arguments(x, y, z):
    values = (x, y, z)
    pair = (y, z)
    return weighted_sum(*values) + weighted_sum(x, *pair, weight=z)


def polynomial(x, **coefficients):
    return coefficients["a"] * x**2 + coefficients["b"] * x + coefficients.get("c", 1.5)


@example(0.3, 0.9, -0.4)
def keyword_dictionary(x, a, b):
    options = {"a": a, "b": b}
    return polynomial(x, a=a, b=b, c=x) * polynomial(x, **options)


@example(0.3, 0.9, 0.2, keywords={"rate": 0.5})
def variadic_entry(x, *others, rate=1.0):
    s = x
    for value in others:
        s = s * value + rate
    return s


def power(x, n):
    if n == 0:
        return 1.0
    if n % 2 == 1:
        return x * power(x, n - 1)
    return square(power(x, n // 2))


@example(1.1, 7)
def recursive_power(x, n):
    return power(x, n) + power(2.0 * x, 2)


@example(0.4, 3)
def self_recursion(x, n):
    if n <= 0:
        return np.sin(x)
    return x * self_recursion(x * 0.9, n - 1) + self_recursion(x, n - 2)


@example(0.7, 2, 2, argnums=(0,))
def ackermann(x, m, n):
    """Ackermann's recursion on the counters; the value collects x on the way."""
    if m == 0:
        return x + n * x
    if n == 0:
        return 0.9 * ackermann(x, m - 1, 1)
    inner = ackermann(x * 0.99, m, n - 1)
    return 0.5 * ackermann(0.3 * inner, m - 1, 1)


def is_even_step(x, n):
    if n == 0:
        return x
    return is_odd_step(np.sin(x), n - 1)


def is_odd_step(x, n):
    if n == 0:
        return -x
    return x * is_even_step(x * 1.1, n - 1)


@example(0.8, 5)
def mutual_recursion(x, n):
    return is_even_step(x, n) + is_odd_step(x * x, n - 1)


def fold(values, start):
    if len(values) == 0:
        return start
    return fold(values[1:], start * 0.5 + values[0] ** 2)


@example(vector(4), 0.3)
def recursion_over_an_array(x, a):
    return fold(x, a)


def apply_twice(function, value):
    return function(function(value))


def newton(function, derivative, guess, steps):
    for _ in range(steps):
        guess = guess - function(guess) / derivative(guess)
    return guess


@example(0.6)
def function_as_argument(x):
    return apply_twice(square, x) + apply_twice(np.sin, x)


@example(1.7)
def lambdas_as_arguments(a):
    return newton(lambda t: t**3 - a, lambda t: 3.0 * t**2, 1.0, 8)


def integrate(function, low, high, n=8):
    h = (high - low) / n
    total = 0.5 * (function(low) + function(high))
    for i in range(1, n):
        total = total + function(low + i * h)
    return total * h


@example(0.8, 1.9)
def quadrature_of_a_closure(a, b):
    return integrate(lambda t: np.exp(-a * t) * t, 0.0, b)


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2.0 * function(*args)

    return wrapper


@doubled
def decorated_sine(v):
    return np.sin(v)


@example(0.7)
def decorated_callee(x):
    return decorated_sine(x) * x


@example(0.5, "sin", argnums=(0,), analytic=False)
@example(0.5, "square", argnums=(0,))
def callee_chosen_by_a_branch(x, name):
    if name == "sin":
        y = math.sin(x)
    else:
        y = square(x)
    return apply_twice(square, y)


def activation(v, kind="tanh"):
    if kind == "tanh":
        return np.tanh(v)
    if kind == "relu":
        return np.maximum(v, 0.0)
    return v


@example(matrix(3, 3, 7), vector(3, 5))
def literal_arguments(w, x):
    return np.sum(activation(w @ x) + activation(w @ x, "relu") * activation(x, kind="none"))


def inner_loop(s, row):
    for value in row:
        s = s * value + 0.2
        if s > 0.9:
            return s, True
    return s, False


@example(matrix(3, 4))
@example(matrix(3, 4, 5))
def callee_reports_its_exit(m):
    s = 0.5
    for row in m:
        s, stop = inner_loop(s, row)
        if stop:
            break
        s = s + row[0]
    return s


class Spring:
    """A constant object whose static method is called; its fields are not read."""

    @staticmethod
    def force(x, k):
        return -k * x + 0.1 * x**3


@example(0.4, 2.0)
def static_method(x, k):
    return Spring.force(x, k) * x
