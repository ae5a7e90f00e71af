"""Functions that repeat elements: tiles, repetitions, padding in every mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(7)
n, c, distinct = draws.n, draws.c, draws.distinct

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_modes: list[Call] = []
for _mode in ("edge", "reflect", "symmetric", "wrap", "mean", "linear_ramp", "empty"):
    _modes += [call(n(3), 2, _mode), call(n(3, 4), ((1, 2), (3, 0)), mode=_mode), call(n(2, 3), (0, 2), _mode)]
for _mode in ("maximum", "minimum", "median"):
    _modes += [
        call(distinct(3), 2, _mode),
        call(distinct(3, 4), ((1, 2), (3, 1)), mode=_mode),
        call(distinct(4), (2, 1), _mode, stat_length=2),
        call(distinct(4, 3), 1, mode=_mode, stat_length=((2, 3), (1, 2))),
        call(distinct(4), (2, 0), mode=_mode, stat_length=((3, 1),)),
    ]
for _mode in ("reflect", "symmetric"):
    _modes += [
        call(n(3), (5, 8), _mode),
        call(n(3), (5, 8), _mode, reflect_type="odd"),
        call(n(3, 4), ((2, 1), (9, 3)), _mode, reflect_type="odd"),
        call(n(2), (0, 5), _mode, reflect_type="odd"),
        call(n(1, 3), 2, _mode),
        call(n(1), 3, _mode, reflect_type="odd"),
        call(c(3), 2, _mode, reflect_type="odd"),
    ]
SAMPLES |= {
    np.tile: [
        call(n(3), 2),
        call(n(2, 3), (2, 1, 2)),
        call(n(2, 3), 3),
        call(0.3, 4),
        call(n(2, 3), (2,)),
        call(n(2), np.array([2, 3])),
        call(n(2), 0),
        call(c(2), 2),
    ],
    np.repeat: [
        call(n(3), 2),
        call(n(2, 3), 2, axis=1),
        call(n(3), [1, 0, 2]),
        call(n(2, 3), np.array([2, 1]), 0),
        call(n(2, 3), [1, 2, 3], -1),
        call(n(2, 3), [0, 2], 0),
        call(n(2, 2), [1, 0, 2, 1]),
        call(0.3, 3),
        call(n(3), 0),
        call(n(3), [0, 0, 0]),
        call(c(3), [1, 2, 1]),
    ],
    np.resize: [call(n(2, 3), (3, 4)), call(n(2, 3), 4), call(n(3), (2, 3)), call(0.3, new_shape=3), call(c(3), 5)],
    np.pad: [
        call(n(3), 2),
        call(n(2, 3), ((1, 2), (0, 1))),
        call(n(2, 3), (1, 2), constant_values=1.5),
        call(n(3), 1, "constant"),
        call(n(3), 1, "constant", constant_values=0.7),
        call(n(2, 3), ((1, 2), (2, 1)), constant_values=n(2, 2)),
        call(n(2, 3), 1, constant_values=n(2)),
        call(n(2, 3), 1, constant_values=n(2, 1)),
        call(n(2, 3), {0: 1, -1: (2, 0)}),
        call(n(2, 3), {-1: 2}, "edge"),
        call(n(3), [2], "edge"),
        call(n(3), 2, "linear_ramp", end_values=0.7),
        call(n(2, 3), ((1, 2), (2, 1)), "linear_ramp", end_values=n(2, 2)),
        call(n(4), 2, "mean", stat_length=3),
        call(n(4, 3), ((2, 1), (1, 2)), mode="mean", stat_length=(2, 9)),
        call(n(3), (7, 4), "wrap"),
        call(n(0, 3), ((1, 1), (0, 0))),
        call(n(), 0),
        call(c(3), 2, "edge"),
        call(c(3), 2, "mean"),
        call(c(3), 1, constant_values=c()),
        *_modes,
    ],
    sliding_window_view: [
        call(n(5), 3),
        call(n(4, 5), (2, 3)),
        call(n(4, 5), 2, axis=1),
        call(n(4, 5), (2, 2), (-1, 0), writeable=False),
        call(n(5), (2, 2), (0, 0)),
        call(c(4), 2),
    ],
    runtime.unwindow: [call(n(3, 3), n(5), 3), call(n(4, 4, 2), n(4, 5), 2, 1), call(n(3, 2, 2), n(5), (2, 2), (0, 0))],
    runtime.untile: [call(n(6), n(3), 2), call(n(2, 2, 6), n(2, 3), (2, 1, 2)), call(c(6), c(3), 2)],
    runtime.unrepeat: [
        call(n(6), n(3), 2),
        call(n(2, 6), n(2, 3), 2, 1),
        call(n(3), n(3), [1, 0, 2]),
        call(n(2, 6), n(2, 3), [1, 2, 3], 1),
    ],
    runtime.unresize: [call(n(3, 4), n(2, 3)), call(n(4), n(2, 3)), call(n(3), 0.3)],
}
for _function in (runtime.repad, runtime.repad_chosen):
    SAMPLES[_function] = [
        call(n(3), n(3), 2),
        call(n(2, 3), n(2, 3), ((1, 2), (2, 0)), "edge"),
        call(n(3), n(3), 2, "mean", 2),
        call(n(3), n(3), 4, "reflect", None, "odd"),
        call(n(2, 3), n(2, 3), 2, "linear_ramp"),
        call(c(3), c(3), 2, "wrap"),
    ]
for _function in (runtime.unpad, runtime.unpad_chosen):
    SAMPLES[_function] = [
        call(n(7), n(3), 2),
        call(n(5, 5), n(2, 3), ((1, 2), (2, 0)), "edge"),
        call(n(7), n(3), 2, "mean", 2),
        call(n(11), n(3), 4, "reflect", None, "odd"),
        call(n(6, 7), n(2, 3), 2, "linear_ramp"),
        call(c(7), c(3), 2, "wrap"),
    ]
for _mode in ("maximum", "minimum", "median"):
    SAMPLES[runtime.repad_chosen] += [
        call(n(4), distinct(4), 2, _mode),
        call(n(3, 4), distinct(3, 4), ((1, 2), (2, 1)), _mode, 2),
    ]
    SAMPLES[runtime.unpad_chosen] += [
        call(n(8), distinct(4), 2, _mode),
        call(n(6, 7), distinct(3, 4), ((1, 2), (2, 1)), _mode, 2),
    ]
SAMPLES[runtime.repad_values] = [
    call(0.3, n(3), 2),
    call(n(2, 2), n(2, 3), ((1, 2), (2, 1))),
    call(n(2), n(2, 3), ((1, 2), (2, 1)), "linear_ramp"),
]
SAMPLES[runtime.unpad_values] = [
    call(n(7), n(3), 0.3, 2),
    call(n(5, 6), n(2, 3), n(2, 2), ((1, 2), (2, 1))),
    call(n(5, 6), n(2, 3), n(2), ((1, 2), (2, 1)), "linear_ramp"),
    call(n(7), n(3), 0.3, 2, "edge"),
]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.tile}
