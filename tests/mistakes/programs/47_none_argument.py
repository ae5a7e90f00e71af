"""The weights were never set."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss)(None))
