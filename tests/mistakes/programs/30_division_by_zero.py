"""A number is divided by zero."""

import srcgrad


def ratio(a, b):
    c = 2.0 * a
    return c / b


print(srcgrad.grad(ratio)(1.0, 0.0))
