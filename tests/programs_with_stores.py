"""Programs that store into arrays, and what is known of them only by running: one body for every mode.

``a`` and ``b`` are numbers, ``x`` and ``y`` arrays of four, ``m`` a 2 x 2 array.  The first part, and those
of ``tests.directed.memory``, found faults that random programs missed; the second is one program for each kind of store
and alias.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.directed.memory import FOUND

Program = Callable[[Any, Any, Any, Any, Any], Any]
PROGRAMS: dict[str, Program] = {function.__name__: function for function in FOUND}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def arguments() -> tuple[Any, ...]:
    """New arguments: 0 < b, so that branches on its sign are passed by."""
    x = np.array([0.3, -0.7, 0.9, 0.4])
    y = np.array([0.8, 0.2, -0.5, 0.6])
    return 1.3, 0.7, x, y, np.array([[0.5, -0.4], [0.3, 0.9]])


# --- found to be wrong once ------------------------------------------------------------------------------------------
def rebinds_its_parameter(x):
    x[0] = 0.6 * x[1]
    x = np.zeros(4)
    x[1] = 1.0
    return 0.3


@program
def callee_rebinds_its_parameter_after_a_store(a, b, x, y, m):
    z = 0.6 * y
    s = rebinds_its_parameter(z)
    return z * s


@program
def useful_restarts_at_break(a, b, x, y, m):
    s = 0.1
    for _ in range(2):
        s = np.sin(a)
        if b < 0.0:
            break
        s = 0.2
    return s


@program
def useful_restarts_at_continue(a, b, x, y, m):
    s = 0.1
    t = 0.0
    for _ in range(3):
        t = t + s
        s = np.sin(a)
        if b < 0.0:
            continue
        s = 0.2
    return t


def stores_a_constant(y):
    y[0] = 0.5
    return 0.1


@program
def callee_stores_over_what_its_caller_needs(a, b, x, y, m):
    z = 0.6 * y
    s = np.sum(np.sin(z))
    t = stores_a_constant(z)
    return s + t


@program
def rebinding_keeps_the_contents_of_the_class(a, b, x, y, m):
    z = 0.6 * x
    w = z
    s = np.sum(np.sin(z))
    z = np.zeros(4)
    w[0] = a
    return s + np.sum(w) + np.sum(z)


@program
def return_out_of_nested_loops(a, b, x, y, m):
    s = a
    for _ in range(3):
        s = np.sin(s) * b
        for j in range(3):
            s = s * x[j]
            if s < -0.03:
                return s * s
            s = s - 0.1
    return s


# --- kinds of stores -------------------------------------------------------------------------------------------------
@program
def store_of_a_number(a, b, x, y, m):
    z = np.zeros(4)
    z[0] = a
    z[-1] = a * b
    return z * y


@program
def store_of_a_slice(a, b, x, y, m):
    z = np.sin(x)
    z[1:3] = y[:2] * a
    z[::-2] = b
    return np.sum(z * z)


@program
def overlapping_slices(a, b, x, y, m):
    z = np.sin(x)
    z[1:3] = z[0:2]
    z[::-1] = z * a
    return np.sum(z * y)


@program
def store_into_everything(a, b, x, y, m):
    m = m * 1.0
    m[:] = x[:2]
    m[...] += a * m
    return np.sum(m * m)


@program
def store_by_tuple(a, b, x, y, m):
    k = np.outer(x, y)
    k[1, 2] = a
    k[:, 0] = y * b
    k[2] = x
    k[1:, 1:3] = m[0]
    return np.sum(k * k)


@program
def store_by_mask(a, b, x, y, m):
    z = np.sin(y)
    z[z > 0.2] = a
    z[x < 0.0] *= b
    return np.sum(z * z)


@program
def store_by_array(a, b, x, y, m):
    z = np.sin(y)
    z[[2, 0]] = x[:2] * a
    z[np.array([1, 3])] += b * x[2:]
    return np.sum(z * z)


@program
def duplicates_in_a_store(a, b, x, y, m):
    z = np.sin(y)
    z[[1, 1, 3]] = x[:3] * a
    z[[0, 0]] += x[2:]
    return np.sum(z * z)


@program
def masked_store_of_a_constant(a, b, x, y, m):
    z = y * a
    z[z > 0.5] = 0.5
    return np.sum(z * z)


@program
def every_augmented_operator(a, b, x, y, m):
    z = np.exp(y)
    z[0] += a
    z[1] -= b * z[0]
    z[2] *= a
    z[3] /= b
    z[1:] **= 2
    z -= x
    z *= z[::-1].copy()
    z /= a
    return np.sum(z * x)


@program
def augmented_name_seen_by_an_alias(a, b, x, y, m):
    z = np.sin(x)
    w = z
    z += y * a
    return np.sum(w * w)


@program
def rebound_name_not_seen_by_an_alias(a, b, x, y, m):
    z = np.sin(x)
    w = z
    z = z + y * a
    return np.sum(w * w) + np.sum(z)


@program
def index_changed_after_its_use(a, b, x, y, m):
    z = np.sin(x)
    i = 1
    z[i] = a * z[i - 1]
    i = 2
    z[i] = b * z[i - 1]
    return z


@program
def store_of_what_is_overwritten(a, b, x, y, m):
    z = np.sin(x)
    for i in range(3):
        z[i + 1] = z[i] * z[i + 1] + a
    return np.sum(z * y)


@program
def march(a, b, x, y, m):
    z = np.zeros(6)
    z[0] = b
    for i in range(5):
        z[i + 1] = np.sin(z[i]) * a
    return z[5]


@program
def stencil(a, b, x, y, m):
    u = np.concatenate([x, y])
    for _ in range(3):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.2 * a * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = v
    return np.sum(u * u)


@program
def stencil_in_place(a, b, x, y, m):
    u = np.concatenate([x, y])
    for _ in range(3):
        u[1:-1] += 0.2 * a * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@program
def partial_store_then_rebound(a, b, x, y, m):
    z = np.sin(x)
    z[0] = a
    s = np.sum(z * z)
    z = y * b
    z[1] = s
    return np.sum(z)


@program
def swap_of_elements(a, b, x, y, m):
    z = np.sin(x)
    z[0], z[1] = z[1], z[0] * a
    return np.sum(z * y)


@program
def branches_store(a, b, x, y, m):
    z = np.sin(x)
    w = np.cos(y)
    if a > 1.0:
        v = z
    else:
        v = w
    v[0] = b
    for i in range(4):
        if x[i] > 0.0:
            z[i] = y[i] * a
        else:
            w[i] += z[i] * w[i - 1]
    return np.sum(z * w)


@program
def early_return_after_a_store(a, b, x, y, m):
    z = np.sin(x)
    for i in range(4):
        z[i] = z[i - 1] * a
        if z[i] > 0.3:
            return z * b
    return z


@program
def store_into_an_argument(a, b, x, y, m):
    x[0] = y[1] * a
    x *= b
    m[0] += x[:2]
    return np.sum(x * y) + np.sum(m * m)


@program
def argument_under_another_name(a, b, x, y, m):
    z = x
    z[1:] = y[1:] * a
    return np.sum(x * y)


@program
def copy_of_an_argument(a, b, x, y, m):
    z = x.copy()
    z[0] = a
    return np.sum(z * x)


# --- views -----------------------------------------------------------------------------------------------------------
@program
def transposed(a, b, x, y, m):
    k = np.sin(m)
    t = k.T
    t[0, 1] = a
    k[0, 0] *= b
    return np.sum(t * m)


@program
def reshaped(a, b, x, y, m):
    k = np.sin(x)
    t = k.reshape(2, 2)
    t[1] = a * t[0]
    k[0] = b
    return np.sum(t * m)


@program
def reshaped_after_transposing(a, b, x, y, m):
    k = np.sin(m)
    t = k.T.reshape(4)
    t[1] = a
    k[0, 0] = b
    return np.sum(t * x) + np.sum(k)


@program
def raveled(a, b, x, y, m):
    k = np.sin(m)
    t = np.ravel(k)
    t[1] = a
    u = k.T.ravel()
    u[2] = b
    return np.sum(t * x) + np.sum(k * m) + np.sum(u * y)


@program
def views_of_views(a, b, x, y, m):
    k = np.outer(x, y)
    v = k[1:]
    w = v[:, ::2]
    w[0] = a
    u = w[1]
    u[1] *= b
    return np.sum(k * k)


@program
def atleast_and_asarray(a, b, x, y, m):
    k = np.sin(x)
    t = np.atleast_2d(np.asarray(k))
    t[0, 1] = a
    return np.sum(k * y)


@program
def conditional_view(a, b, x, y, m):
    z = np.sin(x)
    v = z[:2] if a > 1.0 else z[2:]
    v[0] = b
    return np.sum(z * y)


@program
def rows_by_iteration(a, b, x, y, m):
    k = np.sin(m)
    for row in k:
        row[0] = row[1] * a
    p, q = k
    q[1] = b
    return np.sum(k * m) + p[0]


@program
def value_plus_zero_is_new(a, b, x, y, m):
    z = x + 0.0
    w = z * 1.0
    w[0] = a
    z[1] = b
    return np.sum(x * y) + np.sum(z * w)


@program
def real_part(a, b, x, y, m):
    z = np.sin(x)
    w = np.real(z)
    w[0] = a
    return np.sum(z * y)


# --- callees ---------------------------------------------------------------------------------------------------------
def relax(y, a):
    for i in range(3):
        if y[i] > 0.9:
            return i
        y[i] = y[i] * y[i + 1] + a
    return 3


@program
def callee_stores_and_returns_from_its_loop(a, b, x, y, m):
    z = x * x
    w = z[::-1]
    k = relax(w, a * 0.1)
    return np.sum(z * z) + k


def filled(n, a):
    z = np.zeros(n)
    for i in range(n):
        z[i] = a ** (i + 1)
    return z


@program
def callee_fills_what_it_returns(a, b, x, y, m):
    z = filled(4, a)
    z[1] = b
    return np.sum(z * x)


def descend(z, n, a):
    if n == 0:
        return z[0]
    z[n] = z[n - 1] * a
    return descend(z, n - 1, a) + z[n]


@program
def recursion_stores(a, b, x, y, m):
    z = np.sin(x)
    s = descend(z, 3, a)
    return s * np.sum(z)


def first_or_second(p, q, a):
    return p if a > 1.0 else q


@program
def callee_returns_one_of_two(a, b, x, y, m):
    p = np.sin(x)
    q = np.sin(y)
    r = first_or_second(p, q, a)
    r[0] = b
    return np.sum(p * x) + np.sum(q * y)


def one_array_twice(x):
    y = np.sin(x)
    return y, [y, 2.0]


@program
def callee_returns_one_array_in_two_places(a, b, x, y, m):
    p, (q, s) = one_array_twice(x)
    p[0] = a * p[1]
    return np.sum(p * q * y) * s


def a_view_before_its_base(x):
    y = np.sin(x)
    return y[1:], y


@program
def callee_returns_a_view_and_its_base(a, b, x, y, m):
    p, q = a_view_before_its_base(x)
    p[0] = a
    q[2] *= b
    return np.sum(p * q[1:] * y[1:]) + q[2]


# --- kinds -----------------------------------------------------------------------------------------------------------
@program
def integers_beside_numbers(a, b, x, y, m):
    k = np.array([0, 2, 1, 3])
    k[0] = 3
    k[1:] = k[:-1]
    z = x[k]
    z[0] = a
    return np.sum(z * y)


@program
def a_number_that_becomes_an_array(a, b, x, y, m):
    s = 0.0
    for i in range(2):
        s = s + x * (i + 1.0)
        s[0] = a
    return np.sum(s * y)


@program
def loop_without_passes(a, b, x, y, m):
    z = np.sin(x)
    for i in range(0):
        z[i] = a
    return z * b
