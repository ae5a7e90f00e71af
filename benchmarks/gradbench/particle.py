"""particle: the control parameter for which a charged particle's path meets the origin.

The force on the particle is a derivative, inside of the function that is minimised by its own derivative; each is
computed in forward or in reverse mode, as the two letters of a function's name say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import srcgrad
from benchmarks.gradbench.descent import argmin
from benchmarks.gradbench.served import Served, Timed, plain


def potential(x, w):
    total = 0.0
    for charge in ((10.0, 10.0 - w), (10.0, 0.0)):
        total += 1.0 / math.sqrt((x[0] - charge[0]) ** 2 + (x[1] - charge[1]) ** 2)
    return total


def slope_forward(x, w):
    _, first = srcgrad.jvp(potential, (x, w), ((1.0, 0.0), 0.0))
    _, second = srcgrad.jvp(potential, (x, w), ((0.0, 1.0), 0.0))
    return first, second


slope_reverse = srcgrad.grad(potential)


def miss(w, slope):
    """The square of the place where a path by Euler's method crosses the axis."""
    dt = 0.1
    x = (0.0, 8.0)
    v = (0.75, 0.0)
    there = (x[0] + dt * v[0], x[1] + dt * v[1])
    while there[1] > 0.0:
        force = slope(x, w)
        v = (v[0] - dt * force[0], v[1] - dt * force[1])
        x = there
        there = (x[0] + dt * v[0], x[1] + dt * v[1])
    crossing = x[0] - x[1] / v[1] * v[0]
    return crossing * crossing


def miss_by_forward(w):
    return miss(w, slope_forward)


def miss_by_reverse(w):
    return miss(w, slope_reverse)


INNER = {"f": miss_by_forward, "r": miss_by_reverse}


def minimiser(outer: str, inner: str) -> Callable[[float], Any]:
    function = INNER[inner]
    both = srcgrad.value_and_grad(function)

    def reverse(w, _):
        return both(w)

    def forward(w, _):
        return srcgrad.jvp(function, (w,), (1.0,))

    return lambda w: argmin(forward if outer == "f" else reverse, w, None)


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return (float(message["w"]),)


FUNCTIONS = {outer + inner: Served(minimiser(outer, inner), arguments, plain) for outer in "fr" for inner in "fr"}
TIMED = Timed(miss_by_reverse, srcgrad.grad(miss_by_reverse))  # one path, of the hundreds of a search


def sample(small: bool = False) -> dict[str, Any]:
    return {"w": 0.0}
