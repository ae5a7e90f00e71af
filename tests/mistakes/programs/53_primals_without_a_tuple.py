"""jvp takes its primals and tangents in tuples."""

import numpy as np

import srcgrad


def loss(w):
    return np.sum(w**3)


print(srcgrad.jvp(loss, np.ones(3), np.ones(3)))
