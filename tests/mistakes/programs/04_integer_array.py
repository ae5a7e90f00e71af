"""np.arange gives integers."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss)(np.arange(3)))
