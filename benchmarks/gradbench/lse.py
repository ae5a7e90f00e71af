"""lse: the logarithm of a sum of exponentials, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def primal(x):
    a = np.max(x)
    return a + np.log(np.sum(np.exp(x - a)))


gradient = srcgrad.grad(primal)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return (np.array(message["x"], dtype=np.float64),)


FUNCTIONS = {"primal": Served(primal, arguments, plain), "gradient": Served(gradient, arguments, plain)}
TIMED = Timed(primal, gradient, primal)


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    return {"x": rng.uniform(size=7 if small else 10_000).tolist()}
