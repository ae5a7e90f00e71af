import numpy as np

STATE = np.zeros(3)


def f(x, n):
    total = STATE
    for i in range(n):
        total[i] += x[i] ** 2
    return np.sum(total)
