"""One memory under several names: views of every kind, and stores through them."""

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(vector(5))
def store_through_a_slice(x):
    y = np.sin(x)
    v = y[1:4]
    w = v[::-1]
    w[0] = x[0] * v[0]
    y[2] *= 3.0
    return np.sum(y * x) + np.sum(v * w)


@example(matrix(3, 3))
def store_through_the_transpose(m):
    y = m * 1.0
    t = y.T
    t[0] = m[1] * m[2]
    y[2, 0] += t[2, 1]
    return np.sum(y * m + t)


@example(vector(6))
def store_through_a_reshaped_view(x):
    y = x * 2.0
    m = y.reshape(2, 3)
    m[1] = m[0] * x[:3]
    r = m.ravel()
    r[0] = x[5]
    np.squeeze(m[None])[0, 2] = x[4] * y[3]
    return np.sum(y * y)


@example(matrix(2, 3))
def ravel_of_a_transpose_is_a_copy(m):
    y = m * 1.0
    r = y.T.ravel()
    r[0] = 5.0
    r[1:] *= 2.0
    y[0, 1] = r[2]
    return np.sum(y * m) + np.sum(r * r)


@example(matrix(3, 4))
def rows_are_views(m):
    y = m * m
    row = y[1]
    row[0] = m[0, 0]
    for r in y:
        r[1] *= 2.0
        r[2:] += r[:2]
    return np.sum(y * m)


@example(matrix(3, 3))
def diagonal_and_swapped_axes(m):
    y = m * 2.0
    s = np.swapaxes(y, 0, 1)
    s[0, 1:] = m[0, 1:] ** 2
    np.moveaxis(y, 0, 1)[2] *= m[1]
    d = np.diagonal(y) * 1.0
    d[0] = 3.0
    return np.sum(y * m) + np.sum(d)


@example(vector(4))
def two_names_for_one_array(x):
    y = x * 2.0
    z = y
    z += x
    y[0] = z[1] * x[3]
    w = z = y
    w *= 2.0
    return np.sum(y * z)


@example(vector(4))
def new_value_or_old_memory(x):
    y = x * 1.0
    z = y
    y = y + x
    z[0] = 3.0 * x[1]
    a = x * 1.0
    b = a
    a += x
    b[0] = 3.0 * x[1]
    return np.sum(y * z) + np.sum(a * b)


@example(vector(4))
def alias_in_one_branch(x):
    y = x * 2.0
    z = x * 3.0
    w = y if x[0] > 0.0 else z
    w[0] = x[1] ** 2
    if x[2] > 0.0:
        z = y
    z[1] *= x[3]
    return np.sum(y * x) + np.sum(z * z) + np.sum(w)


@example(vector(4))
def names_for_other_memory_in_every_pass(x):
    z = np.zeros_like(x)
    s = 0.0
    for i in range(3):
        w = z
        w[0] = x[0] * w[1]
        z = 0.6 * x * x[1]
        if x[i] < 0.0:
            w = z
        w[i] = x[i] * w[1]
        s = s + np.sum(np.sin(w) * z)
    return s


@example(vector(4))
def rebinding_leaves_the_other_name(x):
    z = 0.6 * x
    w = z
    s = np.sum(np.sin(z))
    z = np.zeros_like(x)
    w[0] = x[1]
    z[2] = w[0] * x[3]
    return s + np.sum(w * z) + np.sum(w)


def fill(y, value):
    y[0] = value
    y[1:] *= value
    return np.sum(y)


def middle(y):
    return y[1:3]


def kept(y):
    w = np.tanh(y)
    y[0] = 0.5
    return w


@example(vector(4))
def callee_stores_into_its_argument(x):
    y = x * 2.0
    s = fill(y, x[1])
    t = fill(y[1:], s)
    return np.sum(y * x) + s * t


@example(vector(4))
def callee_returns_a_view(x):
    y = np.sin(x)
    p = middle(y)
    p[0] = x[3] * p[1]
    return np.sum(y * x)


@example(vector(4))
def callee_keeps_what_is_stored_over(x):
    y = 0.6 * x
    s = np.sum(np.sin(y))
    w = kept(y)
    w[1] = y[0] * x[0]
    y[2] = s
    return np.sum(w * y) + s


@example(vector(4))
def local_function_stores(x):
    y = x * 1.0

    def push(i, e):
        y[i] = y[i] * e
        return y[i]

    a = push(0, x[1])
    b = push(1, a)
    return np.sum(y * x) + a * b


@example(vector(3))
def array_in_two_places_of_a_tuple(x):
    y = x * x
    pair = (y, y)
    pair[0][1] = x[0]
    a, b = pair
    b[2] *= a[1]
    return np.sum(y * x)


@example(vector(3))
def arrays_in_a_list(x):
    rows = [x * 1.0, x * 2.0]
    rows[0][1] = rows[1][2] * x[0]
    rows[1] *= 2.0
    rows[1][0] = 1.0
    last = rows[-1]
    last[2] = rows[0][1]
    return np.sum(rows[0] * rows[1])


@example(matrix(2, 2), vector(2))
def asarray_and_atleast(m, x):
    y = np.asarray(x * 2.0)
    z = np.asarray(y)
    z[0] = x[1]
    w = np.atleast_2d(y)
    w[0, 1] = m[0, 0]
    u = np.array(y)
    u[0] = 7.0
    v = y.astype(y.dtype, copy=False)
    v[0] *= 2.0
    return np.sum(y * x) + np.sum(u * m[1])


@example(vector(4))
def swap_through_a_temporary(x):
    y = x * 1.0
    t = y[0:2]
    y[0:2] = y[2:4]
    y[2:4] = t
    u = y[0:2].copy()
    y[0:2] = y[2:4] * x[1]
    y[2:4] = u
    return np.sum(y * x * np.arange(4.0))


def put_first(rows, value):
    rows[0] = value
    return rows


@example(vector(4))
def callee_stores_into_a_list(x):
    rows = [1.0, x[1]]
    put_first(rows, x * 3.0)
    first = rows[0]
    first[1] = 5.0 * x[0]
    return np.sum(rows[0] * x) + rows[1]


def put_entry(entries, key, value):
    entries[key] = value


@example(vector(4))
def callee_stores_into_a_dict(x):
    entries = {"a": 1.0}
    put_entry(entries, "a", x * x)
    put_entry(entries, "b", entries["a"][1])
    return np.sum(entries["a"]) * entries["b"]


@example(vector(4))
def callee_stores_into_a_list_of_a_tuple(x):
    pair = ([1.0, 2.0], 3.0)
    put_first(pair[0], x)
    return np.sum(pair[0][0] * x)
