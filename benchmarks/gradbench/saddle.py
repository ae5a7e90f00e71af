"""saddle: a saddle point, by gradient descent over a function that itself climbs to a maximum.

The derivative of the outer function goes through all steps of the inner search.  The first letter of a function's name
says how the outer derivative is computed, forward or reverse, the second the inner one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.descent import argmin
from benchmarks.gradbench.served import Served, Timed, plain


def height(x, y):
    return np.sum(x * x) - np.sum(y * y)


def depth(y, x):
    return -height(x, y)


def depth_by_forward(y, x):
    value, first = srcgrad.jvp(depth, (y, x), (np.array([1.0, 0.0]), None))
    _, second = srcgrad.jvp(depth, (y, x), (np.array([0.0, 1.0]), None))
    return value, np.array([first, second])


depth_by_reverse = srcgrad.value_and_grad(depth)


def highest_forward(x, start):
    """Where ``height(x, y)`` is largest in y."""
    return argmin(depth_by_forward, start, x)


def highest_reverse(x, start):
    return argmin(depth_by_reverse, start, x)


def ridge_forward(x, start):
    return height(x, highest_forward(x, start))


def ridge_reverse(x, start):
    return height(x, highest_reverse(x, start))


INNER = {"f": (highest_forward, ridge_forward), "r": (highest_reverse, ridge_reverse)}


def search(outer: str, inner: str) -> Callable[[np.ndarray], Any]:
    highest, ridge = INNER[inner]
    both = srcgrad.value_and_grad(ridge)

    def forward(x, start):
        value, first = srcgrad.jvp(ridge, (x, start), (np.array([1.0, 0.0]), None))
        _, second = srcgrad.jvp(ridge, (x, start), (np.array([0.0, 1.0]), None))
        return value, np.array([first, second])

    def found(start):
        x = argmin(forward if outer == "f" else both, start, start)
        return np.concatenate((x, highest(x, start)))

    return found


slope_of_ridge = srcgrad.grad(ridge_reverse)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return (np.array(message["start"], dtype=np.float64),)


FUNCTIONS = {outer + inner: Served(search(outer, inner), arguments, plain) for outer in "fr" for inner in "fr"}
TIMED = Timed(  # one search of the inner kind, of the hundreds of the outer search
    lambda start: ridge_reverse(start, start), lambda start: slope_of_ridge(start, start)
)


def sample(small: bool = False) -> dict[str, Any]:
    return {"start": [1.0, 1.0]}
