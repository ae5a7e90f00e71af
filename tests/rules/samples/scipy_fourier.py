"""Transforms of scipy.fft: Fourier along one and several axes, cosines and sines of every type, norm and end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft

from srcgrad.runtime.scipy import fourier
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(43)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for f in (fft.fft, fft.ifft):
    SAMPLES[f] = [call(n(5)), call(c(4), 6), call(n(5), 3, norm="forward"), call(c(3, 2), 5, 0, "ortho")]
for f in (fft.rfft, fft.ihfft):
    SAMPLES[f] = [call(n(5)), call(n(4)), call(n(4), 7), call(n(6), 4, norm="forward"), call(n(3, 2), 5, 0, "ortho")]
for f in (fft.irfft, fft.hfft):
    SAMPLES[f] = [call(c(4)), call(n(4)), call(c(4), 7), call(c(4), 3, norm="forward"), call(c(3, 2), 5, 0, "ortho")]
for f in (fft.fftn, fft.ifftn):
    SAMPLES[f] = [
        call(c(3, 4)),
        call(n(2, 3, 4), axes=(0, -1)),
        call(n(3, 4), (2, 6)),
        call(n(2, 3), 5, 0),
        call(n(2, 3, 4), (2, 6)),
        call(c(3, 4), (5, -1), (1, 0), "ortho"),
        call(n(3), norm="forward"),
    ]
for f in (fft.fft2, fft.ifft2):
    SAMPLES[f] = [call(c(3, 4)), call(n(2, 3, 4), (4, 2)), call(c(3, 2, 4), (2, 5), (1, 0), "ortho")]
for f in (fft.rfftn, fft.ihfftn):
    SAMPLES[f] = [
        call(n(3, 4)),
        call(n(2, 3, 5), axes=(0, 1)),
        call(n(2, 3, 4), (5, 3)),
        call(n(3, 4), (2, -1), (1, 0), "ortho"),
        call(n(2, 5), 4, 1, norm="forward"),
    ]
for f in (fft.irfftn, fft.hfftn):
    SAMPLES[f] = [
        call(c(3, 4)),
        call(c(2, 3, 5), axes=(0, 1)),
        call(c(2, 3, 4), (5, 3)),
        call(c(3, 4), (2, -1), (1, 0), "ortho"),
        call(n(2, 5), 4, 1, norm="forward"),
    ]
for f in (fft.rfft2, fft.ihfft2):
    SAMPLES[f] = [call(n(3, 4)), call(n(2, 3, 4), (4, 3), (0, 2), "ortho"), call(n(3, 5), s=(2, 7))]
for f in (fft.irfft2, fft.hfft2):
    SAMPLES[f] = [call(c(3, 4)), call(c(2, 3, 4), (4, 3), (0, 2), "ortho"), call(c(3, 5), s=(2, 7))]

for f in (fft.dct, fft.idct, fft.dst, fft.idst):
    SAMPLES[f] = [
        call(n(5)),
        call(c(4)),
        call(n(4, 2), 2, 6, 0, "forward", orthogonalize=True),
        call(c(4), 3, orthogonalize=True),
    ]
    for kind in (1, 2, 3, 4):
        SAMPLES[f] += [
            call(n(5), kind),
            call(n(2, 4), kind, 3, -1, "ortho"),
            call(n(4), kind, n=6, norm="forward"),
            call(n(4), kind, norm="ortho", orthogonalize=False),
            call(n(4), kind, norm="backward", orthogonalize=True),
        ]
for f in (fft.dctn, fft.idctn, fft.dstn, fft.idstn):
    SAMPLES[f] = [
        call(n(3, 4)),
        call(c(3, 4), 3, orthogonalize=True),
        call(n(3, 4), 2, (5, 2)),
        call(n(3, 4), axes=0),
        call(n(2, 3, 4), 1, (3, 5), (0, 2)),
        call(n(3, 4), 3, s=(2, -1), axes=(1, 0), norm="ortho"),
        call(n(3, 4), 1, norm="ortho", orthogonalize=False),
        call(n(3, 4), 2, norm="forward", orthogonalize=True),
    ]
SAMPLES |= {
    fft.fftshift: [call(n(5)), call(n(3, 4), 0), call(c(3, 5), axes=(1, -2))],
    fft.ifftshift: [call(n(5)), call(n(3, 4), 0), call(c(3, 5), axes=(1, -2))],
    fft.fftfreq: [call(5, 0.7), call(4, d=1.3)],
    fft.rfftfreq: [call(5, 0.7), call(4, d=1.3)],
}
for name in (
    *("rfftn", "irfftn", "hfftn", "ihfftn", "dct", "idct", "dst", "idst"),
    *("dctn", "idctn", "dstn", "idstn"),
):
    f, transpose = getattr(fft, name), getattr(fourier, f"un{name}")
    SAMPLES[transpose] = []
    for sample in SAMPLES[f]:
        y = f(*sample.args, **sample.kwargs)
        seed = c(*y.shape) if np.iscomplexobj(y) else n(*y.shape)
        SAMPLES[transpose].append(Call((seed, *sample.args), sample.kwargs))

ANALYTIC: set[Callable[..., Any]] = set()
