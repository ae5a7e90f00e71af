"""Filters of scipy.ndimage: every boundary, origins at both ends, axes, windows longer than the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage

from srcgrad.runtime.scipy import ndimage as transposes
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(44)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")

for f in (ndimage.correlate1d, ndimage.convolve1d):
    SAMPLES[f] = [
        call(n(5), n(3)),
        call(n(4), n(4), origin=-2),
        call(n(4, 3), n(4), 0, mode="constant", cval=0.7, origin=1),
        call(c(4), n(3)),
        call(n(4), c(2)),
        call(c(3), c(4), mode="wrap", origin=1),
        call(c(4), c(3), mode="constant", cval=0.3),
        call(n(1), n(3), mode="mirror"),
    ]
    SAMPLES[f] += [call(n(2, 3), n(8), axis=1, mode=mode) for mode in MODES]
    SAMPLES[f] += [call(n(5), n(3), mode=mode) for mode in ("grid-wrap", "grid-mirror", "grid-constant")]
for f in (ndimage.correlate, ndimage.convolve):
    SAMPLES[f] = [
        call(n(4, 3), n(3, 2)),
        call(n(3, 4), n(2, 3), mode="wrap", cval=0.0, origin=(-1, 1)),
        call(c(3, 2), n(2, 2), mode="mirror"),
        call(n(3, 2), c(2, 3), mode="nearest", origin=-1),
        call(n(3, 2), n(2, 3), mode="constant", cval=0.6),
        call(n(4), n(3), origin=1),
        call(n(2, 4, 3), n(3, 2), axes=(1, 2)),
        call(n(4, 3), n(2), mode="mirror", origin=(-1,), axes=0),
        call(n(2, 3, 3), n(2, 3), origin=(1, -1), axes=(2, 0)),
    ]
    SAMPLES[f] += [call(n(3, 2), n(5, 4), mode=mode, origin=(1, 0)) for mode in MODES]
SAMPLES |= {
    transposes.unrounded: [call(n(3)), call(c(2, 3))],
    ndimage.uniform_filter1d: [
        call(n(5), 3),
        call(n(3, 4), 4, 0, mode="constant", cval=0.7, origin=1),
        call(c(4), 2, mode="wrap", origin=-1),
        call(n(3), 8, mode="mirror"),
        call(n(3), size=7, axis=0, mode="nearest"),
    ],
    ndimage.uniform_filter: [
        call(n(4, 3)),
        call(n(4, 3), (2, 5), mode=("wrap", "nearest"), origin=(0, -1)),
        call(n(4, 3), 1),
        call(c(3, 2), 2, mode="constant", cval=0.5),
        call(n(2, 3, 4), size=2, origin=-1, axes=(2, 0)),
    ],
    ndimage.gaussian_filter1d: [
        call(n(6), 0.8),
        call(n(4, 3), 0.6, 0, 1, mode="constant", cval=0.7, truncate=3.0),
        call(c(5), 0.7, mode="wrap", order=2),
        call(n(5), sigma=0.9, mode="mirror", radius=2),
        call(n(3), 1.4, mode="nearest"),
    ],
    ndimage.gaussian_filter: [
        call(n(4, 3), 0.7),
        call(n(4, 3), (0.5, 1.1), (0, 1), mode=("wrap", "nearest"), truncate=3.0),
        call(n(4, 3), (0.0, 0.8), mode="constant", cval=0.4),
        call(c(3, 2), 0.6, mode="mirror"),
        call(n(2, 3, 4), 0.6, radius=(1, 2), axes=(2, 0)),
        call(n(3, 2), 0.0),
    ],
    ndimage.gaussian_laplace: [
        call(n(4, 3), 0.7),
        call(n(4, 3), (0.5, 1.1), mode=("wrap", "nearest")),
        call(n(4, 3), 0.5, mode="constant", cval=0.4),
        call(n(2, 3, 4), (0.6, 0.7), axes=(2, 0)),
    ],
    ndimage.laplace: [
        call(n(5)),
        call(n(4, 3), mode=("wrap", "mirror")),
        call(n(4, 3), mode="constant", cval=0.4),
        call(n(2, 3, 4), axes=(2, 0)),
    ],
    ndimage.fourier_gaussian: [call(c(3, 4), 0.7), call(c(3, 3), (0.5, 0.2), 4, 1), call(n(4), 0.6)],
    ndimage.fourier_uniform: [call(c(3, 4), 1.7), call(c(3, 3), (1.5, 2.2), 4, 1), call(n(4), 2)],
    ndimage.fourier_ellipsoid: [call(c(3, 4), 1.7), call(c(3, 3), (1.5, 2.2), 4, 1), call(n(4), 2.0)],
    ndimage.fourier_shift: [call(c(3, 4), 1.7), call(c(3, 3), (1.5, 2.2), 4, 1), call(n(4), 0.6)],
}
for f in (ndimage.sobel, ndimage.prewitt):
    SAMPLES[f] = [
        call(n(4, 3)),
        call(n(5)),
        call(n(4, 3), 0, mode=("wrap", "nearest")),
        call(n(2, 3, 3), axis=1, mode="constant", cval=0.7),
        call(c(3, 3), mode="mirror"),
    ]

for name in (
    *("correlate1d", "convolve1d", "correlate", "convolve", "uniform_filter1d", "uniform_filter", "gaussian_filter1d"),
    *("gaussian_filter", "gaussian_laplace", "laplace", "sobel", "prewitt"),
):
    f = getattr(ndimage, name)
    # the transposes take what the filters take, but no output; those by the array no value beyond the ends
    by_array = getattr(transposes, f"un{name}")
    by_weights = getattr(transposes, f"un{name}_weights", None)
    SAMPLES[by_array] = []
    if by_weights is not None:
        SAMPLES[by_weights] = []
    for sample in SAMPLES[f]:
        y = f(*sample.args, **sample.kwargs)
        seed = c(*y.shape) if np.iscomplexobj(y) else n(*y.shape)
        if by_weights is not None:
            SAMPLES[by_weights].append(Call((seed, *sample.args), sample.kwargs))
        kwargs = {key: value for key, value in sample.kwargs.items() if key != "cval"}
        SAMPLES[by_array].append(Call((seed, *sample.args), kwargs))

ANALYTIC: set[Callable[..., Any]] = set()
