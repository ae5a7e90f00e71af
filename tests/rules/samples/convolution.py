"""Convolution and correlation of vectors in every mode and order of lengths; windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(41)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.convolve: [
        call(n(4), n(3)),
        call(n(2), n(5), "same"),
        call(n(5), n(4), "same"),
        call(n(4), n(4), mode="same"),
        call(n(5), n(2), "valid"),
        call(n(2), n(5), "valid"),
        call(c(4), c(3)),
        call(c(4), n(3), mode="same"),
        call(n(3), c(4), "valid"),
        call(n(1), n(3)),
        call(0.7, n(3)),
        call(n(2), n(), "same"),
    ],
    np.correlate: [
        call(n(4), n(3)),
        call(n(3), n(5)),
        call(n(4), n(3), "full"),
        call(n(2), n(5), "full"),
        call(n(5), n(3), "same"),
        call(n(5), n(4), "same"),
        call(n(4), n(5), "same"),
        call(n(2), n(6), mode="same"),
        call(n(3), n(6), mode="same"),
        call(c(4), c(3)),
        call(c(3), c(5), "valid"),
        call(c(4), c(3), "full"),
        call(n(4), c(5), "same"),
        call(c(4), n(3), "same"),
        call(n(1), c(1)),
    ],
    np.kaiser: [call(6, 1.7), call(5, beta=0.4), call(1, 0.7), call(4, np.asarray(3.2))],
}
for function, transposes in (
    (np.convolve, (runtime.unconvolve,)),
    (np.correlate, (runtime.uncorrelate_left, runtime.uncorrelate_right)),
):
    for transpose in transposes:
        SAMPLES[transpose] = []
        for sample in SAMPLES[function]:
            y = function(*sample.args, **sample.kwargs)
            seed = c(*y.shape) if np.iscomplexobj(y) else n(*y.shape)
            SAMPLES[transpose].append(Call((seed, *sample.args), sample.kwargs))

ANALYTIC: set[Callable[..., Any]] = {np.convolve}
