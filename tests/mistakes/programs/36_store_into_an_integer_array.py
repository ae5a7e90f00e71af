"""The result is collected in an array of integers."""

import numpy as np

import srcgrad


def loss(w):
    squares = np.array([0, 0, 0])
    for i in range(3):
        squares[i] = w[i] ** 2
    return np.sum(squares)


print(srcgrad.grad(loss)(np.ones(3)))
