"""Functions that change shapes and move axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(4)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

SAMPLES |= {
    np.reshape: [
        call(n(2, 3), (3, 2)),
        call(n(2, 3), -1),
        call(n(6), shape=(2, -1)),
        call(n(2, 3), (3, 2), order="F"),
        call(0.3, (1, 1)),
        call(n(1), ()),
        call(n(0, 3), (3, 0)),
        call(c(2, 3), (3, 2)),
        call(n(2, 3), (3, 2), "A"),
    ],
    np.ravel: [
        call(n(2, 3)),
        call(n(2, 3), order="F"),
        call(n()),
        call(n(2, 3), "A"),
        call(n(2, 3), order="K"),
        call(c(2, 3)),
    ],
    np.squeeze: [
        call(n(2, 1, 3, 1)),
        call(n(2, 1, 3), axis=1),
        call(n(1, 2, 1), (0, -1)),
        call(n(1, 1)),
        call(c(1, 2)),
    ],
    np.expand_dims: [call(n(2, 3), 1), call(n(2, 3), (0, 2)), call(n(2), axis=-1), call(0.3, 0), call(c(2), 0)],
    np.atleast_1d: [call(n(3)), call(0.3), call(0.3, n(3)), call(c(2), n(), 0.4)],
    np.atleast_2d: [call(n(3)), call(0.3), call(n(2, 3)), call(n(3), n(2, 3), 0.4), call(c(2))],
    np.atleast_3d: [call(n(3)), call(n(2, 3)), call(0.3), call(n(2), 0.3, n(2, 3, 2)), call(c(2))],
    np.broadcast_to: [call(n(3), (2, 3)), call(0.3, (2,)), call(n(2, 1), (2, 3)), call(n(1), 3), call(c(2), (3, 2))],
    np.broadcast_arrays: [
        call(n(3), n(2, 1)),
        call(0.3, n(3)),
        call(n(2)),
        call(n(2, 1), 0.4, n(3)),
        call(c(2), n(3, 1)),
    ],
    np.meshgrid: [
        call(n(3), n(2)),
        call(n(3), n(2), indexing="ij"),
        call(n(3), n(2), n(4)),
        call(n(3), n(2), sparse=True),
        call(n(3), 0.4, n(2), sparse=True, indexing="ij", copy=False),
        call(n(3)),
        call(n(3), n(2, 2)),
        call(c(2), n(3)),
    ],
    np.ix_: [call(n(3), n(2)), call(n(3))],
    np.transpose: [
        call(n(2, 3)),
        call(n(2, 3, 4), (1, 2, 0)),
        call(n(2, 3, 4), axes=(2, -3, 1)),
        call(n(3)),
        call(n(2, 3, 4), [2, 0, 1]),
        call(c(2, 3)),
        call(0.3),
    ],
    np.matrix_transpose: [call(n(2, 3)), call(n(4, 2, 3)), call(c(2, 3))],
    np.linalg.matrix_transpose: [call(n(2, 3))],
    np.swapaxes: [call(n(2, 3, 4), 0, 2), call(n(2, 3, 4), axis1=-1, axis2=1), call(c(2, 3), 0, 1)],
    np.moveaxis: [call(n(2, 3, 4), 0, -1), call(n(2, 3, 4), (0, 1), (-1, 0)), call(n(2, 3, 4), [2, 0], [0, 1])],
    np.rollaxis: [
        call(n(2, 3, 4), 2),
        call(n(2, 3, 4), 0, 3),
        call(n(2, 3, 4), axis=1, start=-1),
        call(n(2, 3, 4), -1, 1),
        call(n(2, 3, 4), 1, 1),
        call(c(2, 3), 1),
    ],
    np.flip: [call(n(2, 3)), call(n(2, 3), 1), call(n(2, 3), axis=(0, 1)), call(n(2, 3), -2), call(c(3))],
    np.fliplr: [call(n(2, 3))],
    np.flipud: [call(n(2, 3)), call(n(3))],
    np.rot90: [call(n(2, 3)), call(n(2, 3, 4), 3, axes=(1, 2)), call(n(2, 3), k=-1), call(n(2, 3), 2), call(c(2, 3))],
    np.roll: [
        call(n(4), 1),
        call(n(2, 3), (1, 2), axis=(0, 1)),
        call(n(2, 3), -2, 1),
        call(n(2, 3), shift=2),
        call(n(2, 3), (1, 1), (0, 0)),
        call(n(2, 3), 1, (0, 1)),
        call(n(2, 3), [1, 2], 1),
        call(c(4), 5),
    ],
    np.copy: [call(n(3)), call(0.3), call([0.3, 0.4]), call(c(3), order="F")],
    runtime.astype: [
        call(n(3), float),
        call(n(3), np.float64),
        call(n(3), "complex128"),
        call(c(3), np.complex128),
        call(n(2, 2), float, "F"),
        call(0.3, np.float64),
    ],
    runtime.unpermute: [call(n(3, 4, 2), (1, 2, 0)), call(n(2, 3), None), call(n(3, 4, 2), [0, -1, 1])],
    runtime.unrollaxis: [call(n(4, 2, 3), 2), call(n(3, 4, 2), 0, 3), call(n(2, 3, 4), 1, -1)],
    runtime.mesh: [call(n(3), n(2, 3), 0), call(n(3), n(2, 3), 1, "ij"), call(0.3, n(2, 1), 0), call(c(3), c(3), 0)],
    runtime.unmesh: [
        call(n(2, 3), n(3), 0),
        call(n(2, 3), n(3), 1, "ij"),
        call(n(2, 3, 4), n(4), 2),
        call(c(3), c(3), 0),
    ],
    runtime.unastype: [
        call(n(3), n(3), float),
        call(c(3), c(3), complex),
        call(n(3), n(3), None),
        call(n(3), n(3), int),
    ],
    runtime.reastype: [call(n(3), n(2, 3)), call(n(3), n(3)), call(0.3, 0.4), call(c(3), c(3))],
}
SAMPLES[np.moveaxis].append(call(c(2, 3), 0, 1))

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.reshape, np.transpose, np.roll}
