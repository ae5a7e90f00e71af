import numpy as np


def f(x, n):
    total = np.zeros_like(x)
    for i in range(n):
        total[i] += x[i] ** 2
    return np.sum(total)
