"""An array is asked for its truth."""

import numpy as np

import srcgrad


def clipped(w):
    if w > 0.0:
        return np.sum(w)
    return 0.0


print(srcgrad.grad(clipped)(np.ones(3)))
