"""Norms of vectors and matrices in every order, condition numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call
from tests.rules.samples.linalg import complex_spread, spread

draws = Draws(33)
n, c, u, distinct = draws.n, draws.c, draws.u, draws.distinct
inf = np.inf
apart = distinct(3, 4) + 0.1
many = np.stack([spread(3, 4), 1.3 * spread(3, 4)])

_orders: list[Any] = [None, "fro", 1, -1, 2, -2, inf, -inf, "nuc"]
SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.linalg.norm: [
        call(n(4)),
        call(n(2, 3)),
        call(n(2, 3, 2)),
        call(n(2, 3), axis=1),
        call(n(2, 3), axis=0, keepdims=True),
        call(c(3)),
        call(c(2, 3), keepdims=True),
        *(call(distinct(4) + 0.15, ord) for ord in (2, 1, inf, -inf, 3, 2.5, 0.5, -1, -2, 0)),
        *(call(c(4), ord) for ord in (2, 1, inf, -inf, 3, 0.5)),
        *(call(apart, ord, axis=0) for ord in (2, 1, inf, -inf, 3, -1, 0)),
        *(call(c(3, 2), ord, axis=-1, keepdims=True) for ord in (None, 2, 1, inf, 1.5)),
        *(call(spread(3, 4), ord) for ord in _orders),
        *(call(complex_spread(4, 3), ord) for ord in _orders),
        *(call(many, ord, (1, 2)) for ord in _orders),
        *(call(np.moveaxis(many, 0, 1), ord, axis=(2, 0), keepdims=True) for ord in _orders),
        call(n(2, 3, 2), axis=(0, 1)),
        call(np.array([0.0, 0.7, -0.2]), 3),
    ],
    np.linalg.matrix_norm: [
        *(call(spread(3, 4), ord=ord) for ord in _orders),
        *(call(many, keepdims=True, ord=ord) for ord in _orders),
        *(call(complex_spread(3, 3), ord=ord) for ord in _orders),
        call(n(2, 3, 3)),
    ],
    np.linalg.vector_norm: [
        call(n(2, 3)),
        call(n(2, 3), axis=0),
        call(n(2, 3), axis=1, keepdims=True),
        call(c(2, 3), axis=(0, 1)),
        *(call(apart, ord=ord) for ord in (1, inf, -inf, 3, 0.5, -1, 0)),
        *(call(distinct(2, 3, 2) + 0.1, axis=(0, 2), ord=ord, keepdims=True) for ord in (2, 1, inf, -inf, 3)),
        *(call(c(2, 3), axis=1, ord=ord) for ord in (2, 1, inf, 3)),
    ],
    np.linalg.cond: [
        *(call(spread(3, 3), p) for p in (None, 2, -2, "fro", 1, -1, inf, -inf)),
        *(call(complex_spread(2, 3, 3), p) for p in (None, 2, -2, "fro", 1, -1, inf, -inf)),
        call(spread(4, 3)),
        call(spread(2, 4), p=-2),
    ],
    # parts
    runtime.norm_slope: [
        call(n(4), 3),
        call(n(4), 2),
        call(c(4), 1),
        call(c(2, 3), 2.5, 1),
        call(n(2, 3), 3, (0, 1), True),
        call(n(2, 3), -1, 0),
    ],
    runtime.safe_power: [call(u(2, 3), 2.5), call(np.array([0.4, 1.3]), -1), call(u(3), 0.0)],
    runtime.to_matrices: [
        call(n(3)),
        call(n(2, 3)),
        call(n(2, 3, 4), 1),
        call(n(2, 3, 4), (2, 0)),
        call(c(2, 3, 4), -1),
    ],
    runtime.from_matrices: [
        call(n(3, 1), n(3)),
        call(n(2, 3), n(2, 3)),
        call(n(2, 4, 3, 1), n(2, 3, 4), 1),
        call(n(3, 4, 2), n(2, 3, 4), (2, 0)),
    ],
}

ANALYTIC: set[Callable[..., Any]] = set()
