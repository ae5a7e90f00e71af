"""grad is taken for a function of the function and its arguments."""

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square, 3.0))
