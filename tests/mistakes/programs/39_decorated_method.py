"""A method is decorated: its object is its first argument."""

import numpy as np

import srcgrad


class Model:
    def __init__(self, n):
        self.n = n

    @srcgrad.grad
    def loss(self, w):
        return self.n * np.sum(w**2)


print(Model(3).loss(np.ones(3)))
