"""Each line of the list "one regression test each" that needs a store, by its name there."""

import numpy as np

from tests.corpus.example import matrix, positive, vector
from tests.directed.program import directed


@directed(vector(4))
def y_plus_is_x_on_an_alias(x):
    y = x * 1.0
    z = y
    y += x
    return np.sum(z * y)


@directed(vector(4))
def y_is_y_plus_x_on_an_alias(x):
    y = x * 1.0
    z = y
    y = y + x
    z[0] = x[1]
    return np.sum(z * y)


@directed(vector(4), 0)
@directed(vector(4), 3)
def zero_trip_loop_that_stores(x, n):
    y = np.sin(x)
    for i in range(n):
        t = y[i] * y[i + 1]
        y[i] = t * t
    return np.sum(y * y)


@directed(vector(4))
def loop_variable_after_a_storing_loop(x):
    y = np.sin(x)
    for i in range(3):
        y[i] = y[i + 1] * x[i]
    y[i] = y[i] * i
    return np.sum(y * y) * i


@directed(vector(6))
def loop_variable_after_break_indexes_a_store(x):
    y = np.sin(x)
    for i in range(6):
        y[i] = y[i] * x[0]
        if y[i] > 0.0:
            break
    y[i] = y[i] * y[i]
    return np.sum(y * x)


@directed(vector(6))
def loop_variable_reassigned_before_a_store(x):
    y = np.sin(x)
    for i in range(4):
        i = i + 1
        y[i] = y[i - 1] * x[i]
        i = i * 100
    return np.sum(y * y)


@directed(vector(6), 4)
def bound_changed_in_a_storing_body(x, n):
    y = np.sin(x)
    for i in range(n):
        n = n - 1
        y[i] = y[n] * x[i]
    return np.sum(y * y) + n * y[0]


@directed(vector(4))
def partial_store_then_full_rebind(x):
    y = np.sin(x)
    s = y[1] * y[0]
    y[0] = x[1]
    s = s + np.sum(y * y)
    y = np.cos(x) * s
    return np.sum(y * y)


@directed(vector(4))
def store_of_a_constant_makes_zero(x):
    y = x * 1.0
    y[0] = 5.0
    return np.sum(y * y)


@directed(vector(4), 0.6)
def store_through_an_alias(x, a):
    y = np.sin(x)
    z = y
    z[1] = a * y[2]
    return np.sum(y * y)


@directed(vector(4), 0.6)
def store_through_a_view(x, a):
    y = np.sin(x)
    v = y[1:3]
    v[1] = a * v[0]
    return np.sum(y * y)


@directed(vector(4), 0.6)
def store_through_a_list_element(x, a):
    y = np.sin(x)
    ys = [y, x * 2.0]
    ys[0][1] = a * y[0]
    return np.sum(y * y) + np.sum(ys[1])


@directed(vector(4), 0.6)
def store_through_a_dict_value(x, a):
    y = np.sin(x)
    d = {"y": y, "x": x * 2.0}
    d["y"][1] = a * y[0]
    return np.sum(y * y) + np.sum(d["x"])


@directed(vector(4), 0.6)
def store_through_a_tuple_element(x, a):
    y = np.sin(x)
    pair = (y, a)
    pair[0][2] = pair[1] * y[0]
    return np.sum(y * y)


@directed(vector(4))
def overlapping_slice_store(x):
    y = np.sin(x)
    y[1:3] = y[0:2]
    return np.sum(y * y * x)


@directed(vector(5))
def overlapping_slice_store_backwards(x):
    y = np.sin(x)
    y[0:4] = y[1:5] * 1.5
    y[::-1] = y
    return np.sum(y * y * x)


@directed(vector(4), 1)
def index_variable_changed_after_its_use(x, i):
    y = np.sin(x)
    y[i] = y[i + 1] * x[0]
    i = i + 1
    y[i] = y[i - 1] * x[1]
    i = 0
    return np.sum(y * y)


@directed(vector(4))
def index_array_changed_after_its_use(x):
    y = np.sin(x)
    k = np.array([0, 2])
    y[k] = y[k] * x[1]
    s = np.sum(y[k])
    k[0] = 3
    y[k] = x[k] * s
    return np.sum(y * y)


@directed(matrix(2, 3), vector(3))
def full_slice_store(m, x):
    k = np.sin(m)
    k[:] = x
    s = np.sum(k * m)
    k[:] = s
    return np.sum(k * k)


@directed(matrix(2, 3), vector(3))
def ellipsis_store(m, x):
    k = np.sin(m)
    k[..., 1] = x[0] * k[..., 0]
    k[...] = k * m
    return np.sum(k * k)


@directed(vector(4), np.arange(4), np.array([True, False, True, False]))
def integer_and_bool_arrays_in_stores(x, k, mask):
    y = x * k
    y[mask] = x[1] * 2.0
    y[k % 2] = y[k // 2] * x[2]
    z = np.zeros(4)
    z[k] = mask * x
    return np.sum(y * z)


@directed(np.array(0.7), 0.3)
def zero_dimensional_array_is_stored_into(x, a):
    y = x * np.ones(())
    z = np.zeros(())
    z[()] = x * a
    z[...] += a
    return z * z * a


@directed(vector(4).astype(np.float32), analytic=False, tolerance=3e-3)
def float32_store(x):
    y = x * np.float32(2.0)
    y[0] = y[1] * x[2]
    y[2:] *= np.float32(0.5)
    return np.sum(y * y)


@directed(vector(4))
def a_scalar_that_becomes_an_array_and_is_stored_into(x):
    s = 0.0
    s = s + x
    s[0] = s[1] * x[2]
    return np.sum(s * s)


@directed(vector(6), 3)
def shape_that_changes_across_iterations(x, n):
    y = np.sin(x)
    for i in range(n):
        y = y[:-1] * x[i]
        y[0] = y[-1] * x[0]
    return np.sum(y * y)


@directed(vector(4), 0.4)
def user_names_of_the_compiler(x_bar, tape):
    y_bar = np.sin(x_bar)
    y_0 = y_bar
    t = y_0[1:]
    t[0] = tape * y_bar[0]
    sum = np.sum(y_bar * x_bar)
    return sum * tape


def scale(v):
    v[0] = v[0] * v[1]
    return v


def scale_of_another_kind():
    def scale(v):
        v[1] = v[1] * v[2]
        return v

    return scale


other_scale = scale_of_another_kind()


@directed(vector(4))
def two_callees_of_the_same_name_that_store(x):
    y = np.sin(x)
    scale(y)
    other_scale(y)
    return np.sum(y * y)


def adds_into(v, amount=0.5, *, place=0):
    v[place] += amount * v[1]
    return v


@directed(vector(4), 0.3)
def callee_that_mutates_with_default_arguments(x, a):
    y = np.sin(x)
    adds_into(y)
    adds_into(y, a)
    adds_into(amount=a * a, v=y, place=3)
    return np.sum(y * y)


@directed(vector(4), 0.3)
def closure_cell_read_at_call_time(x, a):
    y = np.sin(x)

    def total(k):
        return y[k] * a

    y[0] = x[1] * a
    s = total(0)
    y = y * 2.0
    a = a + s
    return s + total(0) + np.sum(y)


@directed(vector(4), vector(4, 1))
def gradient_of_an_unused_argument_beside_stores(x, unused):
    y = np.sin(x)
    y[0] = 1.0
    return np.sum(y)


@directed(vector(4), vector(4, 1))
def an_argument_that_is_wholly_overwritten(x, z):
    z[:] = x * 2.0
    return np.sum(z * x)


@directed(positive(4), analytic=False)
def masked_store(x):
    y = x * x
    y[y > 1] = 1
    return np.sum(y * x)


@directed(positive(4), analytic=False)
def masked_store_of_values(x):
    y = x * x
    big = y > 1.0
    y[big] = np.sqrt(y[big]) * x[0]
    y[~big] *= 2.0
    return np.sum(y * x)


@directed(vector(4))
def duplicate_gather(x):
    y = x[[0, 0, 1]]
    y[1] = y[0] * y[2]
    return np.sum(y * y)


@directed(positive(4))
def stores_inside_errstate(x):
    y = np.log(x)
    with np.errstate(invalid="ignore", divide="ignore"):
        y[0] = np.sqrt(x[0]) * y[1]
        y[1:] /= x[0]
    return np.sum(y * y)


@directed(positive(4))
def x_divided_by_its_element_in_place(x):
    y = x * 1.0
    y /= y[0]
    y[1:] = y[1:] / y[1]
    return np.sum(y * x)


@directed(vector(4), analytic=False)
@directed(np.array([0.9, 0.9, 0.9, 0.9]), analytic=False)
@directed(np.array([0.9, -0.9, 0.9, 0.9]), analytic=False)
def nested_early_returns_after_stores(x):
    y = np.sin(x)
    if y[0] > 0.0:
        y[0] = y[1] * x[2]
        if y[1] > 0.5:
            return np.sum(y * y)
        y[1] = y[0] * 2.0
    else:
        y[2] = y[3] * x[0]
        if y[3] > 0.0:
            y[:2] = 0.0
            return y[0] + y[2]
    return np.sum(y * x)


@directed(vector(4), 2.0)
def nan_in_the_untaken_side_of_where_beside_stores(x, a):
    y = x * 1.0
    y[0] = 0.0
    safe = np.where(y > 0.0, y, 1.0)
    z = np.where(y > 0.0, np.sqrt(safe), 0.0)
    z[1] = z[2] * a
    return np.sum(z * a)


@directed(vector(4), analytic=False)
def callee_read_before_it_stores(x):
    y = np.sin(x)
    y[0] += writes_and_returns(y)
    return np.sum(y * y)


def writes_and_returns(y):
    y[0] = y[1] * 10.0
    return y[2]


@directed(vector(4), 0.5)
def a_conditional_expression_stores_by_callee(x, a):
    y = np.sin(x)
    s = writes_and_returns(y) if a > 0.0 else a
    return s * y[0] + np.sum(y)
