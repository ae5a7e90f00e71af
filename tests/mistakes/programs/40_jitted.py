"""The function is compiled by Numba."""

import srcgrad
from tests.mistakes.others import jit


@jit
def square(x):
    return x**2


print(srcgrad.grad(square)(3.0))
