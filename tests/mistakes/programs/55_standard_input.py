"""The program is read from standard input."""  # run: <

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)(3.0))
