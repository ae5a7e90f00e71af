"""What samples are made of: calls, and arrays drawn from a generator of each module's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Call:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def call(*args: Any, **kwargs: Any) -> Call:
    """A call; literals are given as literals, keyword arguments as keyword arguments."""
    return Call(args, kwargs)


class Draws:
    """Fixed random arrays, the same in every run."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([20240229, seed])

    def u(self, *shape: int, low: float = 0.2, high: float = 0.9) -> Any:
        """Uniform numbers; a Python float without a shape."""
        return self.rng.uniform(low, high, shape) if shape else float(self.rng.uniform(low, high))

    def n(self, *shape: int) -> Any:
        """Normal numbers; a 0-d array without a shape."""
        return np.asarray(self.rng.standard_normal(shape))

    def c(self, *shape: int) -> Any:
        """Complex normal numbers."""
        return np.asarray(self.rng.standard_normal(shape) + 1j * self.rng.standard_normal(shape))

    def distinct(self, *shape: int) -> Any:
        """Numbers well apart from each other, for functions with kinks at ties."""
        return (self.rng.permutation(int(np.prod(shape))) * 0.37 - 1.0).reshape(shape)

    def spd(self, k: int, *batch: int) -> Any:
        """Symmetric positive definite matrices."""
        a = self.n(*batch, k, k)
        return a @ np.swapaxes(a, -1, -2) + k * np.eye(k)

    def hpd(self, k: int, *batch: int) -> Any:
        """Hermitian positive definite matrices."""
        a = self.c(*batch, k, k)
        return a @ np.conjugate(np.swapaxes(a, -1, -2)) + k * np.eye(k)
