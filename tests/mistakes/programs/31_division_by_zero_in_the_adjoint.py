"""The value exists, and its derivative does not."""

import math

import srcgrad


def length(x):
    y = x * x
    return math.sqrt(y)


print(srcgrad.grad(length)(0.0))
