"""Densities, distribution functions and quantiles of scipy.stats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from srcgrad.runtime.scipy import gaussian
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(43)
u, n = draws.u, draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_functions = "pdf logpdf cdf logcdf sf logsf".split()
_quantiles = "ppf isf".split()


def _points(shapes: list[Any], low: float, high: float) -> list[Call]:
    """Calls with points between two bounds of the standard distribution."""
    x = u(2, 1, low=low, high=high)
    keywords: dict[str, Any] = {"loc": n(3) / 20, "scale": 1.4}
    return [
        call(u(3, low=low, high=high), *shapes),
        call(u(low=low, high=high), *(float(np.mean(s)) for s in shapes)),
        call(0.3 + 1.7 * x, *shapes, 0.3, 1.7 + u(3) / 50),
        call(0.1 + 1.4 * x, *shapes, **keywords),
    ]


_line = np.array([-7.0, 6.0])
_negative = np.array([-2.0, -0.3])
_families: dict[Any, tuple[list[Any], float, float, Any]] = {
    stats.norm: ([], -1.5, 2.0, _line),
    stats.t: ([u(3) * 5 + 1], -1.5, 2.0, _line),
    stats.cauchy: ([], -1.5, 2.0, _line),
    stats.laplace: ([], 0.3, 2.0, _line),
    stats.logistic: ([], -1.5, 2.0, _line),
    stats.expon: ([], 0.7, 2.0, _negative),
    stats.gamma: ([u(3) * 3 + 0.5], 0.7, 2.0, _negative),
    stats.chi2: ([u(3) * 3 + 1.5], 0.7, 2.0, _negative),
    stats.weibull_min: ([u(3) * 3 + 0.5], 0.7, 2.0, _negative),
    stats.pareto: ([u(3) * 3 + 0.5], 1.7, 3.0, _negative),
    stats.lognorm: ([u(3) + 0.4], 0.7, 2.0, _negative),
    stats.uniform: ([], 0.3, 0.6, np.array([-2.0, 4.0])),
    stats.beta: ([u(3) * 3 + 0.5, u(3) * 2 + 0.5], 0.4, 0.6, np.array([-2.0, 4.0])),
}
for family, (shapes, low, high, outside) in _families.items():
    for name in _functions:
        SAMPLES[getattr(family, name)] = _points(shapes, low, high)
        if not name.startswith("log"):  # the slope of minus infinity is no difference: see ``test_stats``
            means = (float(np.mean(s)) for s in shapes)
            SAMPLES[getattr(family, name)].append(call(outside, *means, 0.1, 1.3))
    for name in _quantiles:
        SAMPLES[getattr(family, name)] = [
            call(u(3), *shapes),
            call(0.4, *(float(np.mean(s)) for s in shapes)),
            call(u(2, 1), *shapes, n(3), 1.3),
            call(u(3), *shapes, scale=u(2, 1), loc=0.3),
        ]

# --- counts ----------------------------------------------------------------------------------------------------------
counts = np.array([1, 2, 4])
beyond = np.array([0, 5, 9, -1])
_parameters: dict[Any, tuple[list[list[Any]], str]] = {
    stats.poisson: ([[u(2, 1) * 5], [2.4]], "pmf logpmf cdf sf logcdf logsf"),
    stats.binom: ([[6, u(2, 1)], [5, 0.3]], "pmf logpmf cdf sf"),
    stats.bernoulli: ([[u(2, 1)], [0.4]], "pmf logpmf"),
    stats.geom: ([[u(2, 1)], [0.4]], "pmf logpmf cdf"),
    stats.nbinom: ([[u(3) * 5, u(2, 1)], [5.5, 0.4]], "pmf logpmf cdf"),
}
for family, ((wide, plain), names) in _parameters.items():
    for name in names.split():
        inside = np.array([0, 1, 1]) if family is stats.bernoulli else counts
        SAMPLES[getattr(family, name)] = [
            call(inside, *wide),
            call(1, *plain),
            call(inside, *plain, loc=0),
            call(inside + 2, *plain, 2),
        ]
        if not name.startswith("log"):
            SAMPLES[getattr(family, name)].append(call(beyond, *plain))

# --- vectors ---------------------------------------------------------------------------------------------------------
# The proportions of a point add up to one: points are given without the last one, so that the others may move freely.
_normal = [
    call(n(3), n(3), u(3) + 0.5),
    call(n(4, 3), n(3), draws.spd(3)),
    call(n(3), n(3), 1.7),
    call(n(2, 2, 3), mean=n(3), cov=u(3) + 0.5),
    call(n(4), 0.3, 1.7),
    call(0.4),
    call(n(3)),
    call(n(2, 3), n(3), u(3) + 0.5, allow_singular=True),
]
_dirichlet = [
    call(np.array([0.2, 0.5]), u(3) * 3 + 1),
    call(np.array([[0.2, 0.3], [0.5, 0.35]]), u(3) * 3 + 1),
]
SAMPLES |= {
    stats.multivariate_normal.logpdf: _normal,
    stats.multivariate_normal.pdf: _normal,
    stats.dirichlet.logpdf: _dirichlet,
    stats.dirichlet.pdf: _dirichlet,
    gaussian.centred: [call(n(4, 3), n(3), 1.0), call(n(3), None, np.eye(3)), call(n(3), 0.3, 1.0)],
    gaussian.uncentred_points: [call(n(6, 2), n(2, 3, 2)), call(n(1, 1), 0.3)],
    gaussian.uncentred_mean: [call(n(6, 2), n(2)), call(n(3, 1), 0.3)],
    gaussian.covariance_matrix: [call(1.7, n(4, 3)), call(u(3), n(4, 3)), call(n(3, 3), n(4, 3)), call(1.7, n(4, 1))],
    gaussian.uncovariance: [call(n(3, 3), 1.7), call(n(3, 3), u(3)), call(n(3, 3), n(3, 3)), call(n(1, 1), 1.7)],
    gaussian.proportions: [call(n(2), u(3)), call(n(3, 2), u(3)), call(n(2, 2), u(3))],
    gaussian.unproportions: [call(n(1, 3), n(2), u(3)), call(n(2, 3), n(3, 2), u(3)), call(n(2, 3), n(2, 2), u(3))],
    gaussian.proportions_slope: [call(n(2), n(2), u(3)), call(n(3, 2), n(3, 2), u(3)), call(n(2, 2), n(2, 2), u(3))],
}

ANALYTIC: set[Callable[..., Any]] = set()
