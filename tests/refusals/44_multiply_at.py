import numpy as np


def f(x, k):
    y = x * x
    np.multiply.at(y, k, x)
    return np.sum(y)
