"""A function of math is called on an array."""

import math

import numpy as np

import srcgrad


def loss(w):
    return np.sum(math.exp(w))


print(srcgrad.grad(loss)(np.ones(3)))
