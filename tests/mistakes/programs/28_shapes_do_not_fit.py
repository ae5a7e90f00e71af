"""The operands are swapped."""

import numpy as np

import srcgrad


def loss(w, x, y):
    e = w @ x - y
    return np.mean(e * e)


print(srcgrad.grad(loss)(np.ones(2), np.ones((3, 2)), np.zeros(3)))
