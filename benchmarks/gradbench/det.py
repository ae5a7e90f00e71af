"""det: a determinant by expansion along the first row, minor by minor, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def minor(a, row, columns):
    """The determinant of the rows from ``row`` on and of the ``columns``."""
    if len(columns) == 1:
        return a[row, columns[0]]
    total = 0.0
    sign = 1.0
    for place in range(len(columns)):
        rest = columns[:place] + columns[place + 1 :]
        total = total + sign * a[row, columns[place]] * minor(a, row + 1, rest)
        sign = -sign
    return total


def primal(a):
    return minor(a, 0, list(range(len(a))))


gradient = srcgrad.grad(primal)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return (np.array(message["A"], dtype=np.float64).reshape(message["ell"], message["ell"]),)


FUNCTIONS = {
    "primal": Served(primal, arguments, plain),
    "gradient": Served(gradient, arguments, lambda a_bar: plain(a_bar.ravel())),
}
TIMED = Timed(primal, gradient, primal)


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    ell = 4 if small else 7
    return {"A": rng.uniform(size=ell * ell).tolist(), "ell": ell}
