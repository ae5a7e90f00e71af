"""Methods of ufuncs: reductions, accumulations, segments, every pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.rules.table import lookup
from srcgrad.rules.ufunc_methods import Outer
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(14)
n, c, u, distinct = draws.n, draws.c, draws.u, draws.distinct
nan = np.nan
mask = np.array([[True, False, True], [False, True, True]])
_missing = np.array([[1.3, nan, -0.4], [nan, 2.2, 0.7]])

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for f in (np.add.reduce, np.multiply.reduce):
    SAMPLES[f] = [
        call(n(2, 3)),
        call(n(2, 3), 1),
        call(n(2, 3), axis=None, keepdims=True),
        call(n(2, 3, 2), axis=(0, -1)),
        call(n(2, 3), 0, np.float64, keepdims=True, initial=0.7),
        call(n(2, 3), axis=1, initial=n(), where=mask),
        call(c(3)),
        call(np.array([2.0, 0.0, 3.0])),
    ]
for f in (np.maximum.reduce, np.minimum.reduce, np.fmax.reduce, np.fmin.reduce):
    SAMPLES[f] = [
        call(distinct(2, 3)),
        call(distinct(2, 3), 1),
        call(distinct(2, 3), axis=None, keepdims=True),
        call(distinct(2, 3, 2), axis=(0, -1), dtype=np.float64),
        call(distinct(2, 3), axis=1, initial=0.05, where=mask),
    ]
for f in (np.fmax.reduce, np.fmin.reduce):
    SAMPLES[f] += [call(_missing), call(_missing, axis=1, initial=0.2), call(_missing, axis=1, initial=1.7)]
for f in (np.logaddexp.reduce, np.logaddexp2.reduce, np.hypot.reduce):
    SAMPLES[f] = [
        call(n(2, 3)),
        call(n(2, 3), 1),
        call(n(2, 3), axis=None, keepdims=True),
        call(n(2, 3, 2), axis=(0, -1)),
        call(n(2, 3), axis=1, initial=0.3, where=mask),
    ]
for f in (np.logaddexp.reduce, np.logaddexp2.reduce):
    SAMPLES[f] += [call(np.array([0.3, -np.inf, 1.2])), call(np.array([1000.0, 999.0]))]
SAMPLES[np.hypot.reduce].append(call(np.array([0.0, 0.0, 2.0])))

for f in (np.add.accumulate, np.multiply.accumulate):
    SAMPLES[f] = [call(n(4)), call(n(2, 3)), call(n(2, 3), 1), call(n(2, 3), -1, np.float64), call(c(4))]
SAMPLES[np.multiply.accumulate].append(call(np.array([2.0, 0.0, 3.0, 0.0])))
for f in (np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate):
    SAMPLES[f] = [call(distinct(5)), call(distinct(2, 3)), call(distinct(2, 3), -1, np.float64)]
SAMPLES[np.fmax.accumulate].append(call(np.array([0.3, nan, 0.7])))
SAMPLES[np.logaddexp.accumulate] = [
    call(n(4)),
    call(n(3, 2)),
    call(n(2, 3), 1),
    call(np.array([0.3, -np.inf, 1.2])),
    call(np.array([1000.0, 999.0, 1001.0])),
]
SAMPLES[np.add.reduceat] = [
    call(n(5), [0, 3]),
    call(n(5), np.array([0, 3, 1, 4])),
    call(n(2, 4), [1, 3], axis=1),
    call(n(4, 2), [0, 2], 0, np.float64),
    call(c(5), [0, 3]),
]
for f in (np.maximum.reduceat, np.minimum.reduceat):
    SAMPLES[f] = [
        call(distinct(5), [0, 3]),
        call(distinct(2, 4), [1, 3], axis=1),
        call(distinct(4, 2), [0, 2], 0, np.float64),
    ]
SAMPLES[runtime.unreduceat] = [
    call(n(2), n(5), [0, 3]),
    call(n(4), n(5), np.array([0, 3, 1, 4])),
    call(n(2, 2), n(2, 4), [1, 3], 1),
]
SAMPLES[runtime.lifted] = [call(n(2), n(3)), call(0.3, n(3)), call(n(2, 3), n(2, 2)), call(n(2), 0.4)]
SAMPLES[runtime.unlifted] = [call(n(2, 1), n(2)), call(n(1, 1), 0.3), call(n(2), n(2))]

for ufunc in {value for value in vars(np).values() if isinstance(value, np.ufunc)}:
    if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None and isinstance(lookup(ufunc.outer), Outer):
        SAMPLES[ufunc.outer] = [
            call(u(2), u(3) + 1.0),
            call(u(2, 2), u(3) + 1.0),
            call(0.3, u(3) + 1.0),
            call(u(2), 1.4),
        ]
SAMPLES[np.multiply.outer] += [call(c(2), c(3)), call(n(2), c(3))]
SAMPLES[np.ldexp.outer] = [call(u(2), np.array([1, 2, -1])), call(0.4, np.array([2, 0]))]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.multiply.outer, np.add.outer}
