"""The example of README's first screen: ``srcgrad show examples/first.py:f``."""

import numpy as np


def f(x, n):
    s = x
    for i in range(n):
        u = np.sin(s)
        s = u * x + s / 3.0
    return s
