"""The function computes its value and does not return it."""

import numpy as np

import srcgrad


def loss(w):
    total = np.sum(w**2)


print(srcgrad.grad(loss)(np.ones(3)))
