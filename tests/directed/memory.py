"""The directed programs of the design: each caught a fault that random programs missed or found late.

a, b are scalars; x, y arrays of length 4; m a 2 x 2 array.
"""

import numpy as np
from numpy import exp, sin, tanh
from numpy import sum as tot

from tests.corpus import directed as plain
from tests.corpus.directed import OTHER, POINT, lt
from tests.corpus.example import vector
from tests.directed.program import directed

for program in (plain.useful_restarts_at_break, plain.useful_restarts_at_continue, plain.return_out_of_nested_loops):
    for point in (POINT, OTHER):
        directed(*point)(program)


def rebinds(x):
    x[0] = 0.6 * x[1]
    x = np.zeros(4)
    x[1] = 1.0
    return 0.3


@directed(*POINT)
def callee_rebinds_its_parameter_after_storing_into_it(a, b, x, y, m):
    z = 0.6 * y
    s = rebinds(z)
    return z


def sum_of_sines(y):
    return tot(sin(y))


@directed(*POINT)
def what_a_callee_kept_a_reference_to_is_stored_over_later(a, b, x, y, m):
    z = 0.6 * y
    s = sum_of_sines(z)
    z[0] = a
    return s + tot(z)


def stores_into_the_first(x, y):
    x[0] = 0.5
    return x[1] * y[0]


@directed(*POINT)
def two_arguments_of_one_class_one_mutated(a, b, x, y, m):
    z = 0.6 * y
    return stores_into_the_first(z, z)


def stores_a_constant(y):
    y[0] = 0.5
    return 0.1


@directed(*POINT)
def callee_stores_over_what_its_caller_still_needs(a, b, x, y, m):
    z = 0.6 * y
    s = tot(sin(z))
    t = stores_a_constant(z)
    return s


@directed(*POINT)
def output_based_rule_then_augmented_store_over_the_output(a, b, x, y, m):
    z = tanh(y)
    z[0] *= 0.5
    return tot(z)


@directed(*POINT)
def rebinding_must_not_drop_the_contents_of_the_class(a, b, x, y, m):
    z = 0.6 * x
    w = z
    s = tot(sin(z))
    z = np.zeros(4)
    w[0] = a
    return s + tot(w)


@directed(*POINT)
def rebinding_while_an_alias_lives_makes_a_new_shadow(a, b, x, y, m):
    z = 0.6 * y
    w = z
    z = z * 1.1
    w[0] = a
    return tot(z * w)


@directed(*POINT)
@directed(*OTHER)
def stored_aliases_carried_round_a_loop(a, b, x, y, m):
    z = np.zeros(4)
    s = 0.0
    for i in range(3):
        w = z
        w[0] = a * w[1]
        z = 0.6 * y * a
        if lt(x[i], 0.0):
            w = z
        w[i] = x[i] * w[1]
        s = s + tot(sin(w) * z)
    return s


@directed(*POINT)
def an_integer_index_is_a_view(a, b, x, y, m):
    k = sin(m)
    p = k[1]
    p[0] = a
    return tot(k)


def middle(y):
    return y[1:3]


@directed(*POINT)
def callee_returns_a_view_of_its_argument(a, b, x, y, m):
    z = sin(y)
    p = middle(z)
    p[0] = a * p[1]
    return z


def stores_from_the_second(x, y):
    x[0] = y[1]
    return 0.3


@directed(*POINT)
def callee_stores_an_active_value(a, b, x, y, m):
    z = sin(y)
    w = sin(x)
    stores_from_the_second(z, w)
    return z


@directed(*POINT)
def callee_makes_its_argument_vary(a, b, x, y, m):
    z = np.zeros(4)
    w = z
    stores_from_the_second(w, x)
    z = sin(z)
    return z


def stores_another_constant(x):
    x[0] = 0.7
    return 0.3


@directed(*POINT)
def callee_without_an_adjoint_that_stores_is_still_reversed(a, b, x, y, m):
    z = sin(x)
    s = tot(z * z)
    stores_another_constant(z)
    return s


def keeps_its_result(y, x):
    z = exp(y)
    w = tanh(z)
    return z


@directed(*POINT)
def callee_keeps_its_own_result(a, b, x, y, m):
    z = keeps_its_result(y, x)
    z[1:3] *= 0.5
    w = keeps_its_result(z, z)
    z[0] = w[1]
    return tot(z * w)


#: What found faults, where the tests of forward mode, shadows and second order ask for it as well.
FOUND = (
    callee_rebinds_its_parameter_after_storing_into_it,
    what_a_callee_kept_a_reference_to_is_stored_over_later,
    two_arguments_of_one_class_one_mutated,
    callee_stores_over_what_its_caller_still_needs,
    output_based_rule_then_augmented_store_over_the_output,
    rebinding_must_not_drop_the_contents_of_the_class,
    rebinding_while_an_alias_lives_makes_a_new_shadow,
    stored_aliases_carried_round_a_loop,
    an_integer_index_is_a_view,
    callee_returns_a_view_of_its_argument,
    callee_stores_an_active_value,
    callee_makes_its_argument_vary,
    callee_without_an_adjoint_that_stores_is_still_reversed,
    callee_keeps_its_own_result,
)


# --- the emitted code that the design shows ---------------------------------------------------------------------------
@directed(vector(4), 0.7)
def view_store(x, a):
    y = np.sin(x)
    v = y[1:3]
    v[0] = a * v[1]
    return np.sum(y * y)


@directed(0.3, 0.9, 6)
def march(x, a, n):
    y = np.zeros(n + 1)
    y[0] = x
    for i in range(n):
        y[i + 1] = np.sin(y[i]) * a
    return y[n]


# --- kept references, drained shadows, bindings -----------------------------------------------------------------------
@directed(*POINT)
def y_is_y_plus_x_while_an_alias_is_stored_into(a, b, x, y, m):
    z = sin(y)
    w = z
    z = z + x
    w[1] = a * z[1]
    return tot(z * w)


@directed(*POINT)
def y_plus_is_x_while_an_alias_lives(a, b, x, y, m):
    z = sin(y)
    w = z
    z += x
    w[1] = a * z[1]
    return tot(z * w)


@directed(*POINT)
def augmented_by_itself(a, b, x, y, m):
    z = sin(y)
    z += z
    z *= z
    z -= z * a
    return tot(z)


@directed(*POINT)
def every_augmented_operator_on_a_name(a, b, x, y, m):
    z = 2.0 + sin(y)
    z += x
    z -= a * y
    z *= 1.5 + y
    z /= 3.0 + x
    z **= 2.0
    return tot(z)


@directed(*POINT)
def every_augmented_operator_on_an_element(a, b, x, y, m):
    z = 2.0 + sin(y)
    z[0] += x[0]
    z[1] -= a * y[0]
    z[2] *= 1.5 + y[1] * z[0]
    z[3] /= 3.0 + x[2] * z[2]
    z[0] **= 2.0
    return tot(z * z)


@directed(*POINT)
def every_augmented_operator_on_a_slice(a, b, x, y, m):
    z = 2.0 + sin(y)
    z[1:] += x[:3]
    z[:2] -= a * y[2:]
    z[::2] *= 1.5 + y[1:3]
    z[1::2] /= 3.0 + x[:2]
    z[::-1] **= 2.0
    return tot(z * z)


@directed(*POINT)
def matrix_product_augmented(a, b, x, y, m):
    k = sin(m)
    p = k
    k @= m
    return tot(k * k) + p[0, 1] * a


@directed(*POINT)
def a_shadow_passed_through_two_callees(a, b, x, y, m):
    z = sin(y)
    p = middle(middle_of_copy(z))
    return tot(p) + tot(z * z)


def middle_of_copy(y):
    p = y[0:4]
    p[1] = p[0] * p[2]
    return p


@directed(*POINT)
def callee_stores_and_is_called_in_an_expression(a, b, x, y, m):
    z = sin(y)
    s = z[1] * 1.0
    t = stores_into_the_first(z, x)
    return s * t + tot(z)


def stores_recursively(z, a, n):
    if n == 0:
        return z[0]
    z[n] = z[n] * z[n - 1] + a
    return stores_recursively(z, a, n - 1) * z[n]


@directed(*POINT)
def recursive_callee_stores(a, b, x, y, m):
    z = sin(y)
    s = stores_recursively(z, a, 3)
    return s + tot(z * z)


def even_store(z, n, a):
    if n <= 0:
        return a
    z[n] = z[n] * a
    return odd_store(z, n - 1, a + z[n])


def odd_store(z, n, a):
    if n <= 0:
        return a * z[0]
    z[n] += a * z[n - 1]
    return even_store(z, n - 1, a * z[n])


@directed(*POINT)
def mutual_recursion_that_stores(a, b, x, y, m):
    z = sin(y)
    return even_store(z, 3, a) + tot(z * z)


def swaps_elements(z, i, j):
    z[i], z[j] = z[j], z[i]


@directed(*POINT)
def callee_swaps_elements(a, b, x, y, m):
    z = sin(y)
    swaps_elements(z, 0, 3)
    swaps_elements(z, 1, 0)
    return tot(z * x)


@directed(*POINT)
@directed(*OTHER)
def one_of_two_arrays_is_stored_into(a, b, x, y, m):
    z = sin(x)
    w = sin(y)
    p = z if lt(b, 0.0) else w
    p[1] = a * p[0]
    return tot(z * w)


@directed(*POINT)
@directed(*OTHER)
def alias_by_or(a, b, x, y, m):
    z = sin(x)
    w = None
    p = w or [z]
    q = p[0]
    q[2] = a
    return tot(z * z)


@directed(*POINT)
@directed(*OTHER)
def a_store_in_one_branch_only(a, b, x, y, m):
    z = sin(x)
    s = tot(z)
    if lt(b, 0.0):
        z[1] = a * s
    return s * tot(z * y)


@directed(*POINT)
def stores_in_nested_loops(a, b, x, y, m):
    k = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            k[i, j] = x[j] * y[i] + (k[i - 1, j] * a if i > 0 else b)
    return tot(k * k)


@directed(*POINT)
@directed(*OTHER)
def a_store_before_break_and_after_continue(a, b, x, y, m):
    z = sin(y)
    s = 0.0
    for i in range(4):
        z[i] = z[i] * a
        if lt(x[i], -0.3):
            continue
        z[0] = z[0] + s
        s = s + z[i] * x[i]
        if lt(0.6, s):
            break
        z[3 - i] = s
    return s + tot(z * z)


@directed(*POINT)
def a_while_loop_that_stores(a, b, x, y, m):
    z = np.zeros(5)
    z[0] = a
    i = 0
    while i < 4:
        z[i + 1] = z[i] * z[i] + x[i]
        i += 1
    return z[4] * tot(z)
