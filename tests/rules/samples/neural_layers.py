"""Layers of neural networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime import neural_layers
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(73)
n, u = draws.n, draws.u
places = np.array([[0, 3, 3], [2, 1, 5]])

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    neural_layers.convolve: [
        call(n(2, 3, 5), n(4, 3, 2), (1,), (0,), (1,), 1),
        call(n(2, 4, 5), n(4, 2, 2), (2,), (1,), (2,), 2),
        call(n(1, 2, 4, 5), n(2, 1, 3, 2), (1, 2), (1, 0), (1, 1), 2),
    ],
    neural_layers.convolve_biased: [
        call(n(2, 3, 5), n(4, 3, 2), n(4), (1,), (0,), (1,), 1, (1, 4, 1)),
        call(n(1, 2, 4, 5), n(2, 1, 3, 2), n(2), (1, 2), (1, 0), (1, 1), 2, (1, 2, 1, 1)),
    ],
    neural_layers.unconvolve_input: [
        call(n(2, 4, 4), n(4, 3, 2), (2, 3, 5), (1,), (0,), (1,), 1),
        call(n(2, 4, 3), n(4, 2, 2), (2, 4, 5), (2,), (1,), (2,), 2),
    ],
    neural_layers.unconvolve_weight: [
        call(n(2, 4, 4), n(2, 3, 5), (4, 3, 2), (1,), (0,), (1,), 1),
        call(n(2, 4, 3), n(2, 4, 5), (4, 2, 2), (2,), (1,), (2,), 2),
    ],
    neural_layers.columns: [
        call(n(2, 3, 5), (2,), (1,), (0,), (1,)),
        call(n(1, 2, 4, 5), (2, 3), (2, 1), (1, 0), (1, 2)),
    ],
    neural_layers.uncolumns: [
        call(n(2, 3, 2, 4), (5,), (2,), (1,), (0,), (1,)),
        call(n(1, 2, 2, 3, 3, 1), (4, 5), (2, 3), (2, 1), (1, 0), (1, 2)),
    ],
    neural_layers.take_places: [call(n(2, 3, 2), places, 2), call(n(2, 6), places, 1)],
    neural_layers.untake_places: [call(n(2, 3), places, (2, 6), 1), call(n(4, 2, 3), places, (4, 3, 2), 2)],
    neural_layers.weighted_sums: [call(n(2, 3, 4), (n(5, 3), n(2, 4))), call(n(2, 3), (n(5, 3),))],
    neural_layers.windowed_mean: [
        call(n(1, 2, 5), np.array([2.0, 2.0]), (2,), (2,), (0,)),
        call(n(1, 2, 4, 3), np.full((3, 2), 4.0), (2, 2), (2, 2), (1, 0)),
    ],
    neural_layers.unwindowed_mean: [
        call(n(1, 2, 2), np.array([2.0, 2.0]), (5,), (2,), (2,), (0,)),
        call(n(1, 2, 3, 2), np.full((3, 2), 4.0), (4, 3), (2, 2), (2, 2), (1, 0)),
    ],
    neural_layers.pad_constant: [
        call(n(2, 3), ((0, 0), (1, 2))),
        call(n(3, 3), ((-1, 0), (1, -1)), 0.5),
        call(n(2, 2), ((1, 0), (0, 0)), value=2.0),
    ],
    neural_layers.normalize: [
        call(n(2, 3, 2), u(3), n(3), (2, 3, 2), (0, 2), (1, 3, 1), 1e-5),
        call(n(2, 4), u(4), n(4), (2, 2, 2), (2,), (1, 4), 1e-5),
        call(n(2, 4), u(4), None, (2, 4), (1,), (4,), 1e-5),
        call(n(2, 4), None, n(4), (2, 4), (1,), (4,), 1e-5),
        call(n(2, 4), None, None, (2, 4), (1,), (4,), 1e-5),
    ],
    neural_layers.rescale: [
        call(n(2, 3, 2), u(3), n(3), n(3), u(3), (1, 3, 1), 1e-5),
        call(n(2, 3, 2), None, None, n(3), u(3), (1, 3, 1), 1e-5),
        call(n(2, 3, 2), u(3), None, n(3), u(3), (1, 3, 1), 1e-5),
    ],
}
ANALYTIC: set[Callable[..., Any]] = set()
