"""Sums, means, extrema, products, norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(2)
n, distinct = draws.n, draws.distinct

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_axes = [
    call(n(2, 3)),
    call(n(2, 3), axis=0),
    call(n(2, 3, 2), axis=(0, -1)),
    call(n(2, 3), axis=1, keepdims=True),
    call(n(3), keepdims=True),
]
for f in (np.sum, np.mean, np.var, np.std, np.prod):
    SAMPLES[f] = [*_axes]
for f in (np.max, np.amax, np.min, np.amin, np.ptp):
    SAMPLES[f] = [Call((distinct(*c.args[0].shape),), c.kwargs) for c in _axes]
SAMPLES[np.sum].append(call(0.7))
SAMPLES[np.var].append(call(n(2, 3), axis=0, ddof=1))
SAMPLES[np.std].append(call(n(2, 3), axis=0, ddof=1))
SAMPLES[np.prod] += [call(np.array([2.0, 0.0, 3.0])), call(np.array([[2.0, 0.0], [0.0, 3.0], [1.5, 2.0]]), axis=0)]
SAMPLES |= {
    np.cumsum: [call(n(4)), call(n(2, 3)), call(n(2, 3), axis=1), call(n(2, 3), 0)],
    np.cumprod: [call(n(4)), call(n(2, 3)), call(n(2, 3), axis=1), call(np.array([2.0, 0.0, 3.0, 0.0, 1.5]), 0)],
    np.diff: [call(n(4)), call(n(3, 4), axis=0), call(n(3, 4), 2)],
    runtime.undiff: [call(n(3), n(4)), call(n(2, 4), n(4, 4), 2, 0)],
    np.linalg.norm: [
        call(n(4)),
        call(n(2, 3)),
        call(n(2, 3), axis=1),
        call(n(2, 3), axis=0, keepdims=True),
        call(n(4), 2),
        call(n(4), 1),
        call(n(3, 4), ord=1, axis=0),
        call(distinct(4), np.inf),
        call(n(4), 3),
        call(n(3, 4), 2.5, 1),
        call(n(2, 3), "fro"),
        call(n(2, 3), ord=2, axis=-1, keepdims=True),
        call(n(2, 3, 2), axis=(0, 1)),
    ],
    np.linalg.vector_norm: [call(n(2, 3)), call(n(2, 3), axis=0), call(n(2, 3), axis=1, keepdims=True)],
    runtime.unbroadcast: [
        call(n(2, 3), n(3)),
        call(n(2, 3), 0.7),
        call(n(2, 3), n(2, 1)),
        call(n(3), n(3)),
        call(0.3, 0.2),
    ],
    runtime.rebroadcast: [
        call(n(3), n(2, 3)),
        call(0.7, n(2)),
        call(n(2, 1), n(2, 3)),
        call(n(3), n(3)),
        call(0.3, 0.2),
    ],
    runtime.unreduce: [
        call(0.7, n(2, 3)),
        call(n(3), n(2, 3), 0),
        call(n(2, 1), n(2, 3), 1, True),
        call(0.3, 0.2),
        call(n(1, 1), n(2, 3), None, True),
    ],
    runtime.uncumsum: [call(n(6), n(2, 3)), call(n(2, 3), n(2, 3), 1)],
    runtime.running_product: [call(n(4)), call(n(2, 3), 1), call(n(2, 3), None, True), call(n(2, 3, 2), (0, 2), True)],
    runtime.recurrence: [call(n(4), n(4)), call(n(2, 3), n(2, 3), 1), call(n(2, 3), n(2, 3), None, True)],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.sum, np.mean, np.prod, np.cumsum}
