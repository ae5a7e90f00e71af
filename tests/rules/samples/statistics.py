"""Order statistics, weighted means, covariances, counts with weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(13)
n, c, u, distinct = draws.n, draws.c, draws.u, draws.distinct
nan = np.nan

SMOOTH = ("linear", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased")
STEPS = ("lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation")
_missing = np.array([[1.3, nan, -0.4, 2.9], [nan, 2.2, nan, 0.7], [0.3, 1.9, -1.0, 0.6]])
_several = np.array([0.43, 0.65])

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.median: [
        call(distinct(5)),
        call(distinct(4)),
        call(distinct(2, 3)),
        call(distinct(4, 3), axis=0),
        call(distinct(2, 3, 2), axis=(0, -1)),
        call(distinct(3, 4), axis=1, keepdims=True),
    ],
    np.nanmedian: [
        call(_missing),
        call(_missing, axis=1),
        call(_missing, axis=0, keepdims=True),
        call(distinct(4, 3), axis=0),
    ],
    np.quantile: [
        call(distinct(5), 0.3),
        call(distinct(5), [0.43, 0.71]),
        call(distinct(4, 3), 0.37, axis=0),
        call(distinct(3, 4), 0.8, axis=-1, keepdims=True),
        call(distinct(2, 3, 2), _several, axis=(0, -1)),
        call(distinct(4, 3), _several, keepdims=True),
        call(distinct(4, 3), np.array([[0.12, 0.4], [0.7, 0.93]]), 1),
        *(call(distinct(5), 0.43, method=method) for method in (*SMOOTH, *STEPS)),
        *(call(distinct(5, 2), _several, axis=0, method=method) for method in (*SMOOTH, *STEPS)),
    ],
    np.percentile: [
        call(distinct(5), 30.0),
        call(distinct(5), [43.0, 71.0]),
        call(distinct(4, 3), 100 * _several, axis=0),
        call(distinct(4, 3), 37.0, axis=1, keepdims=True, method="hazen"),
    ],
    np.nanquantile: [
        call(_missing, 0.43),
        call(_missing, _several, axis=1),
        call(_missing, 0.83, axis=0, keepdims=True),
        *(call(_missing[:2], 0.43, axis=1, method=method) for method in (*SMOOTH, *STEPS)),
    ],
    np.nanpercentile: [
        call(_missing, 43.0),
        call(_missing, 100 * _several, axis=1),
        call(_missing, 83.0, axis=0, keepdims=True, method="weibull"),
    ],
    runtime.weighed: [
        call(n(5), distinct(5), 0.3),
        call(n(4, 3), distinct(4, 3), _several, 0),
        call(n(4, 3), distinct(4, 3), _several, 0, True, "hazen"),
        call(n(4, 3), distinct(4, 3), 0.3, None, False, "lower", False, 0),
        call(n(3, 4), _missing, 0.43, 1, False, "linear", True, 1),
        call(n(5), distinct(5), 0.3, None, False, "linear", False, 2),
    ],
    runtime.unweighed: [
        call(n(), distinct(5), 0.3),
        call(n(2, 3), distinct(4, 3), _several, 0),
        call(n(2, 1, 3), distinct(4, 3), _several, 0, True, "hazen"),
        call(n(), distinct(4, 3), 0.3, None, False, "lower", False, 0),
        call(n(3), _missing, 0.43, 1, False, "linear", True, 1),
    ],
    runtime.leading: [call(n(2, 3), n(2)), call(n(2, 3), 0.4), call(n(2), n(2))],
    runtime.unleading: [call(n(2), n(2, 3)), call(0.4, n(2, 3)), call(n(2), n(2))],
    np.average: [
        call(n(2, 3)),
        call(n(2, 3), axis=0, returned=True),
        call(n(2, 3), weights=u(2, 3)),
        call(n(2, 3), 1, u(3)),
        call(n(2, 3), axis=0, weights=u(2), keepdims=True),
        call(n(2, 3, 4), axis=(2, 0), weights=u(4, 2)),
        call(n(2, 3), 1, u(3), True),
        call(n(2, 3), weights=u(2, 3), returned=True, keepdims=True),
        call(c(2, 3), weights=u(2, 3), axis=1),
        call(c(3), weights=c(3)),
    ],
    runtime.aligned: [call(u(2, 3), n(2, 3)), call(u(3), n(2, 3), 1), call(u(4, 2), n(2, 3, 4), (2, 0))],
    runtime.unaligned: [
        call(n(2, 3), u(2, 3), n(2, 3)),
        call(n(2, 3), u(3), n(2, 3), 1),
        call(n(2, 3, 4), u(4, 2), n(2, 3, 4), (2, 0)),
        call(n(1, 3), u(3), n(2, 3), 1),
    ],
    np.cov: [
        call(n(3, 5)),
        call(n(5)),
        call(n(5, 3), rowvar=False),
        call(n(3, 5), n(2, 5)),
        call(n(5), n(5), True, True),
        call(n(5, 2), n(5, 3), False, ddof=0),
        call(n(3, 5), bias=True),
        call(n(2, 4), fweights=np.array([1, 2, 1, 3])),
        call(n(2, 4), aweights=u(4)),
        call(n(2, 4), None, True, False, 2, np.array([1, 2, 1, 3]), u(4)),
        call(n(2, 4), n(1, 4), ddof=0, aweights=u(4)),
        call(n(4), aweights=u(4), bias=True),
        call(c(3, 5)),
        call(c(2, 4), c(1, 4), aweights=u(4)),
        call(n(2, 4), c(1, 4)),
        call(n(2, 4), dtype=np.float64),
        call(c(2, 4), dtype=np.float64),
    ],
    np.corrcoef: [
        call(n(3, 5)),
        call(n(5, 3), rowvar=False),
        call(n(5), n(2, 5)),
        call(n(5)),
        call(n(5, 2), n(5, 3), False),
        call(c(3, 5)),
        call(n(3, 5), dtype=np.float64),
        call(c(3, 5), dtype=np.float64),
    ],
    runtime.observations: [
        call(n(2, 3)),
        call(n(3, 2), n(3, 1), False),
        call(n(3), n(2, 3)),
        call(n(3), n(3), False),
        call(c(3), None, True, np.float64),
    ],
    runtime.observed: [
        call(n(2, 3), n(5, 3)),
        call(n(2, 3), n(5, 3), True, True),
        call(n(3, 2), n(5, 3), False),
        call(n(3), n(2, 3)),
    ],
    runtime.unobservations: [
        call(n(5, 3), n(2, 3)),
        call(n(5, 3), n(2, 3), True, True),
        call(n(5, 3), n(3, 2), False),
        call(n(2, 3), n(3)),
    ],
    runtime.or_ones: [call(u(3), n(2, 3))],
    np.bincount: [
        call(np.array([0, 2, 1, 2, 0]), n(5)),
        call(np.array([0, 2]), weights=n(2), minlength=6),
    ],
    np.histogram: [
        call(np.array([0.1, 0.7, 2.0, 1.9, 3.0, np.nan]), np.array([0.0, 0.5, 1.5, 2.0]), weights=n(6)),
        call(np.array([[0.1, 0.5], [0.9, 0.3]]), 4, weights=n(2, 2)),
        call(np.array([1, 2, 2, 4]), bins=3, range=(1.5, 4.0), density=False, weights=n(4)),
    ],
    runtime.from_bins: [call(n(3), np.array([0.0, 0.4, 2.0, 2.5]), np.array([0.0, 0.5, 1.5, 2.0]))],
    runtime.into_bins: [call(n(4), np.array([0.0, 0.4, 2.0, 2.5]), np.array([0.0, 0.5, 1.5, 2.0]))],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {runtime.aligned, runtime.observations}
