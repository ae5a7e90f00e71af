"""The function is asynchronous."""

import numpy as np

import srcgrad


async def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss)(np.ones(3)))
