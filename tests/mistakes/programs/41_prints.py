"""The function prints what it computes."""

import numpy as np

import srcgrad


def loss(w):
    e = np.sum(w**2)
    print("loss:", e)
    return e


print(srcgrad.grad(loss)(np.ones(3)))
