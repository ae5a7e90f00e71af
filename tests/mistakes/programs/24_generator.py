"""The function yields."""

import srcgrad


def steps(x):
    for _ in range(3):
        x = 0.5 * x
        yield x


print(srcgrad.grad(steps)(1.0))
