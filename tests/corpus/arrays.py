"""Whole-array arithmetic, reductions, shapes and methods."""

import numpy as np

from tests.corpus.example import example, matrix, positive, vector


@example(matrix(3, 4))
def reductions_by_axis(m):
    return np.sum(m.sum(axis=0) * np.mean(m, axis=0)) + np.sum(m.mean(axis=1) ** 2)


@example(matrix(3, 4))
def keepdims(m):
    centred = m - m.mean(axis=1, keepdims=True)
    return np.sum(centred**2 / (1.0 + np.sum(m**2, axis=0, keepdims=True)))


@example(positive(5))
def products(x):
    return np.prod(x) + np.prod(x[1:3]) * x.prod()


@example(matrix(3, 4), analytic=False)
def variance(m):
    return np.var(m) + np.sum(np.std(m, axis=0)) + m.var(axis=1).sum()


@example(matrix(3, 4))
def extremes(m):
    return np.max(m) * np.min(m) + np.sum(m.max(axis=0)) - np.sum(np.amin(m, axis=1) ** 2)


@example(vector(6))
def cumulative(x):
    return np.sum(np.cumsum(x) ** 2) + np.sum(x.cumsum() * x)


@example(vector(6), analytic=False)
def norms(x):
    return np.linalg.norm(x) + np.linalg.norm(x[1:4] * x[2:5])


@example(vector(6), matrix(2, 3))
def reshaped(x, m):
    a = x.reshape(2, 3)
    b = np.reshape(m, (3, 2))
    c = x.reshape((3, -1))
    return np.sum(a @ b) + np.sum(b * c) + np.sum(m.ravel() * x) + np.sum(m.flatten() ** 2)


@example(matrix(2, 3))
def transposed(m):
    return np.sum(m.T @ m) + np.sum(np.transpose(m) * m.T) + np.trace(m @ m.transpose())


@example(matrix(2, 3).reshape(1, 2, 3))
def axes_moved(t):
    a = np.transpose(t, (2, 0, 1))
    b = np.swapaxes(t, 0, 2)
    c = np.moveaxis(t, 0, -1)
    return np.sum(np.sin(a)) + np.sum(b**2) * np.sum(c[0, 1])


@example(vector(3), vector(2, 1))
def joined(x, y):
    z = np.concatenate([x, y, x[:1]])
    w = np.concatenate((y, y))
    return np.sum(z**2) + np.sum(w * z[:4])


@example(vector(3), vector(3, 1))
def stacked(x, y):
    a = np.stack([x, y, x * y])
    b = np.stack((x, y), axis=1)
    c = np.vstack([x, y])
    d = np.hstack([x, y])
    return np.sum(a @ b) + np.sum(c * a[:2]) + np.sum(d**3)


@example(0.3, 0.8, vector(2))
def array_from_scalars(a, b, x):
    v = np.array([a, b, a * b])
    m = np.array([[a, 1.0], [b, a]])
    return np.sum(v**2) + np.sum(m @ x) + np.sum(np.array([x, x * a]))


@example(vector(3))
def axes_added_and_dropped(x):
    column = np.expand_dims(x, 1)
    row = x[None, :]
    table = column * row
    return np.sum(np.squeeze(column) * x) + np.sum(table**2) + np.sum(x[:, np.newaxis] - row * 2.0)


@example(vector(3), 0.7)
def broadcast(x, a):
    b = np.broadcast_to(x, (2, 3))
    c = np.full((2, 3), a)
    return np.sum(b * c) + np.sum(np.ones((2, 1)) * x * a)


@example(vector(5))
def flipped_and_rolled(x):
    return np.sum(np.flip(x) * x) + np.sum(np.roll(x, 2) * x**2) + np.sum(x[::-1] * np.arange(5))


@example(vector(3))
def padded_tiled_repeated(x):
    p = np.pad(x, (1, 2))
    t = np.tile(x, 2)
    r = np.repeat(x, 2)
    return np.sum(p**2) + np.sum(t * r) + np.sum(np.sin(t))


@example(vector(4), vector(4, 1))
def array_methods(x, y):
    return x.dot(y) + (x * y).sum() + x.mean() * y.max() - (x - y).min()


@example(matrix(2, 3))
def shapes_as_constants(m):
    rows, columns = m.shape
    n = m.size
    d = m.ndim
    return np.sum(m) * rows / columns + n * m[0, 0] ** d + len(m) * m[1, 2]


@example(vector(4))
def constructors_alike(x):
    z = np.zeros_like(x) + np.ones_like(x) * x
    e = np.eye(4) @ x
    return np.sum(z * e) + np.sum(np.linspace(0.0, 1.0, 4) * x)


@example(matrix(3, 3))
def triangles_and_diagonals(m):
    return np.sum(np.diag(m) ** 2) + np.sum(np.tril(m) @ np.triu(m)) + np.sum(np.diag(m[0]) * m)


@example(vector(5))
def differences_and_convolution(x):
    d = x[1:] - x[:-1]
    s = x[2:] - 2.0 * x[1:-1] + x[:-2]
    return np.sum(d**2) + np.sum(s * d[1:] * x[1:-1])


@example(vector(4), analytic=False)
def absolute_values(x):
    return np.sum(np.abs(x) * np.sign(x) * x) + np.sum(np.absolute(x - 0.1))


@example(positive(4))
def elementary_functions(x):
    y = np.sqrt(x) + np.log1p(x) * np.expm1(-x) + np.log(x) * np.exp(x)
    z = np.arctan(x) + np.sinh(x) / np.cosh(x) + np.tan(0.3 * x)
    w = np.arcsin(0.3 * x) - np.arccos(0.4 * x) + np.arctanh(0.2 * x) + np.square(x) + np.reciprocal(x)
    return np.sum(y * z + w)


@example(positive(3), positive(3, 1), analytic=False)
def two_argument_functions(x, y):
    return np.sum(np.arctan2(y, x) * np.hypot(x, y) + np.logaddexp(x, y) + np.power(x, y))


@example(matrix(2, 2).reshape(2, 2), vector(2))
def mixed_ranks(m, v):
    s = 0.0
    for row in m:
        s = s + row * v + m @ v
    return np.sum(s * s)


@example(vector(4), analytic=False)
def constant_valued_functions(x):
    k = np.argmax(x)
    order = np.argsort(x)
    signs = np.sign(x)
    return np.sum(x * signs) + x[k] * x[order[0]] + np.floor(3.7) * np.sum(x > 0.0)


@example(vector(4), 0.3)
def chain_of_methods(x, a):
    return ((x * a).reshape(2, 2).T @ x.reshape(2, 2)).sum(axis=0).dot(np.array([1.0, a]))
