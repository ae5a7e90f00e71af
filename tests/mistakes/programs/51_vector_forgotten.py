"""hvp is called without its vector."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**3)


print(srcgrad.hvp(loss)(np.ones(3)))
