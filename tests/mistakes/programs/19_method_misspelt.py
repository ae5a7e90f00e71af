"""A method of an array is misspelt."""

import numpy as np

import srcgrad


def loss(w):
    return (w**2).summ()


print(srcgrad.grad(loss)(np.ones(3)))
