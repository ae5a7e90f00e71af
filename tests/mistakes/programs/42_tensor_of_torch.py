"""The weights are a tensor of PyTorch."""

import numpy as np

import srcgrad
from tests.mistakes.others import torch


def loss(w):
    return np.sum(w**2)


print(srcgrad.grad(loss)(torch.ones(3)))
