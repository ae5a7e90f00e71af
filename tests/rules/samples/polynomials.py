"""Polynomials: leading zeros, equal and unequal lengths, multiple roots, weighted fits of several columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(42)
u, n, c = draws.u, draws.n, draws.c

_x = np.linspace(-1.0, 1.4, 6) + 0.1 * n(6)



def led(v: Any) -> Any:
    """``v`` with a leading coefficient away from zero, by which one can divide."""
    v[0] = 1.2 if v.dtype.kind == "f" else 1.1 - 0.4j
    return v


SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.polyval: [
        call(n(4), 0.7),
        call(n(4), n(2, 3)),
        call(n(1), n(3)),
        call(c(3), c(2)),
        call(n(3), c(2)),
        call(c(3), n(2)),
        call(n(3, 2), n(2)),
        call(n(3, 2), n(4, 1)),
        call(n(3), np.zeros(2)),
        call(n(2), n()),
        call(n(3), n(0)),
    ],
    runtime.polyslope: [
        call(n(4), n(3)),
        call(n(4), 0.7, 2),
        call(n(2), n(3), 2),
        call(c(4), c(2), n=3),
        call(n(4, 2), n(3, 1)),
    ],
    runtime.unpolyval: [
        call(n(3), n(4), n(3)),
        call(n(2, 3), n(4), n(2, 3), 1),
        call(c(3), c(4), c(3), n=2),
        call(c(3), n(2), c(3)),
        call(0.3, n(3), 0.7),
        call(n(4, 2), n(3, 2), n(4, 1), 1),
    ],
    np.polyadd: [call(n(4), n(2)), call(n(2), n(3)), call(c(2), n(2)), call(0.7, n(2)), call(n(2, 2), n(2, 2))],
    np.polysub: [call(n(4), n(2)), call(n(2), n(3)), call(c(2), n(2)), call(n(2), 0.7)],
    np.polymul: [
        call(n(4), n(2)),
        call(n(2), c(3)),
        call(0.7, n(2)),
        call(n(1), n(1)),
    ],
    np.polydiv: [
        call(n(5), led(n(3))),
        call(n(5), led(n(2))),
        call(n(3), led(n(3))),
        call(n(2), led(n(4))),
        call(n(3), led(n(1))),
        call(c(4), led(c(2))),
        call(n(4), led(c(2))),
        call(np.array([0.0, 0.0, 1.3, 0.4, -0.7]), np.array([1.1, 0.0, 0.3])),
    ],
    runtime.division: [
        call(n(5), led(n(3)), (n(3), n(2))),
        call(n(2), led(n(4)), (n(1), n(2))),
        call(c(4), led(c(2)), (c(3), c(1))),
    ],
    runtime.undivision: [
        call((n(3), n(2)), n(5), led(n(3))),
        call((n(1), n(2)), n(2), led(n(4))),
        call((c(3), c(1)), c(4), led(c(2))),
        call((n(3), n(1)), n(3), led(n(1))),
        call((n(3), n(1)), n(5), led(n(3))),
    ],
    runtime.tail: [call(n(4), n(2)), call(n(2), n(4)), call(c(3), n(2)), call(n(3), 0.7), call(n(2, 2), n(2, 2))],
    runtime.unpolymul: [call(n(5), n(4), n(2)), call(n(3), n(4), n(2)), call(c(3), c(2), n(3)), call(n(2), 0.7, n(2))],
    np.polyder: [call(n(4)), call(c(4), 2), call(n(3), m=3), call(n(3), 0), call(n(2), 4)],
    runtime.unpolyder: [call(n(3), n(4)), call(c(2), c(4), 2), call(n(0), n(3), 3), call(n(0), n(2), 4)],
    np.polyint: [
        call(n(3)),
        call(n(3), 2, n(2)),
        call(n(3), m=2, k=0.7),
        call(n(3), 1, n(1)),
        call(n(3), 3, n(1)),
        call(n(3), 1, n(3)),
        call(c(2), 2, c(2)),
        call(n(2), 0),
    ],
    runtime.unpolyint: [call(n(4), n(3)), call(c(5), c(3), 2), call(n(2), n(2), 0)],
    runtime.unconstants: [
        call(n(4), n(1)),
        call(n(5), n(2), 2),
        call(n(5), 0.7, 2),
        call(n(4), n(3)),
        call(c(4), c(1), 2),
    ],
    np.roots: [
        call(np.array([1.3, -0.7, -2.1])),
        call(np.array([0.9, 0.7, 2.1, -1.1])),
        call(np.array([0.9, 0.7, 2.1, 0.0])),
        call(c(4)),
    ],
    np.poly: [
        call(n(3)),
        call(np.array([0.7, 0.7, 0.0, 1.2])),
        call(c(3)),
        call(n(1)),
    ],
    np.polyfit: [
        call(_x, n(6), 2),
        call(_x, n(6, 2), 1),
        call(_x, n(6), 3, 1e-10, False, u(6), False),
        call(_x, n(6, 2), 2, w=u(6)),
        call(_x, c(6), 2, w=u(6)),
        call(_x[:3], n(3), 2),
    ],
    runtime.normal_solve: [
        call(n(3), _x),
        call(n(3, 2), _x),
        call(n(3), _x, u(6), 1e-10),
        call(n(2, 2), _x, w=u(6)),
        call(c(3), _x, u(6)),
    ],
    runtime.column: [call(n(3), n(4, 2)), call(n(3), n(4)), call(n(3), n(2, 2, 2))],
    runtime.uncolumn: [call(n(3, 2), n(3)), call(n(3), n(3)), call(c(3, 2), n(3))],
}

ANALYTIC: set[Callable[..., Any]] = set()
