"""The rows of the array have several lengths."""

import numpy as np

import srcgrad


def loss(w):
    return sum(np.sum(row**2) for row in w)


print(srcgrad.grad(loss)(np.array([np.ones(2), np.ones(3)], dtype=object)))
