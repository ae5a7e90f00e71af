"""A function of a module of NumPy is misspelt."""

import numpy as np

import srcgrad


def loss(a):
    return np.sum(np.linalg.Inv(a))


print(srcgrad.grad(loss)(np.eye(2)))
