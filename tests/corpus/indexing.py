"""Every form of reading ``x[...]``."""

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(vector(5))
def plain_integers(x):
    return x[0] * x[-1] + x[2] ** 2


@example(vector(6))
def slices(x):
    return np.sum(x[1:4] * x[2:5]) + np.sum(x[::2] ** 2) + np.sum(x[::-1] * x) + np.sum(x[-3:] * x[:3])


@example(matrix(3, 4))
def rows_columns_and_blocks(m):
    return np.sum(m[1] * m[:, 0:4][2]) + np.sum(m[:, 1]) * m[2, -1] + np.sum(m[1:, ::2] ** 2) + m[0][3]


@example(matrix(2, 6).reshape(2, 3, 2))
def ellipsis_and_newaxis(t):
    return np.sum(t[..., 0] * t[..., 1]) + np.sum(t[0, ..., None] * t[1][:, :, np.newaxis]) + t[1, 2, 0]


@example(vector(4))
def duplicate_gather(x):
    return np.sum(x[[0, 0, 1]] ** 2 * np.array([1.0, 2.0, 3.0]))


@example(matrix(3, 4), np.array([2, 0, 2]), np.array([1, 1, 3]))
def integer_arrays(m, rows, columns):
    return np.sum(m[rows] ** 2) + np.sum(m[rows, columns] * m[0, columns]) + np.sum(m[:, columns])


@example(vector(5))
def boolean_mask(x):
    return np.sum(x[x > 0.0] ** 2) + np.sum(x[np.array([True, False, True, False, False])])


@example(vector(5), 3)
def index_from_an_argument(x, k):
    return x[k] * x[k - 1] + np.sum(x[:k]) * x[-k]


@example(vector(6), [3, 1, 4])
def index_from_a_list(x, order):
    s = 1.0
    for k in order:
        s = s * x[k] + x[k + 1]
    return s


@example(matrix(4, 4))
def diagonal_by_hand(m):
    s = 0.0
    for i in range(4):
        s = s + m[i, i] * m[i, 3 - i] + np.sum(m[i, : i + 1])
    return s


@example(vector(6))
def index_of_a_slice_of_a_slice(x):
    y = x[1:]
    z = y[1:4]
    return z[0] * y[0] + x[z.size] + np.sum(z * z[::-1])


@example(vector(5))
def take_along(x):
    return np.sum(np.take(x, [0, 2, 2]) * x[:3])


@example(vector(8))
def stencil_by_loop(x):
    s = 0.0
    for i in range(1, len(x) - 1):
        s = s + (x[i - 1] - 2.0 * x[i] + x[i + 1]) ** 2
    return s


@example(vector(8), 3)
def circular_buffer(x, n):
    s = 0.0
    for i in range(12):
        s = 0.5 * s + x[(i * n) % len(x)]
    return s * s
