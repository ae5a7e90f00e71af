"""The example of ARCHITECTURE.md: a callee stores through a view of its caller's, and returns out of its loop."""

import numpy as np

from tests.corpus.example import vector
from tests.directed.program import directed


def relax(y, a):
    for i in range(3):
        if y[i] > 0.9:
            return i
        y[i] = y[i] * y[i + 1] + a
    return 3


@directed(vector(4), 0.5)
@directed(np.array([0.5, 0.7, 0.99, 0.6]), 0.4)
def model(x, a):
    z = x * x
    w = z[::-1]
    k = relax(w, a)
    return np.sum(z * z) + k
