"""The norm has no derivative at zero."""

import numpy as np

import srcgrad


def norm(w):
    return np.sqrt(np.sum(w**2))


print(srcgrad.grad(norm)(np.zeros(2)))
