"""Directed programs: each once caught a fault that random programs missed or found late.

a, b are scalars; x, y arrays of length 4; m a 2 x 2 array.  Those that store are in ``tests.directed.memory``.
"""

import numpy as np
from numpy import exp, sin, tanh
from numpy import sum as tot

from tests.corpus.example import example, matrix, vector

POINT = (0.7, -0.4, vector(4), vector(4, 1), matrix(2, 2))
OTHER = (0.62, 0.43, np.array([0.238, 0.186, -0.495, 0.221]), vector(4, 3), matrix(2, 2, 1))


def lt(u, v):
    return u < v


@example(*POINT)
@example(*OTHER)
def useful_restarts_at_break(a, b, x, y, m):
    s = 0.1
    for i in range(2):
        s = sin(a)
        if lt(b, 0.0):
            break
        s = 0.2
    return s


@example(*POINT)
@example(*OTHER)
def useful_restarts_at_continue(a, b, x, y, m):
    s = 0.1
    t = 0.0
    for i in range(3):
        t = t + s
        s = sin(a)
        if lt(b, 0.0):
            continue
        s = 0.2
    return t


@example(*POINT)
@example(*OTHER)
@example(0.9, 0.8, np.array([-0.9, 0.6, 0.2, 0.1]), vector(4), matrix(2, 2))
def return_out_of_nested_loops(a, b, x, y, m):
    s = a
    for i in range(3):
        s = sin(s) * b
        for j in range(3):
            s = s * x[j]
            if lt(s, -0.03):
                return s * s
            s = s - 0.1
    return s


def keeps_its_result(y, x):
    z = exp(y)
    w = tanh(z)
    return z * w[0]


@example(*POINT)
def a_callee_keeps_its_own_result(a, b, x, y, m):
    z = keeps_its_result(y, x)
    z = z * 0.5
    w = keeps_its_result(z, z)
    return tot(z * w)


@example(*POINT)
def an_output_based_rule_then_rebinding(a, b, x, y, m):
    z = tanh(y)
    w = z
    z = z * 0.5
    z = exp(z)
    return tot(z * w)


@example(*POINT)
def rebinding_while_an_alias_lives(a, b, x, y, m):
    z = 0.6 * y
    w = z
    z = z * 1.1
    return tot(z * w)


@example(*POINT)
@example(*OTHER)
def aliases_carried_round_a_loop(a, b, x, y, m):
    z = 0.3 * x
    w = z
    s = 0.0
    for i in range(3):
        w = z
        z = 0.6 * y * a
        if lt(x[i], 0.0):
            w = z * w
        s = s + tot(sin(w) * z)
    return s


@example(*POINT)
@example(*OTHER)
def back_edge_carries_activity(a, b, x, y, m):
    """u becomes active only through the back edge, one pass later than v."""
    u = 0.2
    v = 0.3
    w = 0.4
    for i in range(4):
        w = w * 1.1 + v
        v = sin(u) + 0.1
        u = u * 0.5 + a
    return w


@example(*POINT)
@example(*OTHER)
def back_edge_carries_need(a, b, x, y, m):
    """What the first statement of the next pass reads is needed at the end of this one."""
    s = a
    p = b
    for i in range(3):
        s = s * p
        p = tanh(p + s)
    return s


@example(*POINT)
@example(*OTHER)
def condition_behind_an_exit(a, b, x, y, m):
    """The second condition does not exist in the pass that leaves."""
    s = a
    for i in range(4):
        s = s * 1.2 + x[i]
        if lt(1.0, s):
            break
        positive = lt(0.0, s)
        if positive:
            s = s * y[i]
        else:
            s = s + b
    return s


@example(*POINT)
@example(*OTHER)
def value_overwritten_right_after_its_use(a, b, x, y, m):
    u = a
    s = b
    for i in range(3):
        s = s * u
        u = sin(u) + x[i]
        s = s + u * u
        u = u * s
    return s


@example(*POINT)
@example(*OTHER)
def return_leaves_a_branch_in_a_loop_in_a_branch(a, b, x, y, m):
    s = sin(a)
    if lt(b, 0.5):
        t = s * b
        for i in range(4):
            t = t * 1.5 + x[i]
            if lt(0.0, x[i]):
                u = t * y[i]
                if lt(u, 0.3):
                    return u * s + t
                t = t + u
        s = s + t
    return s * b


@example(*POINT)
@example(*OTHER)
def inactive_overwrite_kills_the_adjoint(a, b, x, y, m):
    s = a * b
    t = s * s
    if lt(b, 0.0):
        s = 0.5
    return t + s


@example(*POINT)
@example(*OTHER)
def continue_skips_the_overwrite(a, b, x, y, m):
    s = a
    t = b
    for i in range(4):
        s = s * t
        if lt(x[i], 0.0):
            t = t + s
            continue
        t = 0.4
        s = s + x[i]
    return s * t


@example(*POINT)
@example(*OTHER)
def callee_returns_out_of_nested_loops(a, b, x, y, m):
    s = return_out_of_nested_loops(a, b, x, y, m)
    t = return_out_of_nested_loops(s + b, a, y, x, m)
    return s * t


@example(*POINT)
@example(*OTHER)
def exit_of_the_inner_loop_decides_the_outer(a, b, x, y, m):
    s = a
    for i in range(3):
        t = s
        for j in range(4):
            t = t + x[j] * s
            if lt(t, 0.0):
                break
            t = t * y[j]
        else:
            continue
        s = s + t * t
        if lt(1.5, s):
            break
    return s * b


@example(*POINT)
@example(*OTHER)
def while_condition_reads_an_overwritten_value(a, b, x, y, m):
    s = a * a + 1.0
    n = 0
    while lt(0.3, s) and n < 6:
        s = s * 0.6 + 0.02 * x[n % 4]
        n += 1
        if lt(s, 0.45):
            s = s * b
    return s * n


@example(*POINT)
@example(*OTHER)
def index_guarded_by_an_exit(a, b, x, y, m):
    """What stands behind the exit must not be read in the pass that leaves: the index is out of bounds there."""
    s = a
    for i in range(9):
        if i + 1 >= len(x):
            break
        value = x[i + 1]
        s = s * value + b * y[i]
    return s


@example(*POINT)
@example(*OTHER)
def index_computed_behind_a_continue(a, b, x, y, m):
    s = a
    for i in range(6):
        j = i - 2
        if lt(j, 0.0) or j > 3:
            s = s * b
            continue
        k = 3 - j
        value = x[k]
        s = sin(s * value) + y[j]
    return s
