"""The name of the parameter is misspelt."""

import numpy as np

import srcgrad


def loss(weights, x):
    return np.sum(weights * x)


print(srcgrad.grad(loss, argnums="wieghts")(np.ones(3), np.ones(3)))
