"""The point is written without its decimal point."""

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)(3))
