"""Functions that move elements and change shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(4)
n = draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_three = [n(2, 3), n(1, 3), n(4, 3)]
SAMPLES |= {
    np.reshape: [
        call(n(2, 3), (3, 2)),
        call(n(2, 3), -1),
        call(n(6), shape=(2, -1)),
        call(n(2, 3), (3, 2), order="F"),
        call(0.3, (1, 1)),
    ],
    np.ravel: [call(n(2, 3)), call(n(2, 3), order="F"), call(n())],
    np.squeeze: [call(n(2, 1, 3, 1)), call(n(2, 1, 3), axis=1)],
    np.expand_dims: [call(n(2, 3), 1), call(n(2, 3), (0, 2)), call(n(2), axis=-1)],
    np.atleast_1d: [call(n(3)), call(0.3)],
    np.atleast_2d: [call(n(3)), call(0.3), call(n(2, 3))],
    np.atleast_3d: [call(n(3)), call(n(2, 3))],
    np.broadcast_to: [call(n(3), (2, 3)), call(0.3, (2,)), call(n(2, 1), (2, 3))],
    np.transpose: [call(n(2, 3)), call(n(2, 3, 4), (1, 2, 0)), call(n(2, 3, 4), axes=(2, -3, 1)), call(n(3))],
    np.matrix_transpose: [call(n(2, 3)), call(n(4, 2, 3))],
    np.swapaxes: [call(n(2, 3, 4), 0, 2)],
    np.moveaxis: [call(n(2, 3, 4), 0, -1), call(n(2, 3, 4), (0, 1), (-1, 0))],
    np.flip: [call(n(2, 3)), call(n(2, 3), 1), call(n(2, 3), axis=(0, 1))],
    np.fliplr: [call(n(2, 3))],
    np.flipud: [call(n(2, 3))],
    np.rot90: [call(n(2, 3)), call(n(2, 3, 4), 3, axes=(1, 2))],
    np.roll: [call(n(4), 1), call(n(2, 3), (1, 2), axis=(0, 1)), call(n(2, 3), -2, 1), call(n(2, 3), shift=2)],
    np.concatenate: [
        call(_three),
        call(tuple(_three), axis=0),
        call([n(2, 3), n(2, 1)], axis=1),
        call([n(2), n(2, 3)], axis=None),
        call([n(2), n(3)], -1),
    ],
    np.stack: [call([n(3), n(3)]), call([n(2, 3), n(2, 3)], axis=-1), call((n(3), n(3)), 1), call([0.3, 0.4])],
    np.vstack: [call([n(3), n(2, 3)]), call([n(2, 3), n(1, 3)])],
    np.hstack: [call([n(3), n(2)]), call([n(2, 3), n(2, 1)]), call([0.3, n(2)])],
    np.column_stack: [call([n(3), n(3, 2)]), call([n(3), n(3)])],
    np.split: [call(n(6), 3), call(n(4, 3), [1, 3]), call(n(2, 4), 2, axis=1)],
    np.array_split: [call(n(5), 3)],
    np.tile: [call(n(3), 2), call(n(2, 3), (2, 1, 2)), call(n(2, 3), 3), call(0.3, 4)],
    np.repeat: [call(n(3), 2), call(n(2, 3), 2, axis=1), call(n(3), [1, 0, 2]), call(n(2, 3), np.array([2, 1]), 0)],
    np.pad: [
        call(n(3), 2),
        call(n(2, 3), ((1, 2), (0, 1))),
        call(n(2, 3), (1, 2), constant_values=1.5),
        call(n(3), 1, "constant"),
    ],
    np.triu: [call(n(3, 4)), call(n(3, 3), 1)],
    np.tril: [call(n(3, 4)), call(n(2, 3, 3), k=-1)],
    np.diag: [call(n(3)), call(n(3, 3)), call(n(3), 1), call(n(3, 4), -1)],
    np.copy: [call(n(3)), call(0.3)],
    np.ascontiguousarray: [call(n(2, 3))],
    np.asfortranarray: [call(n(2, 3))],
    runtime.astype: [call(n(3), float), call(n(3), np.float64)],
    runtime.unconcatenate: [
        call(n(7, 3), _three),
        call(n(2, 4), [n(2, 3), n(2, 1)], 1),
        call(n(8), [n(2), n(2, 3)], None),
    ],
    runtime.unstack: [call(n(2, 3), [n(3), n(3)]), call(n(3, 2), [n(3), n(3)], 1)],
    runtime.unvstack: [call(n(3, 3), [n(3), n(2, 3)])],
    runtime.unhstack: [call(n(5), [n(3), n(2)]), call(n(2, 4), [n(2, 3), n(2, 1)])],
    runtime.uncolumn_stack: [call(n(3, 3), [n(3), n(3, 2)])],
    runtime.unpermute: [call(n(3, 4, 2), (1, 2, 0))],
    runtime.unastype: [call(n(3), n(3), float)],
    runtime.untile: [call(n(6), n(3), 2), call(n(2, 2, 6), n(2, 3), (2, 1, 2))],
    runtime.unrepeat: [call(n(6), n(3), 2), call(n(2, 6), n(2, 3), 2, 1), call(n(3), n(3), [1, 0, 2])],
    runtime.unpad: [call(n(7), n(3), 2), call(n(5, 4), n(2, 3), ((1, 2), (0, 1)))],
    runtime.undiagonal: [call(n(3), n(3, 4)), call(n(3, 1), n(2, 3, 4), 1, 2, 0)],
    runtime.untrace: [call(0.7, n(3, 3)), call(n(2), n(2, 3, 4), 0, 1, 2)],
    runtime.undiag: [call(n(3, 3), n(3)), call(n(3), n(3, 3)), call(n(4, 4), n(3), 1)],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    np.reshape,
    np.transpose,
    np.concatenate,
    np.stack,
    np.diag,
    np.roll,
    np.triu,
    np.tril,
}
