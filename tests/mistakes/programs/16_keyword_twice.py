"""An argument is passed by its place and by its name."""

import srcgrad


def scaled(x, a):
    return a * x


print(srcgrad.grad(scaled)(1.0, 2.0, a=3.0))
