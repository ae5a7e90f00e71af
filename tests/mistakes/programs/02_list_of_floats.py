"""The weights are a list, and the function takes them for an array."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w * w)


print(srcgrad.grad(loss)([1.0, 2.0]))
