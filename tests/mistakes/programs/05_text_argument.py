"""The number was read from a file, and is still text."""

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)("2.0"))
