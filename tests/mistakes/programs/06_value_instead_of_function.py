"""grad is given the value of the function."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss(np.ones(3))))
