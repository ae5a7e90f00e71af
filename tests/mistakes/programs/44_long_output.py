"""The Jacobian of one input and many outputs is asked for by reverse mode."""

import numpy as np

import srcgrad


def decay(rate):
    return np.exp(-rate * np.linspace(0.0, 1.0, 1000))


print(srcgrad.jacobian(decay)(0.5).shape)
