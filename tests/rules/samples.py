"""Arguments for every rule of the table: ``SAMPLES[function]`` is a list of calls.

A rule whose function is not here fails ``test_rules.py``.  Values are fixed, off kinks and ties unless a sample is
about them; ``call`` keeps keyword arguments, which are given as literals.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad import runtime

rng = np.random.default_rng(20240229)


@dataclass
class Call:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def u(*shape: int, low: float = 0.2, high: float = 0.9) -> Any:
    return rng.uniform(low, high, shape)


def n(*shape: int) -> Any:
    return rng.standard_normal(shape)


def distinct(*shape: int) -> Any:
    """Numbers well apart from each other, for functions with kinks at ties."""
    return (rng.permutation(int(np.prod(shape))) * 0.37 - 1.0).reshape(shape)


def spd(k: int, *batch: int) -> Any:
    a = n(*batch, k, k)
    return a @ np.swapaxes(a, -1, -2) + k * np.eye(k)


a3, a23, a34, a234 = n(3), n(2, 3), n(3, 4), n(2, 3, 4)
_steps = np.array([-1.0, -0.6, -0.2, 0.2, 0.6, 1.0, 1.4])
mask = np.array([True, False, True])

_unary = (
    "negative positive square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p absolute fabs radians deg2rad "
    "degrees rad2deg sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh sinc real conjugate imag "
    "nan_to_num"
).split()
_math_unary = (
    "sqrt cbrt exp exp2 expm1 log2 log10 log1p fabs radians degrees sin cos tan asin acos atan sinh cosh tanh asinh "
    "atanh erf erfc gamma lgamma"
).split()
_binary = (
    "add subtract multiply divide remainder fmod power hypot logaddexp logaddexp2 maximum minimum fmax fmin "
    "arctan2 copysign"
).split()

SAMPLES: dict[Callable[..., Any], list[Call]] = {}
for name in _unary:
    SAMPLES[getattr(np, name)] = [call(u(2, 3)), call(u()), call(0.4)]
for name in _math_unary:
    SAMPLES[getattr(math, name)] = [call(0.4)]
for name in _binary:
    SAMPLES[getattr(np, name)] = [call(u(2, 3), u(3) + 0.1), call(u(2, 1), 0.7), call(0.3, u(3)), call(0.3, 0.8)]
for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow):
    SAMPLES[f] = [call(u(2, 3), u(3) + 0.1), call(0.3, 0.8)]
for f in (np.floor_divide, operator.floordiv):
    SAMPLES[f] = [call(2.5, 0.7), call(n(3), u(3))]
for f in (operator.neg, operator.pos, operator.abs, abs):
    SAMPLES[f] = [call(n(3)), call(-0.3)]

for name in ("maximum", "minimum", "fmax", "fmin"):
    SAMPLES[getattr(np, name)] = [call(u(2, 3), u(3) + 1), call(0.3, u(3) + 1), call(u(2, 1), 1.2), call(1.2, 0.8)]

SAMPLES |= {
    np.arccosh: [call(u(3) + 1.5), call(1.7)],
    math.acosh: [call(1.7)],
    math.log: [call(0.4), call(0.4, 3.0)],
    math.pow: [call(0.4, 1.3), call(0.0, 2), call(1.5, 3), call(0.7, 0)],
    pow: [call(0.4, 1.3), call(u(3), 2)],
    math.fmod: [call(2.5, 0.7)],
    math.copysign: [call(0.4, -2.0)],
    math.atan2: [call(0.4, -1.3)],
    math.ldexp: [call(0.4, 3)],
    np.ldexp: [call(u(3), 2)],
    np.where: [call(mask, n(3), n(2, 3)), call(True, 0.3, 0.5), call(mask, 0.3, n(3))],
    np.clip: [
        call(_steps, -0.45, 0.65),
        call(_steps, u(7) / 9 - 0.1, None),
        call(_steps, a_min=-0.35, a_max=None),
        call(_steps, 0.02 + u(2, 1) / 9, 0.41),
        call(_steps, min=-0.3 - u() / 9, max=0.7 + u() / 9),
        call(0.3, 0.5, 0.9),
        call(_steps, 0.73, u() / 9 - 0.3),
    ],
    runtime.polygamma: [call(0, 0.7), call(1, 2.3), call(2, -0.6)],
    runtime.sinc_slope: [call(u(3)), call(np.array([0.0, 1e-4, 2.3, -5.0])), call(0.3, 2), call(n(3), 3)],
    runtime.power_partial: [call(u(3), u(3), 1, 0), call(u(3), 2.4, 1, 1), call(0.7, 3, 2, 0), call(0.7, 1.3, 0, 2)],
    runtime.safe_divide: [call(n(3), u(3)), call(n(2, 3), 0.7), call(0.3, 0.4)],
}

# --- reductions ------------------------------------------------------------------------------------------------------
_axes = [
    call(n(2, 3)),
    call(n(2, 3), axis=0),
    call(n(2, 3, 2), axis=(0, -1)),
    call(n(2, 3), axis=1, keepdims=True),
    call(n(3), keepdims=True),
]
for f in (np.sum, np.mean, np.var, np.std, np.prod):
    SAMPLES[f] = [*_axes]
for f in (np.max, np.amax, np.min, np.amin, np.ptp):
    SAMPLES[f] = [Call((distinct(*c.args[0].shape),), c.kwargs) for c in _axes]
SAMPLES[np.sum].append(call(0.7))
SAMPLES[np.var].append(call(n(2, 3), axis=0, ddof=1))
SAMPLES[np.std].append(call(n(2, 3), axis=0, ddof=1))
SAMPLES[np.prod] += [call(np.array([2.0, 0.0, 3.0])), call(np.array([[2.0, 0.0], [0.0, 3.0], [1.5, 2.0]]), axis=0)]
SAMPLES |= {
    np.cumsum: [call(n(4)), call(n(2, 3)), call(n(2, 3), axis=1), call(n(2, 3), 0)],
    np.cumprod: [call(n(4)), call(n(2, 3)), call(n(2, 3), axis=1), call(np.array([2.0, 0.0, 3.0, 0.0, 1.5]), 0)],
    np.diff: [call(n(4)), call(n(3, 4), axis=0), call(n(3, 4), 2)],
    runtime.undiff: [call(n(3), n(4)), call(n(2, 4), n(4, 4), 2, 0)],
    np.linalg.norm: [
        call(n(4)),
        call(n(2, 3)),
        call(n(2, 3), axis=1),
        call(n(2, 3), axis=0, keepdims=True),
        call(n(4), 2),
        call(n(4), 1),
        call(n(3, 4), ord=1, axis=0),
        call(distinct(4), np.inf),
        call(n(4), 3),
        call(n(3, 4), 2.5, 1),
        call(n(2, 3), "fro"),
        call(n(2, 3), ord=2, axis=-1, keepdims=True),
        call(n(2, 3, 2), axis=(0, 1)),
    ],
    np.linalg.vector_norm: [call(n(2, 3)), call(n(2, 3), axis=0), call(n(2, 3), axis=1, keepdims=True)],
    runtime.unbroadcast: [
        call(n(2, 3), n(3)),
        call(n(2, 3), 0.7),
        call(n(2, 3), n(2, 1)),
        call(n(3), n(3)),
        call(0.3, 0.2),
    ],
    runtime.rebroadcast: [
        call(n(3), n(2, 3)),
        call(0.7, n(2)),
        call(n(2, 1), n(2, 3)),
        call(n(3), n(3)),
        call(0.3, 0.2),
    ],
    runtime.unreduce: [
        call(0.7, n(2, 3)),
        call(n(3), n(2, 3), 0),
        call(n(2, 1), n(2, 3), 1, True),
        call(0.3, 0.2),
        call(n(1, 1), n(2, 3), None, True),
    ],
    runtime.uncumsum: [call(n(6), n(2, 3)), call(n(2, 3), n(2, 3), 1)],
    runtime.running_product: [call(n(4)), call(n(2, 3), 1), call(n(2, 3), None, True), call(n(2, 3, 2), (0, 2), True)],
    runtime.recurrence: [call(n(4), n(4)), call(n(2, 3), n(2, 3), 1), call(n(2, 3), n(2, 3), None, True)],
}

# --- products --------------------------------------------------------------------------------------------------------
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

# --- shapes ----------------------------------------------------------------------------------------------------------
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

# --- indexing and construction ---------------------------------------------------------------------------------------
_twice = np.array([0, 2, 0])
SAMPLES |= {
    operator.getitem: [
        call(n(3), 1),
        call(n(3), _twice),
        call(n(3, 4), (slice(1, None), 2)),
        call(n(3), mask),
        call([0.3, n(2)], 1),
        call(n(3, 4), (_twice, 1)),
    ],
    np.take: [call(n(3), _twice), call(n(2, 3), _twice, axis=1), call(n(2, 3), 1, 0), call(n(2, 3), [0, 5])],
    np.take_along_axis: [
        call(n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2, 3), np.array([[0, 1, 1]]), axis=0),
        call(n(4), np.array([3, 3]), None),
    ],
    np.compress: [call(mask, n(3)), call(mask, n(2, 3), axis=1)],
    np.sort: [call(distinct(4)), call(distinct(2, 3), axis=0), call(distinct(2, 3), None)],
    runtime.untake: [
        call(0.7, n(3), 1),
        call(n(3), n(3), _twice),
        call(n(2), [0.3, n(2)], 1),
        call([0.2, 0.3], [0.1, 0.1, 0.1], slice(1, None)),
    ],
    runtime.untake_axis: [call(n(3), n(3), _twice), call(n(2, 3), n(2, 3), _twice, 1)],
    runtime.untake_along: [
        call(n(2, 2), n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2), n(4), np.array([3, 3]), None),
    ],
    np.array: [
        call([0.3, 0.4]),
        call([[0.3, 0.4], [0.5, 0.6]]),
        call([n(3), n(3)]),
        call(n(3)),
        call(0.3),
        call([0.3, 2.0], float),
        call((0.3, n())),
    ],
    np.asarray: [call([0.3, 0.4]), call(n(3)), call(0.3), call([0.3, 0.4], dtype=None)],
    np.asanyarray: [call([0.3, 0.4])],
    np.float64: [call(0.3), call(n(3))],
    np.float32: [],
    np.float16: [],
    np.longdouble: [call(0.3)],
    np.full: [call((2, 3), 0.7), call(2, n(2)), call((2, 3), fill_value=0.4)],
    np.full_like: [call(n(2, 3), 0.7), call(n(2, 3), n(3))],
    np.linspace: [call(0.3, 0.7, 5), call(0.3, 0.7, num=4, endpoint=False), call(n(3), 0.7, 4), call(n(2, 1), n(3), 4)],
    np.arange: [call(0.3, 3.0, 0.5), call(0.3, 3.0)],
    np.zeros: [call((2, 3))],
    np.ones: [call((2, 3))],
    np.empty: [call(0)],
    np.zeros_like: [call(n(2, 3))],
    np.ones_like: [call(n(2, 3))],
    np.empty_like: [call(n(0))],
    np.eye: [call(3)],
    np.identity: [call(3)],
    np.tri: [call(3)],
}

# --- Python's own ----------------------------------------------------------------------------------------------------
SAMPLES |= {
    sum: [
        call([0.3, 0.4]),
        call([n(3), n(3)], n(2, 3)),
        call(n(3)),
        call(n(2, 3)),
        call((0.3, 0.5), 0.2),
        call([0.3, n(2)]),
    ],
    math.fsum: [call([0.3, 0.4]), call(n(3))],
    math.prod: [call([0.3, 0.4, 2.0]), call([0.3, 0.0], start=2.0), call(n(3))],
    max: [call(0.3, 0.4), call([0.3, 0.7, 0.1]), call(distinct(4)), call(0.3, 0.1, -0.2)],
    min: [call(0.3, 0.4), call([0.3, 0.7, 0.1]), call(distinct(4)), call(0.3, 0.1, -0.2)],
    sorted: [call([0.3, 0.7, 0.1]), call([0.3, 0.7, 0.1], reverse=True), call(n(3))],
    float: [call(0.3), call(n())],
    divmod: [call(2.5, 0.7)],
    np.divmod: [call(np.array([2.5, 1.1]), np.array([0.7, 0.4]))],
    math.modf: [call(2.5)],
    np.modf: [call(np.array([2.3, -0.7, 0.4]))],
    math.hypot: [call(0.3, 0.4), call(0.3, 0.4, 0.5)],
    math.dist: [call([0.3, 0.4], [0.1, 0.9]), call(n(3), n(3))],
    runtime.add: [call(n(3), n(3)), call([0.3, n(2)], [0.1, n(2)]), call(0.3, 0.4)],
    runtime.own: [call(n(3)), call([0.3, 0.4]), call(0.3)],
    runtime.as_list: [call([0.3, n(2)])],
    runtime.pack_like: [call([0.3, 0.4], n(2)), call((n(2), 0.3), [n(2), 0.1]), call((n(2), n(2)), n(2, 2))],
    runtime.unpack_like: [call(n(2), [0.3, 0.4]), call([n(2), 0.3], (n(2), 0.1))],
    runtime.spread: [call(0.3, [0.1, 0.2]), call(n(3), [n(3), 0.7]), call(n(3), n(2, 3)), call(0.3, n(3))],
    runtime.total: [call([0.1, 0.2], 0.3), call([n(3), 0.7], n(3)), call(n(2, 3), n(3))],
    runtime.gather: [call([0.1, 0.2, 0.3], [2, 0, 0]), call(n(3), [1, 0])],
    runtime.ungather: [call([0.1, 0.2], [0.1, 0.2, 0.3], [2, 2]), call([0.1, 0.2], n(3), [1, 0])],
    runtime.unarray: [call(n(2), [0.1, 0.2]), call(n(2, 2), [n(2), [0.1, 0.2]]), call(n(3), n(3))],
    runtime.rearray: [call([0.1, 0.2], n(2)), call([n(2), [0.1, 0.2]], n(2, 2)), call(0.3, 0.4)],
}
if hasattr(np, "astype"):
    SAMPLES[np.astype] = [call(n(3), float)]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC = {
    getattr(np, name)
    for name in (
        "add subtract multiply divide negative positive square sqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin "
        "cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh power matmul dot inner outer tensordot einsum sum "
        "mean prod cumsum reshape transpose concatenate stack trace diag roll triu tril take"
    ).split()
} | {np.linalg.inv, np.linalg.det, np.linalg.solve}
