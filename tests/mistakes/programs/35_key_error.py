"""A parameter is missing in the dict."""

import numpy as np

import srcgrad


def loss(params, x):
    return np.sum(params["w"] * x + params["bias"])


print(srcgrad.grad(loss)({"w": np.ones(3), "b": 0.0}, np.ones(3)))
