"""How functions treat a batch: the axis that stands in front of an operand's own axes.

Enters: a function.  Leaves: which of a few manners is its, data that both machines can ask for; what has no manner is
run for each example.  ``x`` has one axis, of which the function is not to know::

    pointwise   np.sin(x)                np.sin(x)
    reducing    np.sum(x)                np.sum(x, axis=1)
    along       np.cumsum(x, axis=0)     np.cumsum(x, axis=1)
    stacked     np.linalg.inv(x)         np.linalg.inv(x)             linear algebra runs over leading axes
    same        zeros_like(x)            zeros_like(x)                of the whole, whatever its axes mean
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.rules.table import lookup

#: What reduces over all axes where none is said.
REDUCING: frozenset[Any] = frozenset({
    np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.any, np.all, np.std, np.var, np.median, np.nansum,
    np.nanmean, np.nanmax, np.nanmin, np.nanprod, np.nanstd, np.nanvar, np.nanmedian, np.count_nonzero, np.ptp,
})  # fmt: skip
#: What goes along one axis, with the axis where none is said; None: along all elements in a row.
ALONG: dict[Any, int | None] = {
    np.cumsum: None, np.cumprod: None, np.argmax: None, np.argmin: None, np.sort: -1, np.argsort: -1, np.diff: -1,
    np.repeat: None, np.flip: None, np.roll: None, np.take: None, np.nancumsum: None, np.nancumprod: None,
    np.cumulative_sum: None, np.cumulative_prod: None, np.trapezoid: -1, np.unwrap: -1, np.fft.fft: -1, np.fft.ifft: -1,
    np.fft.rfft: -1, np.fft.irfft: -1, np.fft.hfft: -1, np.fft.ihfft: -1,
}  # fmt: skip
#: What NumPy computes for each matrix of a stack, where all operands are matrices: the operands.
STACKED: dict[Any, tuple[str, ...]] = {
    np.linalg.inv: ("a",), np.linalg.det: ("a",), np.linalg.slogdet: ("a",), np.linalg.cholesky: ("a",),
    np.linalg.eigh: ("a",), np.linalg.eigvalsh: ("a",), np.linalg.pinv: ("a",), np.triu: ("m",), np.tril: ("m",),
    np.linalg.solve: ("a", "b"), np.linalg.svd: ("a",), np.linalg.svdvals: ("x",), np.linalg.qr: ("a",),
    np.linalg.cond: ("x",),
    runtime.hermitian_sum: ("x",), runtime.from_triangle: ("a",),
    runtime.to_triangle: ("g",), runtime.half_triangle: ("x",), np.matrix_transpose: ("x",),
}  # fmt: skip
#: What makes something of the form of its operand.
SAME: frozenset[Any] = frozenset({
    np.copy, np.zeros_like, np.ones_like, np.empty_like, np.conjugate, np.conj, np.real, np.imag, runtime.zeros_like,
    runtime.shadow, runtime.own, runtime.unshared, runtime.snapshot, runtime.kept, runtime.frozen, runtime.as_list,
    runtime.private,
})  # fmt: skip
#: Functions of Python's numbers, by those of arrays that compute the same.
OF_NUMBERS: dict[Any, Any] = {
    getattr(math, name): getattr(np, {"pow": "power"}.get(name, name))
    for name in (
        "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees exp exp2 expm1 fabs floor fmod hypot "
        "isfinite isinf isnan log log10 log1p log2 pow radians sin sinh sqrt tan tanh trunc cbrt"
    ).split()
    if hasattr(math, name)
}
_POINTWISE: frozenset[Any] = frozenset({
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.invert, operator.and_,
    operator.or_, operator.xor, operator.lshift, operator.rshift, operator.floordiv, operator.mod, np.isclose,
    np.real_if_close, np.nan_to_num, np.round, np.around, np.isneginf, np.isposinf, np.angle, runtime.wins,
    runtime.prevails, runtime.is_above, runtime.is_below, runtime.is_within,
})  # fmt: skip
#: Of Python's numbers alone.
_SCALAR = frozenset({max, min, math.fsum})


def is_pointwise(function: Callable[..., Any]) -> bool:
    """Whether an element of the result depends on one element of each operand, which are broadcast together."""
    if function in _SCALAR or getattr(function, "__module__", None) in ("math", "cmath"):
        return False
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    if function in _POINTWISE:
        return True
    known = lookup(function)
    return known is not None and known.pointwise
