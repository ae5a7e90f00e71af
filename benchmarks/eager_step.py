"""One step of gradient descent on a network of one hidden layer: by hand in NumPy, and as PyTorch's users write it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

SIZES = 784, 128, 10
BATCH = 64
RATE = 0.01
Step = Callable[[], Any]


def weights() -> list[np.ndarray]:
    """The starting values, outputs by inputs as PyTorch keeps them, in single precision."""
    rng = np.random.default_rng(784)
    made = []
    for inputs, outputs in zip(SIZES, SIZES[1:], strict=False):
        made.append((rng.normal(size=(outputs, inputs)) / np.sqrt(inputs)).astype(np.float32))
        made.append(np.zeros(outputs, np.float32))
    return made


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Images and their classes."""
    rng = np.random.default_rng(64)
    return rng.normal(size=(BATCH, SIZES[0])).astype(np.float32), rng.integers(0, SIZES[-1], BATCH)


def handwritten_step(parameters: list[np.ndarray]) -> Step:
    """The textbook's backpropagation, writing to the weights in place; returns the loss before the step."""
    w1, b1, w2, b2 = parameters
    x, y = batch()
    rows = np.arange(len(y))

    def step() -> Any:
        h = np.maximum(x @ w1.T + b1, 0)
        z = h @ w2.T + b2
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1, keepdims=True)
        loss = np.mean(np.log(total[:, 0]) - z[rows, y])
        e /= total
        e[rows, y] -= 1
        e /= len(y)
        h_bar = e @ w2
        h_bar *= h > 0
        for parameter, gradient in ((w1, h_bar.T @ x), (b1, h_bar.sum(axis=0)), (w2, e.T @ h), (b2, e.sum(axis=0))):
            gradient *= RATE
            parameter -= gradient
        return loss

    return step


def step_with(torch: ModuleType, parameters: list[np.ndarray]) -> Step:
    """The same with modules, a loss and an optimizer of PyTorch's names; returns the loss before the step."""
    x, y = map(torch.tensor, batch())
    model = torch.nn.Sequential(
        torch.nn.Linear(SIZES[0], SIZES[1]), torch.nn.ReLU(), torch.nn.Linear(SIZES[1], SIZES[2])
    )
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), parameters, strict=True):
            parameter.copy_(torch.tensor(value))
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    loss_of = torch.nn.CrossEntropyLoss()

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach().item()

    return step
