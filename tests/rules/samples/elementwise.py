"""Functions that act element by element."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(1)
u, n = draws.u, draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

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
    "add subtract multiply divide power hypot logaddexp logaddexp2 maximum minimum fmax fmin "
    "arctan2 copysign"
).split()

for name in _unary:
    SAMPLES[getattr(np, name)] = [call(u(2, 3)), call(u()), call(0.4)]
for name in _math_unary:
    SAMPLES[getattr(math, name)] = [call(0.4)]
for name in _binary:
    SAMPLES[getattr(np, name)] = [call(u(2, 3), u(3) + 0.1), call(u(2, 1), 0.7), call(0.3, u(3)), call(0.3, 0.8)]
for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
    SAMPLES[f] = [call(u(2, 3), u(3) + 0.1), call(0.3, 0.8)]
for f in (np.floor_divide, operator.floordiv):
    SAMPLES[f] = [call(2.5, 0.7), call(n(3), u(3))]
for f in (operator.neg, operator.pos, operator.abs, abs):
    SAMPLES[f] = [call(n(3)), call(-0.3)]

for name in ("maximum", "minimum", "fmax", "fmin"):
    SAMPLES[getattr(np, name)] = [call(u(2, 3), u(3) + 1), call(0.3, u(3) + 1), call(u(2, 1), 1.2), call(1.2, 0.8)]

_quotients = [
    call(np.array([2.5, -1.1, 0.9]), np.array([[0.7], [-0.4]])),
    call(2.5, np.array([0.7, 1.9])),
    call(2.5, 0.7),
]
for f in (np.remainder, np.fmod, operator.mod):
    SAMPLES[f] = list(_quotients)

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

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    getattr(np, name)
    for name in (
        "add subtract multiply divide negative positive square sqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin "
        "cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh power"
    ).split()
}
