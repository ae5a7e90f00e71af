"""Losses of one shard, in a module that workers import, and shards for them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

SCALE = 0.5


@dataclass
class Layer:
    weights: np.ndarray
    shift: float

    def __call__(self, x):
        return np.tanh(x @ self.weights + self.shift)


class Pair(NamedTuple):
    first: float
    second: np.ndarray


class Model:
    """No dataclass: its gradient is a plain namespace of its fields."""

    def __init__(self, weights):
        self.weights = weights
        self.name = "model"

    def loss(self, shift, shard):
        x, y = shard
        return np.mean((x @ self.weights + shift - y) ** 2)


def squares(w, shard):
    x, y = shard
    e = np.tanh(x @ w) - y
    return np.mean(e * e) * SCALE


def nested(params, shard, power):
    x, y = shard
    e = params["layers"][0](x) * params["pair"].first - y + np.sum(params["pair"].second)
    return np.mean(np.abs(e) ** power)


def with_options(w, shard, *rest, shift=0.0):
    x, y = shard
    return np.mean((x @ w + shift - y) ** 2) * rest[0]


def residuals(w, shard):
    x, y = shard
    return {"errors": x @ w - y, "norm": np.sum(w * w)}


def only_positive(w, shard):
    x, y = shard
    if np.any(y < 0.0):
        raise ValueError("a target is negative")
    return np.sum(x @ w * y)


def made_of(k, offset):
    def loss(w, shard):
        x, y = shard
        return np.mean((x @ w * k - y + offset) ** 2)

    return loss


def nested_params(seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"layers": [Layer(rng.normal(size=4), 0.25)], "pair": Pair(1.5, rng.normal(size=2)), "name": None}


def shards_of(count: int, rows: int = 7, columns: int = 4, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """Shards whose sums round differently in every order: sizes differ by factors of ten."""
    rng = np.random.default_rng(seed)
    scales = 10.0 ** rng.integers(-3, 4, size=count)
    return [(rng.normal(size=(rows, columns)), scale * rng.normal(size=rows)) for scale in scales]


def bits(result: Any) -> list[Any]:
    """What is compared bit for bit: the types of a result, and the bytes of its numbers."""
    if isinstance(result, np.ndarray | np.generic | float):
        return [type(result).__name__, np.asarray(result).dtype.str, np.shape(result), np.asarray(result).tobytes()]
    if isinstance(result, tuple | list | deque):
        return [type(result).__name__, *(bits(item) for item in result)]
    if isinstance(result, dict):
        return ["dict", *((key, bits(item)) for key, item in result.items())]
    if hasattr(result, "__dict__"):
        return [type(result).__name__, *((key, bits(item)) for key, item in vars(result).items())]
    return [result]


def product(w, shard):
    return w * shard
