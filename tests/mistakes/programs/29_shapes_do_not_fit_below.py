"""The shapes do not fit in a function that is called."""

import numpy as np

import srcgrad


def predicted(w, x):
    return x @ w


def loss(w, x, y):
    return np.mean((predicted(w, x) - y) ** 2)


print(srcgrad.grad(loss)(np.ones(3), np.ones((3, 2)), np.zeros(3)))
