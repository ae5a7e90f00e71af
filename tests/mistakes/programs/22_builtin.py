"""A function that is written in C has no derivative."""

import math

import srcgrad

print(srcgrad.grad(math.factorial)(3.0))
