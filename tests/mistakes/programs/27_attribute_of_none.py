"""A function of the program returns nothing."""

import numpy as np

import srcgrad


def load():
    np.ones(3)


data = load()


def loss(w):
    return np.sum(w * data.values)


print(srcgrad.grad(loss)(np.ones(3)))
