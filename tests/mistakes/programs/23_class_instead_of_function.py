"""A class is differentiated, and not its method."""

import numpy as np

import srcgrad


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x)


print(srcgrad.grad(Model)(np.ones(3)))
