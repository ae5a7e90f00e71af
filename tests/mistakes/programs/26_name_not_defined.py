"""A name was renamed, and not everywhere."""

import numpy as np

import srcgrad


learning_rate = 0.1


def loss(w):
    return learning_rte * np.sum(w**2)


print(srcgrad.grad(loss)(np.ones(3)))
