"""An argument too many is passed."""

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)(1.0, 2.0))
