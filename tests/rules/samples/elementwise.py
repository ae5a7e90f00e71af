"""Functions that act element by element."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(1)
u, n, c = draws.u, draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_steps = np.array([-1.0, -0.6, -0.2, 0.2, 0.6, 1.0, 1.4])
mask = np.array([True, False, True])


def near_one(*shape: int) -> Any:
    """Complex numbers away from 0, whose powers can be told from differences."""
    return 1.2 + 0.3 * c(*shape)


# --- one argument ----------------------------------------------------------------------------------------------------
_real = "cbrt fabs radians deg2rad degrees rad2deg".split()
_holomorphic = (
    "negative positive square sqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan "
    "sinh cosh tanh arcsinh arctanh sinc"
).split()
_parts = "absolute real imag conjugate sign angle real_if_close".split()
for name in _real:
    SAMPLES[getattr(np, name)] = [call(u(2, 3)), call(u()), call(0.4)]
for name in _holomorphic + _parts:
    SAMPLES[getattr(np, name)] = [call(u(2, 3)), call(u()), call(0.4), call(c(2, 3)), call(c()), call(0.3 - 1.2j)]
for name in (
    "sqrt cbrt exp exp2 expm1 log2 log10 log1p fabs radians degrees sin cos tan asin acos atan sinh cosh tanh asinh "
    "atanh erf erfc gamma lgamma"
).split():
    SAMPLES[getattr(math, name)] = [call(0.4)]
for name in "exp sqrt log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh phase".split():
    SAMPLES[getattr(cmath, name)] = [call(0.3 - 1.2j), call(-1.7 + 0.4j)]
    if name not in ("phase", "acosh"):
        SAMPLES[getattr(cmath, name)].append(call(0.4))
for f in (operator.neg, operator.pos, operator.abs, abs):
    SAMPLES[f] = [call(n(3)), call(-0.3), call(c(3)), call(0.3 - 1.2j)]

# --- two arguments ---------------------------------------------------------------------------------------------------
_binary = "add subtract multiply divide power float_power hypot logaddexp logaddexp2 arctan2 copysign".split()
_complex_binary = "add subtract multiply divide power float_power".split()
for name in _binary:
    SAMPLES[getattr(np, name)] = [call(u(2, 3), u(3) + 0.1), call(u(2, 1), 0.7), call(0.3, u(3)), call(0.3, 0.8)]
for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
    SAMPLES[f] = [call(u(2, 3), u(3) + 0.1), call(0.3, 0.8)]
for f in [getattr(np, name) for name in _complex_binary] + [operator.add, operator.mul, operator.truediv, operator.pow]:
    SAMPLES[f] += [
        call(near_one(2, 3), near_one(3)),
        call(u(2, 3), near_one(3)),
        call(near_one(2, 1), u(3)),
        call(0.3, near_one(3)),
        call(near_one(2), 0.7),
        call(0.4 + 0.1j, 0.8),
        call(0.4, 0.8 - 0.3j),
    ]
for f in (np.floor_divide, operator.floordiv):
    SAMPLES[f] = [call(2.5, 0.7), call(n(3), u(3))]
for name in ("maximum", "minimum", "fmax", "fmin"):
    SAMPLES[getattr(np, name)] = [
        call(u(2, 3), u(3) + 1),
        call(0.3, u(3) + 1),
        call(u(2, 1), 1.2),
        call(1.2, 0.8),
        call(c(3), c(2, 3)),
    ]

_quotients = [
    call(np.array([2.5, -1.1, 0.9]), np.array([[0.7], [-0.4]])),
    call(2.5, np.array([0.7, 1.9])),
    call(2.5, 0.7),
]
for f in (np.remainder, np.fmod, operator.mod):
    SAMPLES[f] = list(_quotients)
SAMPLES[operator.pow] += [
    call(u(3), 1),
    call(n(3), 2),
    call(n(3), 3),
    call(u(3), 0.5),
    call(n(3), 0),
    call(u(3), -1),
    call(2, n(3)),
    call(0.3, 0.5),
    call(c(3), 2),
    call(c(3), -2),
    call(c(3), 0.5),
]
SAMPLES[np.float_power] += [call(np.array([-2.0, 0.7]), 3)]

# --- the others ------------------------------------------------------------------------------------------------------
SAMPLES |= {
    np.arccosh: [call(u(3) + 1.5), call(1.7), call(c(3)), call(-0.3 + 0.7j)],
    math.acosh: [call(1.7)],
    math.log: [call(0.4), call(0.4, 3.0)],
    cmath.log: [call(0.4 - 0.2j), call(0.4 - 0.2j, 3.0), call(0.4, 0.3 + 2j)],
    cmath.polar: [call(0.4 - 0.2j), call(0.4)],
    cmath.rect: [call(0.4, -0.2)],
    math.pow: [call(0.4, 1.3), call(0.0, 2), call(1.5, 3), call(0.7, 0), call(2, 1.4), call(1.4, 0.5)],
    pow: [call(0.4, 1.3), call(u(3), 2)],
    math.fmod: [call(2.5, 0.7), call(-2.5, 0.7)],
    math.remainder: [call(2.5, 0.7), call(2.4, -0.7)],
    math.copysign: [call(0.4, -2.0)],
    math.atan2: [call(0.4, -1.3)],
    math.ldexp: [call(0.4, 3)],
    np.ldexp: [call(u(3), 2), call(n(3), np.array([1, 0, -2]))],
    math.frexp: [call(0.4), call(-3.7)],
    np.frexp: [call(np.array([0.7, -3.1, 12.0])), call(0.4)],
    np.nextafter: [call(n(3), n(2, 3)), call(0.3, 0.8)],
    math.nextafter: [call(0.3, 0.8)],
    np.heaviside: [call(np.array([-0.3, 0.4]), n(2)), call(np.array([[0], [1]]), n(3)), call(0, 0.3)],
    np.i0: [call(n(3)), call(np.array([-12.0, 0.0, 40.0])), call(0.4)],
    np.where: [
        call(mask, n(3), n(2, 3)),
        call(True, 0.3, 0.5),
        call(mask, 0.3, n(3)),
        call(mask, c(3), n(3)),
        call(mask, c(3), c(2, 3)),
    ],
    np.clip: [
        call(_steps, -0.45, 0.65),
        call(_steps, u(7) / 9 - 0.1, None),
        call(_steps, a_min=-0.35, a_max=None),
        call(_steps, 0.02 + u(2, 1) / 9, 0.41),
        call(0.3, 0.5, 0.9),
        call(_steps, 0.73, u() / 9 - 0.3),
    ],
    np.nan_to_num: [
        call(u(2, 3)),
        call(0.4),
        call(np.array([np.nan, 0.3, np.inf, -np.inf]), nan=0.7, posinf=u(4), neginf=-0.3),
        call(np.array([complex(np.nan, 0.3), complex(np.inf, -np.inf)]), nan=0.7, posinf=n(2), neginf=-0.3),
        call(c(2, 3), True),
    ],
    complex: [call(0.3, 0.4), call(0.3), call(0.3 + 1j, 0.4 - 0.2j), call(real=0.3, imag=0.7)],
}
SAMPLES[np.angle] += [call(c(3), True), call(c(3), deg=True), call(n(3), True)]
SAMPLES[np.real_if_close] += [call(c(3), tol=1000), call(c(2), 50)]
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
    SAMPLES[np.clip] += [call(_steps, min=-0.3 - u() / 9, max=0.7 + u() / 9), call(_steps, max=0.35), call(_steps)]
if hasattr(math, "fma"):
    SAMPLES[math.fma] = [call(0.3, 0.4, 0.5)]

# In the dtype that is asked for: what it is that of the operands already, or wider.
SAMPLES[np.sin] += [call(u(3), dtype=np.float64), call(u(2, 3), dtype="complex128"), call(0.3, dtype="float64")]
SAMPLES[np.arcsin] += [call(u(3) + 1.0, dtype="complex128"), call(-1.7, dtype=complex)]
SAMPLES[np.arccosh] += [call(u(3) - 2.0, dtype="complex128")]
SAMPLES[np.multiply] += [call(u(2, 3), u(3), dtype="float64"), call(n(3), c(2, 3), dtype="complex128")]
SAMPLES[np.add] += [call(u(2, 3), u(3), dtype=float), call(n(3), 0.3, dtype=complex, casting="unsafe")]
SAMPLES[np.power] += [call(n(3), 0.7, dtype="complex128"), call(u(3), near_one(2, 3), dtype=complex, order="C")]
SAMPLES[np.absolute] += [call(c(3), dtype="float64"), call(n(3), dtype=float)]
SAMPLES[np.ldexp] += [call(n(3), 2, dtype="float64")]
SAMPLES[np.clip] += [call(_steps, -0.45, 0.65, dtype="float64", casting="same_kind")]

# --- of the runtime --------------------------------------------------------------------------------------------------
SAMPLES |= {
    runtime.polygamma: [call(0, 0.7), call(1, 2.3), call(2, -0.6)],
    runtime.bessel_i: [call(0, n(3)), call(1, np.array([-12.0, 0.0, 40.0])), call(2, 0.4), call(3, n(2))],
    runtime.sinc_slope: [
        call(u(3)),
        call(np.array([0.0, 1e-4, 2.3, -5.0])),
        call(0.3, 2),
        call(n(3), 3),
        call(c(3), 2),
    ],
    runtime.power_partial: [
        call(u(3), u(3), 1, 0),
        call(u(3), 2.4, 1, 1),
        call(0.7, 3, 2, 0),
        call(0.7, 1.3, 0, 2),
        call(n(3), 3.0, 1, 0),
        call(near_one(3), u(3), 1, 0),
        call(u(3), near_one(3), 0, 1),
    ],
    runtime.quotient: [call(n(3), u(3)), call(n(2, 3), 0.7), call(0.3, 0.4), call(c(3), c(2, 3))],
    runtime.safe_divide: [call(n(3), u(3)), call(n(2, 3), 0.7), call(0.3, 0.4), call(n(3), c(3))],
    runtime.angle_slope: [call(n(3), n(2, 3)), call(0.3, u(3)), call(0.3, 0.4)],
    runtime.half_circle: [call(u(3)), call(0.4), call(c(3))],
    runtime.share: [
        call(n(3), n(2, 3)),
        call(0.3, 0.4),
        call(n(3), 0.2, 0.6931471805599453),
        call(np.array([900.0, -900.0]), n(2)),
    ],
    runtime.masked: [
        call(n(3), np.array([True, False, True])),
        call(0.3, False),
        call(0.3, np.array([True, False])),
        call(n(2, 1), np.array([True, False, True])),
        call(c(3), np.array([True, False, True])),
        call(n(5000), np.arange(5000) % 3 == 0),
    ],
    runtime.where_finite: [call(n(3), np.array([np.nan, 0.3, np.inf])), call(0.3, 0.4), call(c(3), c(3))],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {getattr(np, name) for name in _holomorphic if name != "sinc"} | {
    np.add, np.subtract, np.multiply, np.divide, np.power,
}  # fmt: skip
