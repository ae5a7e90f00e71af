"""Sums, means, variances, products, extrema; what derivatives of reductions call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(2)
n, c, distinct = draws.n, draws.c, draws.distinct
nan = np.nan
mask = np.array([[True, False, True], [False, True, True]])

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_axes = [
    call(n(2, 3)),
    call(n(2, 3), axis=0),
    call(n(2, 3, 2), axis=(0, -1)),
    call(n(2, 3), axis=1, keepdims=True),
    call(n(3), keepdims=True),
    call(n(2, 3), axis=()),
]
_spread = [Call((distinct(*s.args[0].shape),), s.kwargs) for s in _axes if s.kwargs.get("axis") != ()]
_missing = np.array([[1.3, nan, -0.4], [nan, 2.2, 0.7]])
_double = {"dtype": np.float64}
_wide = {"dtype": np.complex128}

for f in (np.sum, np.mean, np.var, np.std, np.prod):
    SAMPLES[f] = [*_spread, call(n(2, 3), 1, where=mask), call(c(2, 3), axis=0), call(c(3))]
for f in (np.sum, np.mean, np.prod, np.var, np.std):
    SAMPLES[f] += [
        call(n(2, 3), 0, np.float64),
        call(c(2, 3), **_wide),
        call(c(2, 3), **_double),
        call(n(2, 3), axis=1, keepdims=True, **_double),
    ]
for f in (np.max, np.amax, np.min, np.amin, np.ptp):
    SAMPLES[f] = [Call((distinct(*s.args[0].shape),), s.kwargs) for s in _axes]
for f in (np.max, np.amax, np.min, np.amin):
    SAMPLES[f] += [
        call(distinct(2, 3), axis=1, initial=0.05),
        call(distinct(2, 3), initial=9.1),
        call(distinct(2, 3), 0, initial=-9.1, where=mask),
        call(distinct(3) + 1j * distinct(3)),
    ]
for f in (np.sum, np.prod):
    SAMPLES[f] += [
        call(n(2, 3), initial=0.7),
        call(n(2, 3), axis=0, initial=1.3, where=mask),
        call(n(2, 3), 1, initial=n(), keepdims=True, **_double),
    ]
for f in (np.var, np.std):
    SAMPLES[f] += [
        call(n(2, 3), axis=0, ddof=1),
        call(n(2, 3), axis=1, correction=1),
        call(n(2, 3), axis=1, mean=n(2, 1)),
        call(n(3), mean=0.4, ddof=1, keepdims=True),
        call(n(2, 4), axis=1, where=np.array([True, True, True, False]), ddof=1, mean=n(2, 1), **_double),
        call(c(2, 3), axis=1, mean=c(2, 1)),
        call(c(2, 3), axis=1, where=np.array([True, False, True])),
    ]
SAMPLES[np.sum].append(call(0.7))
SAMPLES[np.prod] += [call(np.array([2.0, 0.0, 3.0])), call(np.array([[2.0, 0.0], [0.0, 3.0], [1.5, 2.0]]), axis=0)]

for f in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd):
    SAMPLES[f] = [
        call(_missing),
        call(_missing, axis=1, keepdims=True),
        call(_missing, 1, np.float64),
        call(n(2, 3), axis=0),
        call(n(2, 3, 2), axis=(0, -1)),
        call(
            np.array([[1.3, nan, -0.4, 2.0], [nan, 2.2, 0.7, 0.1]]), axis=1, where=np.array([True, True, True, False])
        ),
        call(np.array([0.4 + 1.3j, nan, -1.1 + 0.2j])),
    ]
for f in (np.nansum, np.nanprod):
    SAMPLES[f] += [call(_missing, axis=0, initial=1.4), call(np.array([nan, 0.0, 2.0, 3.0]))]
for f in (np.nanvar, np.nanstd):
    SAMPLES[f] += [
        call(np.array([1.0, nan, 2.0, 4.0]), ddof=1),
        call(_missing, axis=1, mean=n(2, 1)),
        call(np.array([1.0, nan, 2.0, 4.0]), correction=1, keepdims=True, mean=0.3),
    ]
for f in (np.nanmax, np.nanmin):
    SAMPLES[f] = [
        call(_missing),
        call(_missing, axis=1, keepdims=True),
        call(_missing, axis=0, initial=0.2),
        call(_missing, axis=0, initial=0.95),
        call(_missing, initial=-9.0, where=mask),
        call(distinct(2, 3), axis=0),
    ]

SAMPLES |= {
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
        call(n(2), n(2, 3), 1, False, mask),
        call(c(3), c(2, 3), -2),
        call(n(2, 3), n(2, 3), ()),
    ],
    runtime.deviation: [
        call(n(2, 3)),
        call(n(2, 3), 1),
        call(n(2, 3), 1, mask),
        call(n(2, 3), 1, mean=n(2, 1)),
        call(n(2, 3), 1, mask, 0.4),
        call(c(2, 3), 0),
        call(c(2, 3), 0, mask),
        call(c(3), mean=c(1)),
        call(c(3), dtype=np.float64),
    ],
    runtime.where_nonzero: [call(np.array([0.0, 1.0, 0.0]), n(3)), call(0.0, 0.3)],
    runtime.where_defined: [
        call(np.array([0.0, 1.0, 0.0]), np.array([np.nan, np.nan, 1.0]), n(3)),
        call(0.0, 0.3, 0.3),
    ],
    runtime.if_defined: [call(np.zeros(2), np.full(3, np.nan), n(3)), call((0.0, np.ones(2)), n(3), n(3))],
    runtime.handed: [call(0.7, "Point"), call(np.float64(-1.3), "Point")],
    runtime.if_nonzero: [call(np.zeros(2), n(3)), call((0.0, np.ones(2)), n(3)), call(0.0, 0.3)],
    runtime.if_floating: [call(n(3), None), call(n(3), np.float64), call(c(3), np.complex128, True)],
    runtime.in_dtype: [call(n(3), None), call(n(3), np.complex128), call(c(3), np.float64)],
    runtime.exp_share: [
        call(n(3), n(2, 3) + 1.0),
        call(n(3), 0.4, 2),
        call(np.array([-np.inf, 0.5]), np.array([0.3, 0.9])),
        call(np.array([-np.inf, 0.5, np.inf]), np.array([-np.inf, np.inf, np.inf]), np.array([2, 1, 3])),
    ],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = set()
