import numpy as np


class Spread:
    def __init__(self, size):
        self.size = size


def f(x):
    spread = Spread(x[0])
    rng = np.random.default_rng(len(x))
    return rng.normal(0.0, spread.size) * x[1]
