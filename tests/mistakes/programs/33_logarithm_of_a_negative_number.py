"""A probability became negative."""

import numpy as np

import srcgrad


def entropy(p):
    return -np.sum(p * np.log(p))


print(srcgrad.grad(entropy)(np.array([0.5, -0.5])))
