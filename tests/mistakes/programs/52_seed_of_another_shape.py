"""The seed of a pullback does not have the shape of the value."""

import numpy as np

import srcgrad


def doubled(w):
    return 2.0 * w


value, pullback = srcgrad.vjp(doubled, np.ones(3))
print(pullback(1.0))
