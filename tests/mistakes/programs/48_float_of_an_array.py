"""float is called on an array."""

import numpy as np

import srcgrad


def loss(w):
    return float(w * 2.0) ** 2


print(srcgrad.grad(loss)(np.ones(3)))
