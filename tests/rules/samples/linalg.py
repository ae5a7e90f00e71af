"""Square matrices, linear systems, least squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(31)
n, c, spd = draws.n, draws.c, draws.spd
singular = np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.3, -1.0, 0.7]])
small = np.outer([1.0, -0.4, 2.0], [0.3, 1.0, 0.6])  # of rank 1


def spread(*shape: int) -> Any:
    """Matrices with well separated singular values."""
    u, _, vh = np.linalg.svd(n(*shape), full_matrices=False)
    s = 0.8 + 0.9 * np.arange(min(shape[-2:]))[::-1]
    return (u * s) @ vh


def complex_spread(*shape: int) -> Any:
    u, _, vh = np.linalg.svd(c(*shape), full_matrices=False)
    return (u * (0.8 + 0.9 * np.arange(min(shape[-2:]))[::-1])) @ vh


SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.linalg.det: [call(spd(3)), call(spd(2, 4)), call(c(3, 3)), call(c(2, 2, 2)), call(singular), call(small)],
    np.linalg.slogdet: [call(n(3, 3)), call(spd(2, 4, 1)), call(c(3, 3)), call(c(4, 2, 2))],
    np.linalg.inv: [call(spd(3)), call(spd(2, 4)), call(c(3, 3)), call(c(4, 2, 2))],
    np.linalg.solve: [
        call(spd(3), n(3)),
        call(spd(3), n(3, 2)),
        call(spd(2, 4), n(4, 2, 3)),
        call(spd(2, 4), n(2, 3)),
        call(spd(2, 4), n(2)),
        call(spd(2, 3, 4), n(2)),
        call(spd(3), n(4, 3, 2)),
        call(c(3, 3), c(3)),
        call(c(3, 3), n(3, 2)),
        call(spd(3), c(3)),
        call(c(2, 3, 3), c(3)),
        call(spd(3), n(3, 1)),
    ],
    np.linalg.tensorinv: [call(n(2, 3, 6)), call(n(6, 3, 2), ind=1), call(c(2, 2, 4), 2)],
    np.linalg.tensorsolve: [
        call(n(2, 3, 6), n(2, 3)),
        call(n(2, 6, 3), n(2, 3), (1,)),
        call(n(3, 2, 4, 6, 1), n(2, 6), axes=(0, 2)),
        call(c(4, 2, 2), n(4)),
    ],
    np.linalg.pinv: [
        call(spread(3, 3)),
        call(spread(2, 4, 2)),
        call(spread(2, 2, 4)),
        call(complex_spread(4, 2)),
        call(complex_spread(2, 3)),
        call(spread(4, 3), 1e-10),
        call(spread(4, 3), rtol=1e-8),
        call(complex_spread(2, 3), rcond=1e-10),
        call(spd(3), hermitian=True),
        call(draws.hpd(3), 1e-10, True),
    ],
    np.linalg.lstsq: [
        call(spread(4, 2), n(4)),
        call(spread(4, 2), n(4, 3), None),
        call(spread(2, 4), n(2)),
        call(spread(2, 4), n(2, 3), rcond=1e-10),
        call(spread(3, 3), n(3)),
        call(complex_spread(4, 2), c(4)),
        call(complex_spread(2, 3), n(2, 2)),
        call(spread(5, 1), n(5)),
    ],
    runtime.cofactor: [
        call(spd(3)),
        call(c(2, 3, 3)),
        call(small),
        call(n(3, 3), n(3, 3)),
        call(c(2, 3, 3), c(2, 3, 3)),
        call(small, n(3, 3)),
        call(n(3, 3), n(3, 3), n(3, 3)),
    ],
    runtime.as_columns: [call(n(3), n(3)), call(n(4, 3), n(3)), call(n(3, 2), n(3, 2))],
    runtime.from_columns: [call(n(3, 1), n(3)), call(n(4, 3, 1), n(3)), call(n(3, 2), n(3, 2))],
    runtime.column_sums: [call(n(3), n(1)), call(n(3, 2), n(2)), call(n(3, 2), n(0))],
    runtime.uncolumn_sums: [call(n(1), n(3)), call(n(2), n(3, 2)), call(n(0), n(3, 2))],
    runtime.whole_inverse: [call(n(3, 4), np.zeros((4, 3)))],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    np.linalg.det, np.linalg.inv, np.linalg.solve, np.linalg.tensorinv, np.linalg.tensorsolve,
}  # fmt: skip
