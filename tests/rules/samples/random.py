"""Draws: the test draws the same numbers at every evaluation, by a fixed seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.rules.samples.calls import Call, Draws, call

draws = Draws(44)
u, n = draws.u, draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for name in "normal laplace logistic gumbel".split():
    SAMPLES[getattr(np.random, name)] = [
        call(n(2, 3), u(3)),
        call(0.3, 0.8),
        call(0.3, u(3), 3),
        call(n(3), u(2, 1), size=(2, 3)),
        call(loc=n(3), scale=1.3),
        call(0.3, 0.8, size=(2, 2)),
    ]
for name in "exponential rayleigh".split():
    SAMPLES[getattr(np.random, name)] = [call(u(3)), call(0.8), call(0.8, 3), call(scale=u(3), size=(2, 3))]
for name in "weibull pareto power".split():
    SAMPLES[getattr(np.random, name)] = [call(u(3) + 1), call(1.8), call(1.8, 3), call(u(3) + 1, size=(2, 3))]
SAMPLES |= {
    np.random.uniform: [
        call(u(2, 3), u(3) + 1),
        call(0.3, 1.8),
        call(0.3, u(3) + 1, 3),
        call(low=u(2, 1), size=(2, 3)),
    ],
    np.random.lognormal: [call(n(2, 3), u(3)), call(0.3, 0.8), call(0.3, u(3), 3), call(mean=n(3), size=(2, 3))],
}

ANALYTIC: set[Callable[..., Any]] = set()
