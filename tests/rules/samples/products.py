"""Products of vectors and matrices."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call
from tests.rules.trees import random_like

draws = Draws(3)
n, c, spd = draws.n, draws.c, draws.spd
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
_complex = [(c(2, 3), c(3, 4)), (c(2, 3), n(3, 4)), (n(2, 3), c(3)), (c(3), c(3, 2)), (c(3), n(3)), (n(3), c(3))]
_inner = [(n(3), n(3)), (n(2, 3), n(4, 3)), (n(2, 3), n(3)), (n(3), n(2, 3)), (n(2, 2, 3), n(4, 3)), (0.3, n(3))]
_inner += [(0.3, 0.4), (n(2, 2), n()), (c(2, 3), n(3)), (n(3), c(2, 3)), (c(3), c(3))]
_outer = [(n(2), n(3)), (n(2, 2), n(3)), (0.3, n(3)), (n(2), 0.4), (c(2), n(3)), (n(2), c(3)), (c(2), c(3))]
_vdot = [(n(3), n(3)), (n(2, 3), n(2, 3)), (n(2, 3), n(6)), (0.3, 0.4), (c(3), c(3)), (c(3), n(3)), (n(3, 2), c(6))]
_vecdot = [(n(3), n(3)), (n(2, 3), n(3)), (c(3), c(4, 3)), (c(2, 3), n(2, 3)), (n(2, 3), c(2, 3)), (n(1, 3), n(2, 3))]
_tensordot = [
    call(n(2, 3, 4), n(3, 4, 5)),
    call(n(2, 3), n(3, 4), 1),
    call(n(2), n(3), axes=0),
    call(n(2, 3), n(2, 3), 2),
    call(n(3, 2, 4), n(4, 5, 3), axes=([0, 2], [2, 0])),
    call(n(3, 2), n(5, 3), ((0,), (1,))),
    call(n(3, 2), n(5, 3), (0, 1)),
    call(n(3, 2, 2), n(2, 3, 2), axes=((-1, 0), (0, -2))),
    call(c(2, 3), n(3, 4), 1),
    call(n(2, 3), c(4, 3), (1, 1)),
]
_kron = [(n(2), n(3)), (n(2, 2), n(3, 1)), (n(2), n(2, 3)), (n(2, 1, 2), n(3)), (0.3, n(2)), (n(2), n()), (0.3, 0.4)]
_kron += [(c(2), n(2, 2)), (n(1, 2), c(2, 1)), (c(2), c(2))]
_cross = [
    call(n(3), n(3)),
    call(n(2, 3), n(3)),
    call(n(4, 1, 3), n(2, 3)),
    call(n(3, 2), n(2, 3), axisa=0),
    call(n(2, 3), n(3, 2), -1, 0, 0),
    call(n(3, 2), n(3, 2), axis=0),
    call(n(3, 4, 1), n(3, 2), 0, 0, 1),
    call(c(3), n(3)),
    call(n(2, 3), c(2, 3)),
]
if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # later ones take vectors of length 3 only
    _cross += [
        call(n(2), n(3)),
        call(n(4, 3), n(2)),
        call(n(2), n(2)),
        call(n(4, 2), n(2)),
        call(n(2, 4), n(2, 4), axis=0),
    ]
SAMPLES |= {
    np.matmul: [call(*p) for p in _pairs + _batches + _complex],
    np.linalg.matmul: [call(n(2, 3), n(3, 4)), call(n(5, 2, 3), n(3, 4))],
    operator.matmul: [call(*p) for p in _pairs + _complex],
    np.dot: [call(*p) for p in _pairs + _wide + _complex],
    np.inner: [call(*p) for p in _inner],
    np.outer: [call(*p) for p in _outer],
    np.linalg.outer: [call(n(2), n(3)), call(c(2), n(3))],
    np.vdot: [call(*p) for p in _vdot],
    np.vecdot: [*(call(*p) for p in _vecdot), call(n(3, 2), n(3, 4, 2), axis=0), call(c(3, 2), c(3, 1), axis=-2)],
    np.linalg.vecdot: [call(n(3), n(2, 3)), call(c(3, 2), c(3, 2), axis=0)],
    np.tensordot: _tensordot,
    np.linalg.tensordot: [call(n(2, 3, 4), n(3, 4, 5)), call(n(3, 2), n(5, 3), axes=(0, 1))],
    np.kron: [call(*p) for p in _kron],
    np.cross: _cross,
    np.linalg.cross: [call(n(3), n(2, 3)), call(n(3, 2), n(3, 2), axis=0), call(c(3), n(3))],
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
        call("ij->j", n(2, 3), dtype=np.complex128),
        call("ij,jk,k", n(2, 3), n(3, 4), n(4), optimize=True),
        call("i,i", n(3), n(3), optimize="greedy"),
        call("i,i->i", n(1), n(3)),
        call("ij,jk->ik", n(2, 1), n(3, 4)),
        call("ij,j->", n(2, 3), n(1)),
        call("ijk->kji", n(2, 1, 3)),
        call("ii->", n(3, 3)),
        call("ii,ij->j", n(3, 3), n(3, 2)),
        call("iji->j", n(2, 3, 2)),
        call("ba", n(2, 3)),
        call("...", n(2, 3)),
        call("...i->...", n(2, 1, 3)),
        call("...i,...i", n(4, 1, 3), n(2, 3)),
        call("i...,j...->...ij", n(2, 3), n(4, 1)),
        call("i,->i", n(3), 0.7),
        call(",", 0.3, 0.4),
        call("ij,jk->ik", c(2, 3), n(3, 4)),
        call("ii,i->i", n(3, 3), c(3)),
        call("i,i,i->", c(3), c(3), n(3)),
    ],
    runtime.uneinsum: [
        call("ik,jk->ij", n(2, 3), n(2, 4), n(3, 4)),
        call("i->ij", n(2, 3), n(2)),
        call("i->ii", n(3, 3), n(3)),
        call("->ij", n(2, 3), 0.7),
        call("...j,ij->...i", n(4, 2), n(4, 3), n(2, 3)),
        call("j->iij", n(3, 3, 2), n(2)),
    ],
    np.trace: [
        call(n(3, 3)),
        call(n(3, 4), 1),
        call(n(2, 3, 4), 0, 1, 2),
        call(n(3, 3, 2), -1),
        call(n(2, 3, 4), axis1=-1, axis2=0),
        call(n(3, 3), dtype=np.float64),
        call(c(3, 2)),
        call(n(2, 2), 5),
    ],
    np.linalg.trace: [call(n(2, 3, 4)), call(n(3, 3), offset=1), call(c(3, 3), dtype=np.complex128)],
    np.diagonal: [call(n(3, 4)), call(n(3, 4), -1), call(n(2, 3, 4), 1, 2, 0), call(c(3, 3), axis1=-1, axis2=0)],
    np.linalg.diagonal: [call(n(2, 3, 4)), call(n(3, 3), offset=-1), call(c(3, 3))],
    np.linalg.matrix_transpose: [call(n(2, 3, 4)), call(c(3, 2))],
    np.linalg.matrix_power: [
        *(call(n(3, 3), k) for k in (0, 1, 2, 5, -1, -3)),
        call(n(2, 3, 3), 3),
        call(c(2, 2), 3),
        call(c(2, 2), -2),
    ],
    runtime.doubled: [call(n(2, 2), n(2, 2)), call(c(3, 2, 2), c(3, 2, 2))],
    runtime.undoubled: [call(n(4, 4)), call(c(3, 2, 2))],
    runtime.corner: [call(n(4, 4)), call(c(3, 2, 2))],
    np.linalg.multi_dot: [
        call([n(2, 3), n(3, 4)]),
        call([n(2, 3), n(3, 4), n(4, 2), n(2, 5)]),
        call([n(2), n(2, 3), n(3)]),
        call((n(2), n(2, 3), n(3, 2))),
        call([n(2, 3), n(3, 2), n(2)]),
        call([n(2), n(2)]),
        call([c(2, 3), n(3, 2), c(2)]),
        call(n(3, 2, 2)),
    ],
    runtime.multi_dot_slope: [
        call([n(2, 3), n(3, 4)], [n(2, 3), n(3, 4)]),
        call([n(2), n(2, 3), n(3)], [n(2), n(2, 3), n(3)], [n(2), n(2, 3), n(3)]),
        call([c(2), n(2, 2)], [c(2), n(2, 2)]),
        call([n(1, 2), n(2, 2)]),
    ],
    runtime.unmulti_dot: [
        call(n(2, 4), [n(2, 3), n(3, 4)], [n(2, 3), n(3, 4)]),
        call(n(), [n(2), n(2, 3), n(3)], [n(2), n(2, 3), n(3)]),
        call(n(2), [n(2, 3), n(3, 2), n(2)]),
        call(c(2), [c(2), n(2, 2)]),
    ],
}
if hasattr(np, "matvec"):
    SAMPLES |= {
        np.matvec: [call(n(2, 3), n(3)), call(n(5, 2, 3), n(3)), call(c(2, 3), n(5, 3)), call(n(1, 2, 3), c(4, 3))],
        np.vecmat: [call(n(3), n(3, 2)), call(n(5, 3), n(3, 2)), call(c(3), c(5, 3, 2)), call(c(4, 3), n(1, 3, 2))],
    }
_halves: dict[Callable[..., Any], tuple[str, list[Call]]] = {
    np.matmul: ("matmul", [call(*p) for p in _pairs + _batches + _complex]),
    np.dot: ("dot", [call(*p) for p in _pairs + _wide + _complex]),
    np.inner: ("inner", [call(*p) for p in _inner]),
    np.outer: ("outer", [call(*p) for p in _outer]),
    np.vdot: ("vdot", [call(*p) for p in _vdot]),
    np.tensordot: ("tensordot", _tensordot),
    np.kron: ("kron", [call(*p) for p in _kron]),
    np.cross: ("cross", _cross),
    np.vecdot: ("vecdot", SAMPLES[np.vecdot]),
}
for _product, (_name, _samples) in _halves.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # vectors of length 2
        _seeds = [random_like(_product(*p.args, **p.kwargs), rng) for p in _samples]
    # Real cotangents of complex products too: what flows back through np.real.
    _both = list(zip(_seeds, _samples, strict=True))
    _both += [(np.real(g), p) for g, p in _both if np.iscomplexobj(g)]
    for _side in ("left", "right"):
        SAMPLES[getattr(runtime, f"un{_name}_{_side}")] = [call(g, *p.args, **p.kwargs) for g, p in _both]

SAMPLES[runtime.unproduct] = [
    call(n(2, 1), n(3), n(2, 3)),
    call(n(2, 1, 1), n(4, 3), n(2, 4, 1)),
    call(n(2, 3), n(3), n(3)),
    call(0.7, n(2, 3), n(3)),
    call(c(2, 1), n(3), c(2, 3)),
]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    np.matmul, operator.matmul, np.linalg.matmul, np.dot, np.inner, np.outer, np.linalg.outer, np.tensordot, np.kron,
    np.cross, np.linalg.cross, np.einsum, np.linalg.matrix_power, np.linalg.multi_dot, np.linalg.trace, np.diagonal,
    np.linalg.diagonal,
}  # fmt: skip
