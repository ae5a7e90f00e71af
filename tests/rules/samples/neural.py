"""Activations of neural networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime import neural
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(71)
u, n, distinct = draws.u, draws.n, draws.distinct
wide = np.array([-7.3, -3.4, -1.2, -0.3, 0.4, 1.6, 2.8, 5.5, 9.1])

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    neural.gate: [call(n(3), np.array([True, False, True])), call(0.4, True)],
    neural.relu: [call(wide), call(0.4), call(np.array([[-0.2], [0.7]]))],
    neural.leaky_relu: [call(wide), call(-0.4, 0.2), call(wide, negative_slope=0.1)],
    neural.prelu: [call(wide, 0.3), call(wide[:4].reshape(2, 2), np.array([0.1, 0.4])), call(-0.4, 0.3)],
    neural.threshold: [call(wide, 1.0, 0.3), call(0.4, 0.1, -2.0)],
    neural.hardtanh: [call(wide), call(wide, -2.0, 4.0), call(0.3), call(wide, low=0.0, high=6.0)],
    neural.hardsigmoid: [call(wide), call(0.3)],
    neural.hardswish: [call(wide), call(0.3)],
    neural.hardshrink: [call(wide), call(wide, 2.0), call(0.3, width=0.2)],
    neural.softshrink: [call(wide), call(wide, 2.0), call(0.3, width=0.2)],
    neural.sigmoid: [call(wide), call(0.3), call(np.array([-40.0, 40.0]))],
    neural.log_sigmoid: [call(wide), call(0.3), call(np.array([-40.0, 40.0]))],
    neural.softplus: [call(wide), call(0.3, 2.0), call(wide, beta=4.0, bound=6.0)],
    neural.silu: [call(wide), call(0.3)],
    neural.mish: [call(wide), call(0.3)],
    neural.elu: [call(wide), call(-0.3, 1.2), call(wide, 1.5, 1.1, 0.7), call(wide, alpha=2.0, scale=0.5)],
    neural.elu_slope: [call(wide), call(-0.3, 1.2, 1.1, 0.9, 2), call(wide, 1.5, 1.1, 0.7, n=1)],
    neural.normal_cdf: [call(wide), call(0.3)],
    neural.gelu: [call(wide), call(0.3), call(wide, "tanh"), call(wide, approximate="none")],
    neural.softmax: [call(n(2, 3), 1), call(n(2, 3), axis=0), call(n(3), -1)],
    neural.log_softmax: [call(n(2, 3), 1), call(n(2, 3), axis=0), call(n(3), -1)],
    neural.glu: [call(n(2, 4)), call(n(4, 3), 0)],
}
ANALYTIC: set[Callable[..., Any]] = {neural.sigmoid, neural.silu}
