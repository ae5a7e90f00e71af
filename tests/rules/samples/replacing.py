"""Elements replaced by others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(77)
c, n = draws.c, draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    runtime.replaced_at: [
        call(n(4), np.array([0, 2]), n(2)),
        call(n(4), np.array([1, 3, 1]), n(3)),
        call(n(2, 3), np.array([[True, False, True], [False, True, False]]), n(3)),
        call(n(2, 3), (slice(None), 1), 0.7),
        call(n(3), np.array([0, 2]), n(1)),
        call(c(3), np.array([0, 2]), c(2)),
    ],
}

ANALYTIC: set[Callable[..., Any]] = set()
