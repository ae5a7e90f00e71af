"""The program stands on the command line."""  # run: -c

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)(3.0))
