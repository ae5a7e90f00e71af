"""ode: a Runge-Kutta solution of y_0' = x_0, y_i' = x_i y_{i-1}, and the gradient of its last element."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def rate(x, y):
    return np.concatenate((x[:1], x[1:] * y[:-1]))


def primal(x, s):
    h = 2.0 / s
    y = np.zeros(len(x))
    for _ in range(s):
        k1 = rate(x, y)
        k2 = rate(x, y + h / 2.0 * k1)
        k3 = rate(x, y + h / 2.0 * k2)
        k4 = rate(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


def last(x, s):
    return primal(x, s)[-1]


gradient = srcgrad.grad(last)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return np.array(message["x"], dtype=np.float64), message["s"]


FUNCTIONS = {"primal": Served(primal, arguments, plain), "gradient": Served(gradient, arguments, plain)}
TIMED = Timed(primal, gradient, last)


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    n, s = (4, 5) if small else (1000, 100)
    return {"x": rng.uniform(size=n).tolist(), "s": s}
