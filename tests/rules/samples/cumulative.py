"""Running sums and products, differences, sums over intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(12)
n, c, u = draws.n, draws.c, draws.u
nan = np.nan

_runs = [call(n(4)), call(n(2, 3)), call(n(2, 3), axis=1), call(n(2, 3), 0), call(n(2, 3), -1, np.float64), call(c(4))]
_zeros = np.array([2.0, 0.0, 3.0, 0.0, 1.5])
_missing = np.array([[1.3, nan, -0.4], [nan, 2.2, 0.7]])

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.cumsum: [*_runs, call(n(3), dtype=np.complex128)],
    np.cumprod: [*_runs, call(_zeros, 0), call(n(70)), call(n(70, 2), 0)],
    np.nancumsum: [*_runs, call(_missing), call(_missing, axis=0)],
    np.nancumprod: [*_runs, call(_missing), call(_missing, axis=0), call(np.array([nan, 0.0, 2.0, nan]))],
    runtime.uncumsum: [call(n(6), n(2, 3)), call(n(2, 3), n(2, 3), 1), call(n(4), n(4), 0), call(c(4), c(4))],
    runtime.without_initial: [call(n(4), n(3)), call(n(2, 4), n(2, 3), 1), call(n(3), n(3), 0)],
    runtime.with_initial: [call(n(3), n(4)), call(n(2, 3), n(2, 4), 1), call(n(3), n(3), 0)],
    runtime.shifted: [call(n(3), 0), call(n(2, 3), 1, 0.0, -1), call(n(2, 3), 0, 2.0)],
    runtime.running_product: [
        call(n(4)),
        call(n(2, 3), 1),
        call(n(2, 3), None, True),
        call(n(2, 3, 2), (0, 2), True),
        call(n(2, 3), ()),
        call(c(3)),
    ],
    runtime.others: [
        call(n(4)),
        call(n(2, 3), 1),
        call(n(2, 3, 2), (0, 2)),
        call(np.array([2.0, 0.0, 3.0])),
        call(np.array([2.0, 0.0, 3.0, 0.0])),
        call(n(2, 3), ()),
        call(c(3)),
    ],
    runtime.recurrence: [
        call(n(4), n(4)),
        call(n(2, 3), n(2, 3), 1),
        call(n(2, 3), n(2, 3), None, True),
        call(n(3, 2), n(3, 2), 0, True),
        call(n(2, 3, 2), n(2, 3, 2), (0, 2), True),
        call(c(3), c(3)),
    ],
    np.diff: [
        call(n(4)),
        call(n(3, 4), axis=0),
        call(n(3, 4), 2),
        call(n(4), prepend=0.7),
        call(n(2, 3), 1, 0, n(1, 3)),
        call(n(2, 3), append=n(2, 2)),
        call(n(2, 3), 2, -1, n(2, 1), n()),
        call(n(2, 3), n=2, axis=0, prepend=n(2, 3), append=0.3),
        call(c(4), prepend=c(2)),
        call(n(2), 3),
        call(n(2, 3), 0, -1, n(2, 1), 0.4),
    ],
    runtime.differences: [call(n(4)), call(n(2, 3), 1, 0, n(1, 3), 0.4), call(n(4), append=n(2))],
    runtime.undiff: [call(n(3), n(4)), call(n(2, 4), n(4, 4), 2, 0), call(c(3), c(4)), call(n(0), n(2), 3)],
    runtime.undifferences: [call(n(3)), call(n(2, 4), 2, 0), call(n(2, 4), axis=1)],
    runtime.cut: [
        call(n(5), n(2), 1),
        call(n(3, 4), n(2, 4), 1, 0),
        call(n(3, 4), 0.3, 2, 0),
        call(n(4), 0.3, 0),
        call(n(4), n(2), 0, -1, 0),
    ],
    runtime.placed: [
        call(n(2), n(5), 1),
        call(n(2, 4), n(3, 4), 1, 0),
        call(n(), n(3, 4), 2, 0),
        call(n(2), n(4), 0, -1, 0),
    ],
    np.ediff1d: [
        call(n(4)),
        call(n(2, 3), to_begin=n(2)),
        call(n(4), n(2, 2)),
        call(n(3), to_end=0.3, to_begin=n(2)),
        call(n(1)),
        call(c(3), c(1)),
    ],
    runtime.unediff1d: [call(n(3), n(4)), call(n(6), n(2, 2), 2), call(n(0), n(1))],
    np.trapezoid: [
        call(n(4)),
        call(n(3, 4), axis=0),
        call(n(3, 4), dx=0.7),
        call(n(3, 4), n(4)),
        call(n(3, 4), n(3), axis=0),
        call(n(3, 4), x=n(3, 4), axis=-2),
        call(c(4), n(4)),
        call(c(4), dx=0.3),
    ],
    runtime.step_sizes: [call(n(4), n(2, 4)), call(n(2), n(2, 4), 0), call(n(3, 4), n(3, 4), 1), call(0.3, n(3, 4), 0)],
    runtime.unstep_sizes: [
        call(n(1, 3), n(4), n(2, 4)),
        call(n(1, 1), n(2), n(2, 4), 0),
        call(n(3, 3), n(3, 4), n(3, 4), 1),
        call(n(2, 1), 0.3, n(3, 4), 0),
    ],
    runtime.midpoints: [call(n(4)), call(n(3, 4), 0)],
    runtime.unmidpoints: [
        call(n(3), n(4)),
        call(n(2, 4), n(3, 4), 0),
        call(n(1), n(4)),
        call(n(2, 3), n(4)),
        call(n(1, 3), n(4, 3), 0),
    ],
    np.gradient: [
        call(n(4)),
        call(n(3, 4)),
        call(n(3, 4), axis=1),
        call(n(3, 4), axis=(0,), edge_order=2),
        call(n(4), 0.7),
        call(n(3, 4), 2, 3, edge_order=2),
        call(n(4), 0.7, edge_order=2),
        call(n(2, 4), np.array([0.1, 1.4, 3.1, 4.3]), axis=-1),
        call(n(5), np.array([0.1, 1.4, 3.1, 4.3, 6.0]), edge_order=2),
        call(n(2), np.array([0.1, 1.4])),
        call(c(4), 0.3),
        call(c(4), np.array([0.1, 1.4, 3.1, 4.3])),
    ],
    runtime.ungradient: [
        call(n(4), n(4), None, 1),
        call((n(3, 4), n(3, 4)), n(3, 4), None, 1),
        call(n(3, 4), n(3, 4), 1, 2),
        call((n(3, 4), n(3, 4)), n(3, 4), None, 1, 0.7),
        call(n(4), n(4), None, 2, 0.3),
    ],
    np.unwrap: [
        call(np.array([0.1, 3.0, 6.1, 0.4, 9.3])),
        call(np.array([[0.1, 3.0], [6.1, 0.4]]), axis=0),
        call(np.array([0.1, 3.0, 6.1, 1.4]), 2.0, period=4.0),
        call(np.array([0.1, 3.0, 6.1, 1.4]), discont=None, period=3.7),
    ],
}
if hasattr(np, "cumulative_sum"):
    for f in (np.cumulative_sum, np.cumulative_prod):
        SAMPLES[f] = [
            call(n(4)),
            call(n(2, 3), axis=1),
            call(n(2, 3), axis=0, include_initial=True),
            call(n(4), include_initial=True),
            call(n(4), axis=0, dtype=np.float64, include_initial=True),
            call(c(4)),
            call(np.array([2.0, 0.0, 3.0])),
        ]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = set()
