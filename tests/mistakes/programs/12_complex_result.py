"""A Fourier transform makes the value complex."""

import numpy as np

import srcgrad


def power(x):
    return np.sum(np.fft.fft(x) ** 2)


print(srcgrad.grad(power)(np.ones(4)))
