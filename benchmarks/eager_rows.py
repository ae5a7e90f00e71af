"""Programs of the kinds that training is made of, written once for ``srcgrad.eager`` and PyTorch; forward and backward.

Each is made for a module of PyTorch's names and leaves the gradients, which are compared before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

Call = Callable[[], list[Any]]
BATCH, WIDTH, STEPS = 16, 32, 100


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normal numbers in single precision."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def gradients(torch: ModuleType, arrays: list[np.ndarray], loss: Callable[..., Any]) -> Call:
    """Forward and backward of a loss of tensors."""
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]

    def call() -> list[Any]:
        for leaf in leaves:
            leaf.grad = None
        loss(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    return call


def max_pool(torch: ModuleType) -> Call:
    """The largest of squares of 2 by 2 pixels."""
    pool = torch.nn.functional.max_pool2d
    return gradients(torch, [numbers(8, 4, 16, 16)], lambda x: pool(x, 2).sum())


def slices(torch: ModuleType) -> Call:
    """Sums of parts of a matrix."""

    def loss(x: Any) -> Any:
        total = x[0, :8]
        for i in range(1, 16):
            total = total + x[i, i : i + 8] * x[2 * i, 8:16]
        return total.sum()

    return gradients(torch, [numbers(64, 64)], loss)


def gather(torch: ModuleType) -> Call:
    """Elements picked by index in each row, rows picked by number, and elements by lists."""
    columns = torch.tensor(np.random.default_rng(1).integers(0, 64, (64, 16)))
    rows = torch.tensor(np.random.default_rng(2).integers(0, 64, 100))

    def loss(x: Any) -> Any:
        return (x.gather(1, columns) ** 2).sum() + (x[rows] * x.index_select(0, rows)).sum()

    return gradients(torch, [numbers(64, 64)], loss)


def double_backward(torch: ModuleType) -> Call:
    """A penalty on the gradient of a small network by its input."""

    def loss(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
        y = torch.tanh(torch.nn.functional.linear(x, w1, b1))
        y = torch.nn.functional.linear(y, w2, b2)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return ((g.norm(2, 1) - 1) ** 2).mean() + (y * y).mean()

    shapes = (BATCH, 8), (WIDTH, 8), (WIDTH,), (1, WIDTH), (1,)
    return gradients(torch, [numbers(*shape, seed=i) for i, shape in enumerate(shapes)], loss)


def recurrent(torch: ModuleType) -> Call:
    """A hundred steps of Elman's unit, written as a loop."""

    def loss(x: Any, w: Any, u: Any, b: Any) -> Any:
        h = torch.zeros(BATCH, WIDTH)
        for t in range(STEPS):
            h = torch.tanh(x[t] @ w + h @ u + b)
        return (h * h).mean()

    shapes = (STEPS, BATCH, 8), (8, WIDTH), (WIDTH, WIDTH), (WIDTH,)
    return gradients(torch, [0.15 * numbers(*shape, seed=i) for i, shape in enumerate(shapes)], loss)


def recurrent_layer(kind: str) -> Callable[[ModuleType], Call]:
    """A hundred steps of a layer of ``torch.nn``."""

    def made(torch: ModuleType) -> Call:
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(8, WIDTH)
        x = torch.tensor(numbers(STEPS, BATCH, 8))
        parameters = list(layer.parameters())

        def call() -> list[Any]:
            for p in parameters:
                p.grad = None
            output, _ = layer(x)
            (output * output).mean().backward()
            return [p.grad for p in parameters]

        return call

    return made


def reduction(reduce: Callable[[Any, ModuleType], Any]) -> Callable[[ModuleType], Call]:
    """A reduction of a matrix along its rows, and what is left of it summed."""

    def made(torch: ModuleType) -> Call:
        return gradients(torch, [numbers(64, 64)], lambda x: (reduce(x, torch) ** 2).sum())

    return made


#: Of each row: the program, and how many times PyTorch's time it may take.
ROWS: Mapping[str, tuple[Callable[[ModuleType], Call], float]] = {
    "max_pool2d": (max_pool, 1.2),
    "slices": (slices, 1.2),
    "gather": (gather, 1.2),
    "double backward": (double_backward, 1.2),
    "RNN of 100 steps": (recurrent, 1.2),
    "nn.RNN of 100 steps": (recurrent_layer("RNN"), 1.2),
    "sum": (reduction(lambda x, torch: x.sum(1)), 1.2),
    "mean": (reduction(lambda x, torch: x.mean(1)), 1.2),
    "amax": (reduction(lambda x, torch: x.amax(1)), 1.2),
    "max with indices": (reduction(lambda x, torch: x.max(1).values), 1.2),
    "var": (reduction(lambda x, torch: x.var(1)), 1.2),
    "norm": (reduction(lambda x, torch: x.norm(2, 1)), 1.2),
    "logsumexp": (reduction(lambda x, torch: x.logsumexp(1)), 1.2),
    "softmax": (reduction(lambda x, torch: x.softmax(1)), 1.2),
    "prod": (reduction(lambda x, torch: x.prod(1)), 1.2),
    "cumsum": (reduction(lambda x, torch: x.cumsum(1)), 1.2),
}
