"""Fourier transforms: lengths that cut, pad and are odd, axes, scales, real and complex arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(40)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for f in (np.fft.fft, np.fft.ifft):
    SAMPLES[f] = [
        call(n(5)),
        call(c(4)),
        call(c(4), 6),
        call(n(5), 3),
        call(n(4, 3), axis=0),
        call(c(3, 2), 5, 0, "ortho"),
        call(n(2, 4), n=3, norm="forward"),
        call(n(2, 4), None, -2, "backward"),
        call(n(1)),
    ]
for f in (np.fft.rfft, np.fft.ihfft):
    SAMPLES[f] = [
        call(n(5)),
        call(n(4)),
        call(n(1)),
        call(n(2)),
        call(n(4), 7),
        call(n(6), 4),
        call(n(4, 3), None, 0),
        call(n(3, 2), 5, 0, "ortho"),
        call(n(2, 5), n=4, norm="forward"),
        call(n(2, 4), axis=-2, norm="backward"),
    ]
for f in (np.fft.irfft, np.fft.hfft):
    SAMPLES[f] = [
        call(c(4)),
        call(c(2)),
        call(n(4)),
        call(c(4), 7),
        call(c(4), 5),
        call(c(4), 4),
        call(c(3), 8),
        call(c(3), 1),
        call(c(4, 2), None, 0),
        call(c(3, 2), 5, 0, "ortho"),
        call(c(2, 5), n=6, norm="forward"),
        call(n(2, 3), 3, norm="backward"),
    ]
for f in (np.fft.fftn, np.fft.ifftn):
    SAMPLES[f] = [
        call(c(3, 4)),
        call(n(2, 3, 4), axes=(0, -1)),
        call(n(3, 4), (2, 6), (0, 1)),
        call(c(3, 4), (5, -1), (1, 0), "ortho"),
        call(n(4, 2), axes=(0, 0)),
        call(c(4, 2), (3, 5), (0, 0)),
        call(n(4, 2), s=(5, 3), axes=(0, 0), norm="forward"),
        call(n(3), norm="backward"),
    ]
for f in (np.fft.fft2, np.fft.ifft2):
    SAMPLES[f] = [
        call(c(3, 4)),
        call(n(2, 3, 4)),
        call(n(2, 3, 4), (4, 2)),
        call(c(3, 2, 4), (2, 5), (1, 0), "ortho"),
        call(n(3, 4), s=(4, 3), axes=(0, 1), norm="forward"),
    ]
_real = [
    call(n(3, 4)),
    call(n(2, 3, 5), axes=(0, 1)),
    call(n(3, 4), (5, 3), (0, 1)),
    call(n(3, 4), (2, -1), (1, 0), "ortho"),
    call(n(5), norm="forward"),
    call(n(4, 2), axes=(0, 0)),
    call(n(4, 2), s=(5, 3), axes=(0, 0), norm="backward"),
    call(n(3, 2, 2), axes=(1, 0, 0)),
]
SAMPLES[np.fft.rfftn] = _real
SAMPLES[np.fft.irfftn] = [
    call(c(3, 4)),
    call(c(2, 3, 5), axes=(0, 1)),
    call(c(3, 4), (5, 3), (0, 1)),
    call(c(3, 4), (2, -1), (1, 0), "ortho"),
    call(n(5), norm="forward"),
    call(c(4, 2), axes=(0, 0)),
    call(c(4, 2), s=(5, 3), axes=(0, 0), norm="backward"),
    call(c(3, 2, 2), axes=(1, 0, 0)),
    call(c(3, 2), s=(3, 7, 4), axes=(0, 0, 1)),
]
SAMPLES |= {
    np.fft.rfft2: [call(n(3, 4)), call(n(2, 3, 4), (4, 3), (0, 2), "ortho"), call(n(3, 5), s=(2, 7))],
    np.fft.irfft2: [call(c(3, 4)), call(c(2, 3, 4), (4, 3), (0, 2), "ortho"), call(c(3, 5), s=(2, 7))],
    np.fft.fftshift: [call(n(5)), call(c(4)), call(n(3, 4)), call(n(3, 4), 0), call(n(3, 5), axes=(1, -2))],
    np.fft.ifftshift: [call(n(5)), call(c(4)), call(n(3, 4)), call(n(3, 4), 0), call(n(3, 5), axes=(1, -2))],
    np.fft.fftfreq: [call(5, 0.7), call(4, d=1.3), call(3)],
    np.fft.rfftfreq: [call(5, 0.7), call(4, d=1.3), call(6, np.asarray(0.4))],
    runtime.fitted: [call(n(3), n(5)), call(n(5), n(3)), call(n(2, 4), n(3, 2)), call(c(4), n(3)), call(n(3), n(3))],
    runtime.weighted_bins: [call(c(3), 0.5, 5), call(c(3), 2.0, 4), call(c(3, 2), 0.5, 4, 0), call(c(1), 2.0, 1)],
}
for f, transpose in (
    (np.fft.fftn, runtime.unfftn),
    (np.fft.ifftn, runtime.unifftn),
    (np.fft.rfftn, runtime.unrfftn),
    (np.fft.irfftn, runtime.unirfftn),
):
    SAMPLES[transpose] = []
    for sample in SAMPLES[f]:
        y = f(*sample.args, **sample.kwargs)
        seed = c(*y.shape) if np.iscomplexobj(y) else n(*y.shape)
        SAMPLES[transpose].append(Call((seed, *sample.args), sample.kwargs))

ANALYTIC: set[Callable[..., Any]] = set()
