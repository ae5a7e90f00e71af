"""Once wrong in silence: what both run through was read before the first pass."""

import itertools


def f(x):
    z, s = x * 1.0, 0.0
    for a, b in zip(itertools.accumulate(z), itertools.chain(x, z)):
        s = s + a * b
        z[1] = s
    return s
