"""Arguments are counted from 1."""

import srcgrad


def scaled(x, a):
    return a * x


print(srcgrad.grad(scaled, argnums=2)(1.0, 2.0))
