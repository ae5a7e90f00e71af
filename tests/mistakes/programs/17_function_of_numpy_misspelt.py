"""A function of NumPy is misspelt."""

import numpy as np

import srcgrad


def loss(w):
    return np.summ(w**2)


print(srcgrad.grad(loss)(np.ones(3)))
