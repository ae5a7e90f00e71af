"""The program counts its calls in a global variable."""

import numpy as np

import srcgrad


calls = 0


def loss(w):
    global calls
    calls += 1
    return np.sum(w**2)


print(srcgrad.grad(loss)(np.ones(3)))
