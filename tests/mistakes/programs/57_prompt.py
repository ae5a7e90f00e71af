"""The function is typed at the prompt."""  # run: -i

import srcgrad


def square(x):
    return x**2


print(srcgrad.grad(square)(3.0))
