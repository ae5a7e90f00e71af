"""Making arrays: of values, evenly spaced, between knots; conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(8)
n, c, u = draws.n, draws.c, draws.u

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_knots = np.array([0.0, 0.5, 1.1, 2.0])
_whole = np.array([1, 2])
SAMPLES |= {
    np.array: [
        call([0.3, 0.4]),
        call([[0.3, 0.4], [0.5, 0.6]]),
        call([n(3), n(3)]),
        call(n(3)),
        call(0.3),
        call([0.3, 2.0], float),
        call((0.3, n())),
        call([n(2), [0.3, 0.4]]),
        call(n(3), ndmin=2),
        call(n(3), dtype=int),
        call([0.3, 0.4], dtype=complex, ndmin=3),
        call(c(2)),
        call(n(3), copy=True, order="K", subok=False),
        call([[n(2)], [n(2)]]),
        call([]),
    ],
    np.asarray: [
        call([0.3, 0.4]),
        call(n(3)),
        call(0.3),
        call([0.3, 0.4], dtype=None),
        call(n(3), dtype=complex),
        call(n(3), float, "C"),
        call(n(3), int),
        call(c(2)),
    ],
    np.asanyarray: [call([0.3, 0.4]), call(n(2), dtype=float)],
    np.asarray_chkfinite: [call([0.3, 0.4]), call(n(2), float)],
    np.ascontiguousarray: [call(n(2, 3).T), call(0.3), call([0.3, 0.4], dtype=complex), call(n(), float)],
    np.asfortranarray: [call(n(2, 3)), call(n(2, 3), int), call(n(2, 3), dtype=complex)],
    np.require: [call(n(2, 3)), call(n(2, 3), float, ["F", "A"]), call(0.3, requirements="C")],
    np.float64: [call(0.3), call(n(3))],
    np.float32: [],
    np.float16: [],
    np.longdouble: [call(0.3)],
    np.complex128: [call(0.3), call(0.3 + 0.2j), call(n(2)), call([0.3, 0.4])],
    np.complex64: [],
    np.clongdouble: [call(0.3)],
    np.full: [
        call((2, 3), 0.7),
        call(2, n(2)),
        call((2, 3), fill_value=0.4),
        call((2, 3), n(2, 1)),
        call(2, 0.3, dtype=complex),
        call(2, 0.3, float, "F"),
        call(2, 0.3, int),
        call(2, c()),
        call((), 0.3),
    ],
    np.full_like: [
        call(n(2, 3), 0.7),
        call(n(2, 3), n(3)),
        call(n(2), 0.3, dtype=complex),
        call(n(2), 0.3, shape=(3, 2)),
        call(_whole, 0.3, float),
        call(_whole, 0.3),
        call(n(2), 0.3, order="C", subok=False),
    ],
    np.linspace: [
        call(0.3, 0.7, 5),
        call(0.3, 0.7, num=4, endpoint=False),
        call(n(3), 0.7, 4),
        call(n(2, 1), n(3), 4),
        call(n(2, 1), n(3), 4, axis=1),
        call(n(2), 0.4, 3, axis=-1),
        call(0.3, 0.7, 3, retstep=True),
        call(n(2), n(2), 4, False, True),
        call(0.3, n(2), 3, dtype=complex),
        call(0.3, 4.0, 3, dtype=int),
        call(0.3, 0.7, 1),
        call(0.3, 0.7, 0),
        call(c(2), 0.4, 3),
        call(1, 0.7, 3),
        call(0.3, 0.7),
    ],
    np.logspace: [
        call(0.3, 0.7, 5),
        call(0.3, 0.7, num=4, endpoint=False, base=2.0),
        call(n(3), 0.7, 4, base=u(3)),
        call(n(2, 1), n(3), 4, axis=1),
        call(n(2), 0.4, 3, base=3.0, dtype=float),
        call(0.3, 2.4, 3, dtype=int),
        call(0.3, 0.7, 3, base=u(2)),
        call(0.3, 0.7, 3, base=u(2), axis=-1),
        call(n(3), 0.7, 4, True, u(2, 1), axis=1),
    ],
    np.geomspace: [
        call(0.3, 0.7, 5),
        call(0.3, 0.7, num=4, endpoint=False),
        call(u(3), 0.7, 4),
        call(-u(2, 1), -u(3), 4, axis=1),
        call(0.3, 0.7, 3, dtype=complex),
        call(1.3, 7.7, 3, dtype=int),
        call(1.0 + 0.5j, 0.3 - 2.0j, 4),
        call(1, 0.7, 3),
    ],
    np.arange: [
        call(0.3, 3.0, 0.5),
        call(0.3, 3.0),
        call(0.3, 3.0, 0.5, dtype=float),
        call(2.5),
        call(2.5, step=0.4),
        call(0.3, 5.0, 1.5, dtype=int),
        call(4.5, dtype=int),
        call(4.5, step=1.5, dtype=int),
        call(n(), np.array(9.0), np.array(1.5)),
        call(0.3, 3.0, step=0.4),
    ],
    np.vander: [
        call(n(3)),
        call(n(3), 2),
        call(n(3), N=4, increasing=True),
        call(np.array([0.0, 0.3])),
        call(c(2)),
        call(n(2), 0),
        call([0.3, 0.4], 3),
    ],
    np.interp: [
        call(np.array([0.2, 0.7, 1.9, -0.4, 2.3]), _knots, n(4)),
        call(0.7, _knots, n(4)),
        call(np.array([0.2, -0.3, 2.4]), _knots, n(4), 0.3, 0.4),
        call(np.array([[0.2, -0.3], [2.4, 1.2]]), _knots, n(4), left=0.3),
        call(np.array([0.2, -0.3, 2.4]), _knots, n(4), right=0.3),
        call(np.array([0.2, 0.7, 5.9, -3.4]), np.array([3.1, 0.4, 1.7]), n(3), period=2.2),
        call(np.array([0.2, 0.7, 5.9, -3.4]), np.array([3.1, 0.4, 1.7]), n(3), period=-2.2),
        call(np.array([0.2, 0.7, 5.9, -3.4]), np.array([3.1, 0.4, 1.7]), n(3), 0.1, 0.2, 2.2),
        call(np.array([0.2, 1.7]), _knots, c(4)),
        call(np.array([0.2, 1.7]), np.array([1.0]), n(1)),
        call(np.array([0.2, 1.7]), np.array([1.0]), n(1), period=3.0),
        call(np.array([0.2, 2.1, 0.7]), np.array([3.1, 0.4, 1.7]), n(3), period=2.2),
        call([0.2, 2.1], [3.1, 0.4, 1.7], [0.3, 0.4, 0.5], period=2.2),
        call([0.2, 2.1], [0.0, 0.4, 1.9], [0.3, 0.4, 0.5], 0.1, 0.2),
        call([0.2, 1.7], [0.0, 0.4, 1.9], [0.3, 0.4, 0.5]),
        call(np.array([0.2, 1.7]), [0.0, 0.4, 1.9], [0.3, 0.4, 0.5]),
    ],
    runtime.tolist: [call(n(3)), call(n(2, 2)), call(n()), call(c(2)), call(0.3)],
    np.zeros: [call((2, 3)), call(2, dtype=float)],
    np.ones: [call((2, 3))],
    np.empty: [call(0)],
    np.zeros_like: [call(n(2, 3)), call(n(2, 3), dtype=float, shape=(2,))],
    np.ones_like: [call(n(2, 3))],
    np.empty_like: [call(n(0))],
    np.eye: [call(3), call(3, 4, 1, float)],
    np.identity: [call(3)],
    np.tri: [call(3)],
}
if hasattr(np, "astype"):
    SAMPLES[np.astype] = [call(n(3), float), call(n(3), complex, copy=False), call(c(3), complex)]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.linspace}
