"""Stores into arrays: by every kind of index, augmented, by NumPy's functions that store, in algorithms."""

import numpy as np

from tests.corpus.example import example, matrix, positive, vector

SPD = matrix(4, 4, 3) @ matrix(4, 4, 3).T + 3.0 * np.eye(4)


# --- kinds of index --------------------------------------------------------------------------------------------------
@example(vector(4))
def store_a_number(x):
    y = x * 2.0
    y[1] = x[0] * x[2]
    y[-1] = 5.0
    return np.sum(y * y)


@example(vector(5))
def store_a_slice(x):
    y = np.zeros_like(x)
    y[1:4] = x[:3] * x[2:]
    y[::-2] = x[::2] * 3.0
    y[:2] = x[0]
    return np.sum(y * x)


@example(matrix(3, 4))
def store_rows_columns_and_blocks(m):
    y = m * 1.0
    y[0] = m[1] * m[2]
    y[:, 1] = m[:, 0] * m[:, 3]
    y[1:, ::2] = m[:2, 1::2]
    y[2, -1] = y[0, 0] * y[1, 1]
    y[2][0] = y[0][2] * m[1, 1]
    return np.sum(y * y * m)


@example(matrix(2, 6).reshape(2, 3, 2))
def store_through_ellipsis_and_newaxis(t):
    y = t * 2.0
    y[..., 0] = t[..., 1] * t[0, 0, 0]
    y[1, ..., None] = t[0, :, :, None] * 3.0
    y[...] = y * t
    return np.sum(y * y)


@example(vector(5))
def store_under_a_mask(x):
    y = np.sin(x)
    y[y > 0.1] = 0.5
    y[x < -0.5] *= x[0]
    mask = x > 0.0
    y[mask] = x[mask] * y[mask]
    return np.sum(y * x)


@example(vector(4), vector(3, 1))
def store_by_integer_arrays(x, e):
    y = x * x
    y[[2, 0, 3]] = e * y[1]
    y[np.array([1, 1])] += e[0]
    y[[0, 0]] = e[1:] * 2.0
    return np.sum(y * x)


@example(matrix(3, 3), vector(3))
def store_by_several_integer_arrays(m, e):
    y = m * 2.0
    rows = np.arange(3)
    y[rows, [1, 2, 0]] = e * m[0]
    y[[0, 2], 1:] *= e[:2]
    y[:, [0, 2]] -= m[:, [2, 1]]
    return np.sum(y * m)


@example(vector(4), 2)
def place_of_a_store_changed_after_it(x, k):
    y = x * 3.0
    i = k
    y[i] = x[0] * y[i]
    i = i - 1
    y[i] += x[3] * y[i + 1]
    i = 0
    return y[k] * y[i] + y[1]


@example(vector(3))
def value_and_index_in_one_assignment(x):
    y = x * 1.0
    i = 0
    i, y[i] = 1, x[2]
    y[i], i = x[0] * y[0], 2
    y[0], y[1] = y[1], y[0]
    z = y[i] = x[1] * y[0]
    for i, y[i] in enumerate(x[:2] * y[1]):
        y[i] *= z
    return np.sum(y * x)


@example(matrix(2, 3))
def store_of_a_row_in_itself(m):
    y = m * 1.0
    y[0], y[1] = y[1], y[0]
    return np.sum(y[0] * m[0] + y[1] * m[1] * 2.0)


# --- augmented -------------------------------------------------------------------------------------------------------
@example(positive(4), vector(4, 2))
def every_augmented_operator(x, e):
    y = x * 2.0
    y[0] += e[1]
    y[1] -= e[0] * y[0]
    y[2] *= e[2]
    y[3] /= x[0]
    y[0:2] **= 2
    y[1:] += y[:-1]
    y[:2] *= y[2:]
    y += e
    y -= x * y
    y *= 0.5
    y /= x + 2.0
    return np.sum(y * e)


@example(matrix(2, 2), vector(2))
def augmented_matrix_product(m, e):
    y = m * 1.0
    y @= m
    y[0] += e
    y[:1] @= m * 0.5
    return np.sum(y)


@example(vector(6))
def overlapping_slices(x):
    y = x * 1.0
    y[1:] = y[:-1]
    y[2:] += y[:-2]
    y[:-1] *= y[1:]
    y[::2] = y[1::2] * y[0]
    return np.sum(y * x)


@example(vector(3))
def number_in_a_loop(x):
    y = np.zeros_like(x)
    for i in range(3):
        for j in range(i + 1):
            y[i] += x[j] * x[i - j]
        y[i] *= y[i]
    return np.sum(y)


@example(vector(4))
def a_scalar_and_an_array_under_one_name(x):
    total = 0.0
    for v in x:
        total += v * v
    y = total * x
    y += total
    return np.sum(y * y)


# --- NumPy's functions that store ------------------------------------------------------------------------------------
@example(vector(3), vector(3, 1))
def outputs_of_ufuncs(x, y):
    w = np.zeros_like(x)
    z = np.add(x, y, out=w)
    z[0] = 3.0 * x[1]
    np.multiply(x, w, w)
    np.exp(x, out=w[::-1])
    np.subtract(w, z * y, out=(w,))
    return np.sum(w * z)


@example(positive(4), vector(4, 1))
def outputs_where_a_mask_holds(x, y):
    w = y * 2.0
    np.sqrt(y, out=w, where=y > 0.0)
    np.add(w, 2.0, out=w, where=[True, False, True, False])
    np.multiply(w, x, out=w, where=x[0] > 0.1)
    return np.sum(w * w * x)


@example(vector(4), matrix(3, 4))
def outputs_of_other_functions(x, m):
    w = np.zeros_like(x)
    s = np.zeros_like(x[0:1])
    np.sum(m * x, axis=1, out=w[:3])
    (x * x).cumsum(out=w)
    np.matmul(x[None], m.T, out=np.zeros_like(m[:1, :3]))
    np.dot(m, w, out=s.repeat(3))
    np.clip(w, -0.5, 0.5, out=w)
    np.take(w, [0, 0, 3], out=w[1:])
    np.mean(m, axis=0, keepdims=True, out=w[None])
    return np.sum(w * x)


@example(vector(6), vector(2, 1))
def put_place_and_copy(x, e):
    y = x.reshape(2, 3) * 1.0
    np.put(y, [0, -1, 2], e)
    np.copyto(y, e[0] * y, where=y < 0.0)
    np.place(y, y > 0.5, e)
    np.putmask(y, y < -0.2, x)
    np.copyto(y[0], e[1])
    np.put_along_axis(y, np.array([[0], [1]]), y[:, :1] * e[0], axis=1)
    np.fill_diagonal(y, e)
    y.flat[3] = x[0]
    y.flat[::4] *= x[1]
    return np.sum(y * y)


@example(vector(5, 3))
def sort_and_fill_in_place(x):
    y = x * x
    y.sort()
    z = x * y
    z.partition(2)
    z[3:].fill(y[1])
    return np.sum(y * z * x)


@example(vector(4), vector(3, 2))
def unbuffered_additions(x, e):
    y = x * x
    np.add.at(y, [0, 0, 2], e)
    np.subtract.at(y, [1, 1, 1], e * y[0])
    np.add.at(y, 3, x[0])
    return np.sum(y * y)


@example(matrix(3, 2), vector(3))
def shuffled_rows(m, x):
    rng = np.random.default_rng(5)
    y = m * m
    rng.shuffle(y)
    z = x * 2.0
    rng.shuffle(z)
    return np.sum(y[0] * y[1] - y[2]) + np.sum(z * x)


# --- branches, loops, exits ------------------------------------------------------------------------------------------
@example(vector(4))
def store_in_one_branch(x):
    y = x * 2.0
    if x[0] > 0.0:
        y[0] = x[1] * x[2]
    else:
        y[1:3] = x[0]
    y[y > 10.0] = 0.0
    return np.sum(y * y)


@example(vector(5))
def stores_until_a_break(x):
    y = x * x
    for i in range(1, 5):
        y[i] = y[i] * y[i - 1] + x[i]
        if y[i] < -0.3:
            y[0] = y[i]
            break
        y[0] += x[i]
    else:
        y[1] = 2.0
    return np.sum(y * x)


@example(vector(5))
def return_between_stores(x):
    y = x * 1.0
    for i in range(4):
        y[i + 1] += y[i] * x[i]
        if y[i + 1] > 0.5:
            return np.sum(y * y)
        y[i] = 0.1
    return y[4]


@example(vector(4))
def array_made_anew_in_a_loop(x):
    s = 0.0
    for i in range(3):
        y = np.zeros_like(x)
        y[i] = x[i] * x[i + 1]
        y[i + 1] = y[i] * s
        s = s + np.sum(y * x)
    return s


@example(positive(3))
def store_while_a_value_is_small(x):
    y = np.ones_like(x)
    n = 0
    while np.sum(y) < 9.0 and n < 20:
        y[n % 3] *= 1.0 + x[n % 3]
        n += 1
    return np.sum(y * x)


# --- algorithms ------------------------------------------------------------------------------------------------------
@example(SPD, vector(4))
def gaussian_elimination(a, b):
    a = a.copy()
    b = b.copy()
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


@example(SPD, analytic=False)
def lu_by_elements(a):
    n = a.shape[0]
    lu = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return np.log(np.abs(np.prod(np.diag(lu)))) + lu[3, 0] * lu[0, 3]


@example(SPD)
def cholesky_by_columns(a):
    n = a.shape[0]
    low = np.zeros_like(a)
    for j in range(n):
        low[j, j] = np.sqrt(a[j, j] - np.sum(low[j, :j] ** 2))
        for i in range(j + 1, n):
            low[i, j] = (a[i, j] - np.sum(low[i, :j] * low[j, :j])) / low[j, j]
    return np.sum(np.log(np.diag(low))) + low[3, 1]


@example(matrix(4, 3, 5))
def gram_schmidt_in_place(m):
    q = m.copy()
    for j in range(3):
        for k in range(j):
            q[:, j] -= np.sum(q[:, k] * m[:, j]) * q[:, k]
        q[:, j] /= np.sqrt(np.sum(q[:, j] ** 2))
    return np.sum(q[0] * m[1]) + q[3, 2]


@example(positive(5), vector(4), vector(4, 1), vector(5, 2))
def thomas_algorithm(b, a, c, d):
    b = b * 4.0
    d = d.copy()
    n = len(b)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d * d)


@example(vector(8), 0.2)
def heat_stencil(u, k):
    u = u.copy()
    for _ in range(3):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = 0.0
    return np.sum(u * u)


@example(vector(6))
def explicit_march(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(5):
        y[i + 1] = y[i] + 0.1 * np.sin(y[i] * x[i])
    return y[5] * y[2]


@example(vector(4), vector(3, 1))
def alignment_table(x, y):
    n, m = len(x), len(y)
    table = np.zeros_like(np.outer(np.ones(n + 1), np.ones(m + 1)) * x[0])
    for i in range(1, n + 1):
        table[i, 0] = table[i - 1, 0] + x[i - 1] ** 2
    for j in range(1, m + 1):
        table[0, j] = table[0, j - 1] + y[j - 1] ** 2
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            table[i, j] = cost + 0.5 * (table[i - 1, j - 1] + 0.3 * table[i - 1, j] + 0.2 * table[i, j - 1])
    return table[n, m]


@example(vector(5))
def sorting_network(x):
    y = x.copy()
    for i in range(len(y)):
        for j in range(i % 2, len(y) - 1, 2):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    return np.sum(y * np.arange(5.0)) + y[0] * y[4]


@example(vector(5))
def running_updates(x):
    y = x * x
    for i in range(1, 5):
        y[i] += y[i - 1]
    y[1:] -= 0.5 * y[:-1]
    y[np.argmax(y)] *= 2.0
    return np.sum(y * x)


@example(vector(3), vector(3, 1))
def argument_is_stored_into(x, y):
    x[0] = x[1] * y[2]
    x *= 2.0
    y[1:] += x[:2]
    return np.sum(x * y)


@example(vector(4), analytic=False, tolerance=1e-6)
def memory_of_another_dtype(x):
    y = np.zeros(4)
    y[:] = x
    y[1] += y[0] * x[3]
    k = np.arange(4)
    k[1] = 3
    k[k > 2] -= 1
    return np.sum(y * x) + np.sum(y[k] * k)


@example(matrix(2, 2), vector(2), analytic=False)
def store_of_lists(m, x):
    y = np.zeros((2, 2))
    y[:] = [[x[0], 1.0], [2.0, x[1]]]
    y[0] += [x[1], x[0]]
    y *= [x[1], 2.0]
    y[1] = x[0], 3.0
    np.copyto(y[:, 0], [x[1], 1.0])
    y += [m[0], [1.0, 2.0]]
    return np.sum(y * m)
