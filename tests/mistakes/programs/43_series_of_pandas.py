"""The weights are a series of pandas."""

import numpy as np

import srcgrad
from tests.mistakes.others import pandas


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss)(pandas.Series([1.0, 2.0])))
