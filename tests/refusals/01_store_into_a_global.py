import numpy as np

STATE = np.zeros(3)


def f(x):
    STATE[0] = x  # the caret stands below the base alone
    return np.sum(STATE)
