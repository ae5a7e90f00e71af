"""float32, integers and booleans in active positions, zero-dimensional arrays."""

import numpy as np

from tests.corpus.example import example, matrix, vector

SINGLE = vector(4).astype(np.float32)


@example(SINGLE, tolerance=2e-5, order=1)
def single_precision(x):
    return np.sum(np.sin(x) * x**2)


@example(np.float32(0.7), SINGLE, tolerance=2e-5, order=1)
def single_precision_scalar(a, x):
    s = a
    for v in x:
        s = s * v + a
    return s


@example(SINGLE, vector(4), tolerance=2e-5, order=1)
def mixed_precision(x, y):
    return np.sum(x * y + x)


@example(vector(3), np.array([1, 2, 3]))
def integer_array_operand(x, n):
    return np.sum(x**n) + np.sum(n * x) + np.sum(x / n)


@example(vector(4), np.array([True, False, True, True]))
def boolean_array_operand(x, mask):
    return np.sum(x * mask) + np.sum(np.where(mask, x**2, 0.0))


@example(np.array(0.7), 0.3)
def zero_dimensional(x, a):
    y = x * a + np.sin(x)
    return y * y


@example(np.array(0.7), vector(3))
def zero_dimensional_with_vector(x, v):
    return np.sum(x * v) + x**2


@example(np.float64(0.7), 2)
def numpy_scalar(x, n):
    return x**n + n * x / (n + 1)


@example(0.7, 3)
def python_integer_operand(x, n):
    s = n
    for k in range(n):
        s = s + k * x
        s = s * 2
    return s


@example(matrix(1, 3), vector(1))
def size_one_axes(row, one):
    return np.sum(row * one) + np.sum(row + one[0]) + np.sum(row[0] * row)


@example(np.zeros((0, 3)), vector(3))
def empty_array(m, x):
    s = np.sum(x * x)
    for row in m:
        s = s + np.sum(row)
    return s + np.sum(m * x)


@example(np.asfortranarray(matrix(3, 2)), matrix(6, 4)[::2, 1::2])
def strange_strides(a, b):
    return np.sum(a * b) + np.sum(a.T @ b)
