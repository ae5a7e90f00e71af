"""llsq: least squares of a polynomial against the sign function, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def primal(x, n):
    t = np.linspace(-1.0, 1.0, n)
    powers = t[:, None] ** np.arange(len(x))
    residual = np.sign(t) - powers @ x
    return 0.5 * (residual @ residual)


gradient = srcgrad.grad(primal)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return np.array(message["x"], dtype=np.float64), message["n"]


FUNCTIONS = {"primal": Served(primal, arguments, plain), "gradient": Served(gradient, arguments, plain)}
TIMED = Timed(primal, gradient, primal)


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    n, m = (9, 4) if small else (2048, 128)
    return {"x": rng.uniform(size=m).tolist(), "n": n}
