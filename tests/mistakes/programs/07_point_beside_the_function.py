"""The point is passed to grad, as other libraries have it."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss, np.ones(3)))
