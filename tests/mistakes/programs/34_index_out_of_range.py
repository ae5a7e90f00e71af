"""A loop goes one too far."""

import numpy as np

import srcgrad


def total_variation(x):
    total = 0.0
    for i in range(len(x)):
        total += abs(x[i + 1] - x[i])
    return total


print(srcgrad.grad(total_variation)(np.arange(3.0)))
