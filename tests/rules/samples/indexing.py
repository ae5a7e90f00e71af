"""Indexing, sorting, making arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(5)
n, distinct = draws.n, draws.distinct
mask = np.array([True, False, True])

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_twice = np.array([0, 2, 0])
SAMPLES |= {
    operator.getitem: [
        call(n(3), 1),
        call(n(3), _twice),
        call(n(3, 4), (slice(1, None), 2)),
        call(n(3), mask),
        call([0.3, n(2)], 1),
        call(n(3, 4), (_twice, 1)),
    ],
    np.take: [call(n(3), _twice), call(n(2, 3), _twice, axis=1), call(n(2, 3), 1, 0), call(n(2, 3), [0, 5])],
    np.take_along_axis: [
        call(n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2, 3), np.array([[0, 1, 1]]), axis=0),
        call(n(4), np.array([3, 3]), None),
    ],
    np.compress: [call(mask, n(3)), call(mask, n(2, 3), axis=1)],
    np.sort: [call(distinct(4)), call(distinct(2, 3), axis=0), call(distinct(2, 3), None)],
    runtime.untake: [
        call(0.7, n(3), 1),
        call(n(3), n(3), _twice),
        call(n(2), [0.3, n(2)], 1),
        call([0.2, 0.3], [0.1, 0.1, 0.1], slice(1, None)),
    ],
    runtime.untake_axis: [call(n(3), n(3), _twice), call(n(2, 3), n(2, 3), _twice, 1)],
    runtime.untake_along: [
        call(n(2, 2), n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2), n(4), np.array([3, 3]), None),
    ],
    np.array: [
        call([0.3, 0.4]),
        call([[0.3, 0.4], [0.5, 0.6]]),
        call([n(3), n(3)]),
        call(n(3)),
        call(0.3),
        call([0.3, 2.0], float),
        call((0.3, n())),
    ],
    np.asarray: [call([0.3, 0.4]), call(n(3)), call(0.3), call([0.3, 0.4], dtype=None)],
    np.asanyarray: [call([0.3, 0.4])],
    np.float64: [call(0.3), call(n(3))],
    np.float32: [],
    np.float16: [],
    np.longdouble: [call(0.3)],
    np.full: [call((2, 3), 0.7), call(2, n(2)), call((2, 3), fill_value=0.4)],
    np.full_like: [call(n(2, 3), 0.7), call(n(2, 3), n(3))],
    np.linspace: [call(0.3, 0.7, 5), call(0.3, 0.7, num=4, endpoint=False), call(n(3), 0.7, 4), call(n(2, 1), n(3), 4)],
    np.arange: [call(0.3, 3.0, 0.5), call(0.3, 3.0)],
    np.zeros: [call((2, 3))],
    np.ones: [call((2, 3))],
    np.empty: [call(0)],
    np.zeros_like: [call(n(2, 3))],
    np.ones_like: [call(n(2, 3))],
    np.empty_like: [call(n(0))],
    np.eye: [call(3)],
    np.identity: [call(3)],
    np.tri: [call(3)],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.take}
