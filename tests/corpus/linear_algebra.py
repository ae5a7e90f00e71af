"""Products of vectors and matrices, factor-free linear algebra."""

import numpy as np

from tests.corpus.example import example, matrix, vector


@example(vector(3), vector(3, 1), matrix(3, 3), matrix(3, 3, 1))
def dots(x, y, a, b):
    return np.dot(x, y) + np.sum(np.dot(a, x)) + np.sum(np.dot(a, b)) + np.sum(np.dot(x, a) * y)


@example(vector(3), vector(3, 1), matrix(3, 3), matrix(3, 3, 1))
def matmuls(x, y, a, b):
    return x @ y + np.sum(a @ x) + np.sum((a @ b) @ y) + np.sum(np.matmul(x, a)) + x @ b @ y


@example(matrix(4, 3).reshape(2, 2, 3), matrix(3, 2))
def batched_matmul(t, m):
    return np.sum(np.sin(t @ m)) + np.sum(np.swapaxes(t, 1, 2) @ t)


@example(vector(3), vector(2, 1), matrix(3, 2))
def outer_and_inner(x, y, m):
    return np.sum(np.outer(x, y) * m) + np.inner(x, x) * np.inner(y, y) + np.sum(np.inner(m, y))


@example(matrix(2, 3), matrix(3, 2, 1), vector(2))
def einsums(a, b, v):
    c = np.einsum("ij,jk->ik", a, b)
    return np.einsum("ii->", c) + np.sum(np.einsum("ij,i->j", c, v)) + np.einsum("i,i", v, v)


@example(matrix(2, 3), matrix(3, 2, 1))
def tensordots(a, b):
    return np.sum(np.tensordot(a, b, axes=1) ** 2) + np.tensordot(a, b.T)


@example(matrix(3, 3))
def traces(m):
    return np.trace(m) * np.trace(m @ m) + np.trace(m, offset=1)


@example(matrix(2, 2), 5)
def matrix_power_by_squaring(m, n):
    result = np.eye(2)
    base = m
    while n > 0:
        if n % 2 == 1:
            result = result @ base
        base = base @ base
        n = n // 2
    return np.sum(result)


@example(matrix(3, 3) + 2.0 * np.eye(3), vector(3))
def power_iteration(a, x):
    """Dominant eigenvalue by a few normalised products."""
    for _ in range(6):
        x = a @ x
        x = x / np.sqrt(np.sum(x * x))
    return x @ (a @ x)


@example(matrix(3, 3) + 3.0 * np.eye(3), vector(3))
def conjugate_gradients(a, b):
    a = a.T @ a
    x = np.zeros(3)
    r = b - a @ x
    p = r
    for _ in range(2):
        ap = a @ p
        alpha = np.dot(r, r) / np.dot(p, ap)
        x = x + alpha * p
        r_new = r - alpha * ap
        p = r_new + (np.dot(r_new, r_new) / np.dot(r, r)) * p
        r = r_new
    return np.sum(x * x)


@example(matrix(2, 2) + 2.0 * np.eye(2), vector(2))
def inverse_of_two_by_two(m, v):
    (a, b), (c, d) = m
    det = a * d - b * c
    inverse = np.array([[d, -b], [-c, a]]) / det
    return np.sum(inverse @ v) + np.log(det)


@example(matrix(3, 3) + 2.0 * np.eye(3))
def newton_schulz_inverse(a):
    x = a.T / np.sum(a * a)
    for _ in range(4):
        x = x @ (2.0 * np.eye(3) - a @ x)
    return np.trace(x)


@example(matrix(5, 2), vector(5), vector(2))
def least_squares_by_gradient_descent(a, b, x):
    for _ in range(5):
        residual = a @ x - b
        x = x - 0.1 * (a.T @ residual)
    return np.sum((a @ x - b) ** 2)
