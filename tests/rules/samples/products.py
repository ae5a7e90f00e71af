"""Products of vectors and matrices, square matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(3)
n, spd = draws.n, draws.spd
rng = draws.rng

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_pairs = [(n(2, 3), n(3, 4)), (n(2, 3), n(3)), (n(3), n(3, 4)), (n(3), n(3))]
_batches = [
    (n(5, 2, 3), n(3, 4)),
    (n(2, 3), n(5, 3, 4)),
    (n(5, 1, 2, 3), n(4, 3, 2)),
    (n(5, 2, 3), n(3)),
    (n(3), n(5, 3, 2)),
]
_wide = [
    (n(5, 2, 3), n(3, 4)),
    (n(2, 3), n(5, 3, 4)),
    (n(3), n(5, 3, 2)),
    (n(5, 2, 3), n(3)),
    (0.7, n(3)),
    (n(2, 3), 0.7),
    (0.3, 0.4),
]
SAMPLES |= {
    np.matmul: [call(*p) for p in _pairs + _batches],
    operator.matmul: [call(*p) for p in _pairs],
    np.dot: [call(*p) for p in _pairs + _wide],
    np.inner: [
        call(n(3), n(3)),
        call(n(2, 3), n(4, 3)),
        call(n(2, 3), n(3)),
        call(n(2, 2, 3), n(4, 3)),
        call(0.3, n(3)),
        call(0.3, 0.4),
    ],
    np.outer: [call(n(2), n(3)), call(n(2, 2), n(3)), call(0.3, n(3)), call(n(2), 0.4)],
    np.vdot: [call(n(3), n(3)), call(n(2, 3), n(2, 3)), call(0.3, 0.4)],
    np.tensordot: [
        call(n(2, 3, 4), n(3, 4, 5)),
        call(n(2, 3), n(3, 4), 1),
        call(n(2), n(3), axes=0),
        call(n(2, 3), n(2, 3), 2),
        call(n(3, 2, 4), n(4, 5, 3), axes=([0, 2], [2, 0])),
        call(n(3, 2), n(5, 3), ((0,), (1,))),
        call(n(3, 2), n(5, 3), (0, 1)),
    ],
    np.cross: [call(n(3), n(3)), call(n(2, 3), n(3))],
    np.einsum: [
        call("ij,jk->ik", n(2, 3), n(3, 4)),
        call("ij,jk", n(2, 3), n(3, 4)),
        call("ii->i", n(3, 3)),
        call("ii", n(3, 3)),
        call("ij->j", n(2, 3)),
        call("i,j,k->ijk", n(2), n(3), n(2)),
        call("...i,ij->...j", n(4, 2), n(2, 3)),
        call("...ij,...jk", n(2, 2, 3), n(3, 4)),
        call("i,i->", n(3), n(3)),
        call("ij,ij,j->i", n(2, 3), n(2, 3), n(3)),
        call("bij,jk->bik", n(2, 2, 3), n(3, 4)),
        call("iij->j", n(3, 3, 2)),
        call("i , i -> i", n(3), n(3)),
    ],
    runtime.uneinsum: [
        call("ik,jk->ij", n(2, 3), n(2, 4), n(3, 4)),
        call("i->ij", n(2, 3), n(2)),
        call("i->ii", n(3, 3), n(3)),
        call("->ij", n(2, 3), 0.7),
        call("...j,ij->...i", n(4, 2), n(4, 3), n(2, 3)),
        call("j->iij", n(3, 3, 2), n(2)),
    ],
    np.trace: [call(n(3, 3)), call(n(3, 4), 1), call(n(2, 3, 4), 0, 1, 2), call(n(3, 3, 2), -1)],
    np.diagonal: [call(n(3, 4)), call(n(3, 4), -1), call(n(2, 3, 4), 1, 2, 0)],
    np.linalg.det: [call(spd(3)), call(spd(2, 4))],
    np.linalg.inv: [call(spd(3)), call(spd(2, 4))],
    np.linalg.solve: [
        call(spd(3), n(3)),
        call(spd(3), n(3, 2)),
        call(spd(2, 4), n(4, 2, 3)),
        call(spd(2, 4), n(2, 3)),
        call(spd(3), n(4, 3, 2)),
    ],
    runtime.one_vector: [call(n(3), n(3)), call(n(4, 3, 2), n(3, 2))],
}
for _name, _samples in (
    ("matmul", _pairs + _batches),
    ("dot", _pairs + _wide),
    ("inner", [(n(3), n(3)), (n(2, 3), n(4, 3)), (0.3, n(3))]),
    ("outer", [(n(2), n(3)), (n(2, 2), n(3)), (0.3, n(3))]),
):
    product = getattr(np, _name)
    _seeds = [rng.standard_normal(np.shape(product(*p))) for p in _samples]
    for side in ("left", "right"):
        f = getattr(runtime, f"un{_name}_{side}")
        SAMPLES[f] = [call(g, *p) for g, p in zip(_seeds, _samples)]
for side in ("left", "right"):
    f = getattr(runtime, f"untensordot_{side}")
    SAMPLES[f] = [
        call(n(2, 5), n(2, 3, 4), n(3, 4, 5)),
        call(n(2, 5), n(3, 2, 4), n(4, 5, 3), ([0, 2], [2, 0])),
        call(n(2, 4), n(2, 3), n(3, 4), 1),
        call(n(2, 3), n(2), n(3), 0),
    ]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    np.matmul,
    np.dot,
    np.inner,
    np.outer,
    np.tensordot,
    np.einsum,
    np.trace,
    np.linalg.inv,
    np.linalg.det,
    np.linalg.solve,
}
