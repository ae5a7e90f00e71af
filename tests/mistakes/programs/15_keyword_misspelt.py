"""The name of an argument is misspelt."""

import numpy as np

import srcgrad


def loss(w, x, rate=0.1):
    return rate * np.sum(w * x)


print(srcgrad.grad(loss)(np.ones(2), np.ones(2), rat=0.5))
