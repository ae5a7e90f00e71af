import numpy as np


def f(x):
    y = np.zeros(3)
    y[0] = x  # the caret stands below the target alone
    return np.sum(y)
