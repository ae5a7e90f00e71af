"""Python's own functions and those of the runtime."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(6)
n, distinct = draws.n, draws.distinct

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

SAMPLES |= {
    sum: [
        call([0.3, 0.4]),
        call([n(3), n(3)], n(2, 3)),
        call(n(3)),
        call(n(2, 3)),
        call((0.3, 0.5), 0.2),
        call([0.3, n(2)]),
    ],
    math.fsum: [call([0.3, 0.4]), call(n(3))],
    statistics.mean: [call([0.3, 0.4]), call(n(3))],
    statistics.fmean: [call([0.3, 0.4]), call((0.3, 0.1, 0.5)), call(n(3))],
    statistics.variance: [call([0.3, 0.4, 0.9]), call(n(3))],
    statistics.pvariance: [call([0.3, 0.4, 0.9]), call(n(3))],
    statistics.stdev: [call([0.3, 0.4, 0.9]), call(n(3))],
    statistics.pstdev: [call([0.3, 0.4, 0.9]), call(n(3))],
    math.prod: [call([0.3, 0.4, 2.0]), call([0.3, 0.0], start=2.0), call([0.3, 0.4], start=n(2)), call(n(3))],
    max: [call(0.3, 0.4), call([0.3, 0.7, 0.1]), call(distinct(4)), call(0.3, 0.1, -0.2)],
    min: [call(0.3, 0.4), call([0.3, 0.7, 0.1]), call(distinct(4)), call(0.3, 0.1, -0.2)],
    sorted: [call([0.3, 0.7, 0.1]), call([0.3, 0.7, 0.1], reverse=True), call(n(3))],
    float: [call(0.3), call(n())],
    runtime.float_tangent: [call(0.3), call(n())],
    divmod: [call(2.5, 0.7)],
    np.divmod: [call(np.array([2.5, 1.1]), np.array([0.7, 0.4]))],
    math.modf: [call(2.5)],
    np.modf: [call(np.array([2.3, -0.7, 0.4]))],
    math.hypot: [call(0.3, 0.4), call(0.3, 0.4, 0.5)],
    math.dist: [call([0.3, 0.4], [0.1, 0.9]), call(n(3), n(3))],
    runtime.add: [call(n(3), n(3)), call([0.3, n(2)], [0.1, n(2)]), call(0.3, 0.4)],
    runtime.own: [call(n(3)), call([0.3, 0.4]), call(0.3)],
    runtime.or_zeros: [call(n(3), n(3)), call([n(3), 0.2], (n(3), 0.3)), call({"a": n(2)}, {"a": n(2)})],
    runtime.unshared: [call(n(3)), call([n(3), n(2)]), call((n(2), [0.3])), call(0.3)],
    runtime.operand: [call([0.3, 0.4]), call(n(3)), call(0.3), call((0.3, n())), call(draws.c(2))],
    runtime.widened: [call(n(3)), call(n(3), n(3)), call(0.3), call(draws.c(2))],
    runtime.as_list: [call([0.3, n(2)])],
    runtime.pack_like: [call([0.3, 0.4], n(2)), call((n(2), 0.3), [n(2), 0.1]), call((n(2), n(2)), n(2, 2))],
    runtime.unpack_like: [call(n(2), [0.3, 0.4]), call([n(2), 0.3], (n(2), 0.1))],
    runtime.spread: [call(0.3, [0.1, 0.2]), call(n(3), [n(3), 0.7]), call(n(3), n(2, 3)), call(0.3, n(3))],
    runtime.total: [call([0.1, 0.2], 0.3), call([n(3), 0.7], n(3)), call(n(2, 3), n(3))],
    runtime.gather: [call([0.1, 0.2, 0.3], [2, 0, 0]), call(n(3), [1, 0])],
    runtime.ungather: [call([0.1, 0.2], [0.1, 0.2, 0.3], [2, 2]), call([0.1, 0.2], n(3), [1, 0])],
    runtime.unarray: [call(n(2), [0.1, 0.2]), call(n(2, 2), [n(2), [0.1, 0.2]]), call(n(3), n(3))],
    runtime.rearray: [call([0.1, 0.2], n(2)), call([n(2), [0.1, 0.2]], n(2, 2)), call(0.3, 0.4)],
}
if hasattr(math, "sumprod"):
    SAMPLES[math.sumprod] = [call([0.3, 0.4], [0.1, 0.9]), call((0.3, 2.0), n(2))]
if hasattr(np, "astype"):
    SAMPLES[np.astype] = [call(n(3), float)]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = set()
