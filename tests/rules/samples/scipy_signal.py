"""Convolutions in every mode, boundary and order of sizes; filters with and without a state, forth and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal

from srcgrad.runtime.scipy import convolution, filters
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(45)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for f in (signal.convolve, signal.correlate):
    SAMPLES[f] = [
        call(n(5), n(3)),
        call(n(2), n(4), "same"),
        call(n(4), n(2), "same", "direct"),
        call(n(5), n(2), "valid", "fft"),
        call(n(2), n(5), mode="valid"),
        call(n(3, 4), n(2, 3)),
        call(n(3, 4), n(2, 5), "same"),
        call(n(3, 4), n(2, 3), mode="valid", method="direct"),
        call(n(2, 3), n(3, 4), "valid"),
        call(c(4), c(2)),
        call(c(2), c(4), "valid"),
        call(n(4), c(2), "same"),
        call(c(3, 2), n(2, 2), "full", "fft"),
        call(n(), n()),
    ]
for f in (signal.fftconvolve, signal.oaconvolve):
    SAMPLES[f] = [
        call(n(5), n(3)),
        call(n(2), n(4), "same"),
        call(n(5), n(2), "valid"),
        call(n(2, 4), n(2, 3), "same", 1),
        call(n(2, 4), n(1, 3), axes=-1),
        call(n(1, 4), n(3, 2), "full", (1,)),
        call(n(3, 4), n(2, 3), mode="valid", axes=(0, 1)),
        call(n(2, 3), n(3, 4), "valid"),
        call(n(12), n(2)),
        call(c(4), n(2)),
        call(n(3), c(3), "same"),
        call(n(), n()),
    ]
for f in (signal.convolve2d, signal.correlate2d):
    SAMPLES[f] = [
        call(n(3, 4), n(2, 3)),
        call(n(3, 4), n(2, 3), "valid"),
        call(n(2, 2), n(3, 4), "valid"),
        call(c(2, 2), c(3, 3), mode="valid"),
        call(c(3, 2), c(2, 2), "same", "symm"),
        call(n(3, 2), c(2, 3), mode="same", boundary="wrap"),
        call(n(3, 2), n(2, 3), "full", "fill", 0.7),
        call(n(3, 2), n(2, 4), mode="same", fillvalue=0.7),
    ]
    for boundary in ("fill", "wrap", "symm"):
        SAMPLES[f] += [call(n(2, 3), n(5, 4), "full", boundary), call(n(3, 2), n(4, 3), "same", boundary)]

for name in ("convolve", "correlate", "fftconvolve", "convolve2d", "correlate2d"):
    f = getattr(signal, name)
    for side in ("first", "second"):
        transpose = getattr(convolution, f"un{name}_{side}")
        SAMPLES[transpose] = []
        for sample in SAMPLES[f]:
            y = f(*sample.args, **sample.kwargs)
            seed = c(*np.shape(y)) if np.iscomplexobj(y) else n(*np.shape(y))
            SAMPLES[transpose].append(Call((seed, *sample.args), sample.kwargs))

b, a = np.array([0.5, 0.3, -0.2]), np.array([1.3, -0.6, 0.2, 0.1])
sos = np.array([[0.4, 0.2, 0.1, 1.0, -0.5, 0.2], [0.7, -0.3, 0.0, 1.0, 0.3, 0.0]])

SAMPLES |= {
    signal.lfilter: [
        call(b, a, n(7)),
        call(n(2), 1.2, n(5)),
        call(0.7, a, n(4)),
        call(n(6), a[:2], n(3)),
        call(b, a, n(4, 3), 0),
        call(b, a, n(2, 5), axis=-1),
        call(b, a, c(5)),
        call(c(2), a + 0.2j, n(5)),
        call(b, a, n(6), zi=n(3)),
        call(b, a, n(2), zi=n(3)),
        call(n(5), a[:2], n(3), -1, n(4)),
        call(b, a, n(5, 2), axis=0, zi=n(3, 2)),
        call(b, a, n(2, 5), axis=1, zi=n(1, 3)),
        call(n(3), np.array([0.8]), n(4), zi=n(2)),
        call(b, a, c(5), zi=c(3)),
        call(b, a + 0.2j, n(5), zi=n(3)),
    ],
    filters.lags: [
        call(n(5), n(5), n(3)),
        call(n(7), n(4), n(4)),
        call(n(3), n(3), n(5)),
        call(n(2, 5), n(2, 4), n(3), 1),
        call(n(5, 2), n(5, 2), 0.7, axis=0),
        call(c(5), c(5), n(3)),
        call(c(5), n(4), c(3)),
    ],
    filters.with_state: [call((n(5), n(3)), n(3))],
    filters.state_input: [
        call(n(5), n(3)),
        call(n(2, 5), n(1, 3), 1),
        call(n(5, 2), n(3, 2), axis=0),
        call(c(5), n(2)),
    ],
    filters.unstate_input: [
        call(n(3), n(5), n(3)),
        call(n(1, 3), n(2, 5), n(1, 3), 1),
        call(n(3, 2), n(5, 2), n(3, 2), axis=0),
    ],
    signal.sosfilt: [call(sos, n(6)), call(sos, n(4, 2), 0), call(sos, c(5), zi=None)],
    signal.filtfilt: [
        call(b, a, n(16)),
        call(b, a, n(8, 2), 0, "even", 3),
        call(b, a, n(2, 6), padtype="constant", padlen=2, method="pad", irlen=None),
        call(b, a, n(6), padtype=None),
        call(b, a, n(6), padlen=5),
        call(b, a, c(6), padlen=0),
    ],
    signal.sosfiltfilt: [
        call(sos, n(16)),
        call(sos, n(8, 2), 0, "even", 3),
        call(sos, n(6), padtype="constant", padlen=2),
        call(sos, n(6), padtype=None),
    ],
    signal.savgol_filter: [
        call(n(9), 5, 2),
        call(n(7), 4, 2),
        call(n(5), 5, 2),
        call(n(4), 4, 1),
        call(n(7, 2), 5, 3, 1, 0.5, 0),
        call(n(2, 6), 3, 1, deriv=1, axis=-1, mode="nearest"),
        call(n(6), 5, 2, mode="constant", cval=0.7),
        call(n(6), 4, 2, mode="wrap"),
    ],
    signal.detrend: [
        call(n(6)),
        call(n(5, 2), 0, "constant"),
        call(n(2, 7), -1, "linear", 3),
        call(n(8), type="linear", bp=[2, 5]),
        call(c(5)),
    ],
    signal.hilbert: [call(n(6)), call(n(5)), call(n(5), 8), call(n(6), 4), call(n(4, 2), N=None, axis=0), call(n(1))],
}
for name, place in (("filtfilt", 2), ("sosfiltfilt", 1), ("savgol_filter", 0), ("hilbert", 0)):
    f, transpose = getattr(signal, name), getattr(filters, f"un{name}")
    SAMPLES[transpose] = []
    for sample in SAMPLES[f]:
        y = f(*sample.args, **sample.kwargs)
        seed = c(*y.shape) if np.iscomplexobj(y) else n(*y.shape)
        kwargs = {key: value for key, value in sample.kwargs.items() if key not in ("method", "irlen", "cval")}
        SAMPLES[transpose].append(Call((seed, *sample.args), kwargs))

ANALYTIC: set[Callable[..., Any]] = set()
