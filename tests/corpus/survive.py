"""Each line of the list "one regression test each" that needs no array store, by its name there."""

import functools

import numpy as np

from tests.corpus.example import example, matrix, vector


def gently(v):
    return np.sin(v) * 1.2


@example(0.4)
def x_is_f_of_x(x):
    for _ in range(3):
        x = gently(x)
    x = x * x
    return x


@example(0.4)
def x_is_x(x):
    x = x
    y = x * x
    y = y
    return y * x


@example(0.4, 0.8)
def y_is_x(x, y):
    y = x
    x = y * y
    z = y
    return x * z + y


@example(vector(3))
def y_is_x_for_arrays(x):
    y = x
    z = y
    y = y * x
    return np.sum(y * z * x)


@example(0.4)
def same_variable_twice(x):
    y = x * x * x
    return y * y + x / x - np.arctan(x) * x


@example(0.7, 0)
@example(0.7, 2)
def zero_trip_loop(x, n):
    s = x
    for i in range(n):
        t = np.sin(s) * (i + 1)
        s = t * x
    return s * x


@example(0.7, 0)
@example(0.7, 2)
def zero_trip_loop_defines_the_name(x, n):
    for i in range(n):
        t = x * (i + 2)
        last = t * t
    if n > 0:
        return last * t
    return x


@example(vector(4))
def loop_variable_after_the_loop(x):
    s = 0.0
    for i in range(4):
        s = s + x[i]
    return s * x[i] * i


@example(vector(4))
def element_after_the_loop(x):
    s = 1.0
    for value in x:
        s = s * value
    return s + value**2


@example(vector(6))
def loop_variable_after_break(x):
    s = 0.0
    for i in range(6):
        s = s + x[i] ** 2
        if s > 0.5:
            break
    return s * x[i] + i


@example(vector(6))
def loop_variable_reassigned(x):
    s = 0.0
    for i in range(5):
        i = i + 1
        s = s * 0.5 + x[i]
        i = i * 100
    return s * i


@example(vector(4))
def active_loop_variable_reassigned(x):
    s = 1.0
    for value in x:
        value = value * value
        s = s * (value + 0.5)
    return s + value


@example(matrix(3, 3))
def loop_variable_of_a_nested_loop(m):
    s = 0.1
    for i in range(3):
        s = s + m[i, 0] * s
        for i in range(2):
            s = s * (m[i, 1] + 1.0)
        s = s + m[i, 2]
    return s


@example(0.8, 4)
def bound_changed_in_the_body(x, n):
    s = x
    for i in range(n):
        n = n - 1
        s = s * 0.7 + n * np.sin(s)
    return s * (n + 1)


@example(vector(5))
def iterable_rebound_in_the_body(x):
    s = 0.0
    for value in x:
        x = x * 0.5
        s = s + value * x[0]
    return s


@example(0.8)
@example(-0.8)
def defined_in_one_branch_only(x):
    if x > 0.0:
        t = x * x
    y = np.sin(x)
    if x > 0.0:
        y = y * t
    return y


@example(vector(5), 1)
def index_changed_after_its_use(x, k):
    y = x[k] * x[k]
    k = k + 2
    z = y * x[k]
    k = 0
    return z * x[k]


@example(vector(5))
def index_changed_after_its_use_in_a_loop(x):
    k = 0
    s = 1.0
    while k < 4:
        s = s * x[k] + x[k + 1]
        k = k + 2
        s = s + x[k]
    return s


@example(vector(3), np.array([1, 2, 3]), np.array([True, False, True]))
def integer_and_bool_arrays_in_active_positions(x, counts, mask):
    return np.sum(x * counts * mask) + np.sum((x**counts)[mask]) + np.sum(counts + x)


@example(np.array(0.4), 0.9)
def zero_d_array_against_scalar(x, a):
    y = a * x
    z = y + a
    for _ in range(2):
        z = z * y
    return z


@example(vector(4).astype(np.float32), tolerance=2e-5, order=1)
def float32_seeds(x):
    y = x * x
    return np.sin(y)


@example(vector(3))
def scalar_that_becomes_an_array(x):
    s = 0.0
    for k in range(3):
        s = s + k * x * x
    return np.sum(s * x)


@example(vector(3), 0.5)
def scalar_argument_that_becomes_an_array(x, a):
    for _ in range(2):
        a = a * x + a
    return np.sum(a)


@example(vector(8))
def shape_that_changes_across_iterations(x):
    while len(x) > 1:
        half = len(x) // 2
        x = x[:half] * x[half:] + x[:half]
    return x[0]


@example(vector(2))
def shape_that_grows(x):
    for _ in range(3):
        x = np.concatenate([x, x[-2:] * x[0]])
    return np.sum(x**2)


@example(0.6, 0.3, 0.2, 0.9)
def names_of_the_compiler(x_bar, tape, y_bar, sum):
    x = x_bar * tape
    for i in range(2):
        x = np.sin(x) * y_bar
        leave = x + sum
        saved = leave * x
        x = saved
    return x * sum


@example(vector(3))
def names_of_modules(np_, unbroadcast=1.0):
    zeros_like = np_ * 2.0
    reversed_ = zeros_like * np_
    return np.sum(reversed_ * unbroadcast)


@example(vector(3), 0.5)
def a_parameter_called_np(x, np):
    y = x * np
    return (y * y).sum() * np


@example(vector(3), 0.4)
def shadowed_builtins(x, abs):
    len = 3.0
    max = abs * len
    range = x[0]

    def sum(v):
        return v[0] * v[1]

    return sum(x) * max + range * len


def ping(x, n):
    if n <= 0:
        return x * x
    return pong(x * 0.9, n - 1) + x


def pong(x, n):
    for _ in range(n):
        x = np.sin(x)
    if n <= 0:
        return x
    return x * ping(x, n - 1)


@example(0.8, 4)
def mutual_recursion_through_loops(x, n):
    return ping(x, n)


def times(k):
    def inner(v):
        return k * v * v

    return inner


def plus(k):
    def inner(v):
        return k + v

    return inner


first_inner, second_inner, third_inner = times(2.0), times(3.0), plus(0.5)


@example(0.8)
def two_callees_of_the_same_name(x):
    return first_inner(x) + second_inner(x) * third_inner(x)


def with_defaults(u, v=0.5, w=None, *, power=2):
    if w is None:
        w = u
    return u**power + v * w


@example(0.8, 0.3)
def default_and_literal_arguments(x, y):
    return with_defaults(x) * with_defaults(1.5, x) + with_defaults(x, 2.0, 3.0, power=3) + with_defaults(2, w=y)


def counter_factory():
    level = 0.5

    def read(v):
        return level * v * v

    def write(value):
        nonlocal level
        level = value

    return read, write


read_level, write_level = counter_factory()


@example(0.8)
def closure_cell_read_at_call_time(x):
    return read_level(x) * x


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@traced
def wrapped_product(u, v=2.0):
    return u * v


@example(0.8, 0.3)
def decorated_function_with_keywords(x, y):
    return wrapped_product(x) * wrapped_product(x, v=y)


@example(0.8, vector(3), matrix(2, 2))
def unused_arguments(x, y, m):
    return x * x


@example(np.array([-0.5, 0.3, 1.2]))
def nan_in_the_untaken_side_of_where(x):
    with np.errstate(all="ignore"):
        return np.sum(np.where(x > 0.0, np.log(x), x * x))


@example(np.array([0.0, 0.3, -1.2]), order=1)
def integer_power_at_zero(x):
    return np.sum(x**3) + x[0] ** 2 + np.sum(x**1) + np.sum(x**0)


@example(0.0, 3)
@example(0.0, 1)
@example(0.0, 0)
def variable_power_at_zero(x, n):
    return x**n + 2.0 * x


@example(vector(4))
def duplicate_gather_weighted(x):
    y = x[[0, 0, 1]]
    return y[0] * y[1] ** 2 * y[2]


@example(vector(3))
def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x * x) * x
        s = 0.0
        for v in y:
            s = s + v * v
    return s


@example(np.array([0.8, -0.3, 0.5]))
def divided_by_its_first_element(x):
    x = x / x[0]
    return np.sum(x * x)


@example(0.8, 0.5)
@example(-0.8, 0.5)
@example(0.8, -0.5)
@example(0.1, 0.5)
def nested_early_returns(x, y):
    z = x * y
    if y > 0.0:
        z = z + x
        if x < 0.0:
            return z * z
        for i in range(3):
            z = z * 1.1 + y
            if z > 1.2:
                if i > 1:
                    return z * x
                z = z - 0.4
                if x > 0.5:
                    return np.sin(z)
        z = z * y
    return z + x
