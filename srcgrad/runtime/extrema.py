"""Who attains an extremum, and with what share: ties divide it evenly.  Shares of a sum of exponentials.

>>> ties(np.array([3.0, 1.0, 3.0]), 3.0)
array([0.5, 0. , 0.5])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import floating
from srcgrad.runtime.reducing import Axis, spread_out

_FLOAT64 = np.dtype(np.float64)


def _share_dtype(a: Any) -> np.dtype[Any]:
    dtype = floating(a, a)
    return dtype if dtype.kind == "f" else np.empty(0, dtype).real.dtype


def ties(a: Any, y: Any, axis: Axis = None, initial: Any = None, where: Any = True) -> Any:
    """The share of each element of ``a`` in the extremum ``y``: one, or evenly divided among equals, of which
    ``initial`` is one more; nan shares with nan.  Zero where ``where`` does not hold."""
    if where is True and type(a) is np.ndarray and a.ndim and a.dtype == getattr(y, "dtype", a.dtype):
        if axis is None and initial is None:
            equal = a == (y if type(y) is not np.ndarray else y.reshape(()))
            n = np.count_nonzero(equal)
            if n:
                share = equal.astype(a.dtype if a.dtype is _FLOAT64 else _share_dtype(a))
                if n > 1:
                    share /= n
                return share
        elif type(y) is np.ndarray and initial is None:
            equal = a == spread_out(y, a, axis)
            if np.count_nonzero(equal) == y.size and not np.isnan(y).any():  # one in each slice
                return equal.astype(a.dtype if a.dtype is _FLOAT64 else _share_dtype(a))
    return _ties(a, y, axis, initial, where)


def _ties(a: Any, y: Any, axis: Axis, initial: Any, where: Any) -> Any:
    equal, n = _attained(a, y, axis, initial, where)
    share = np.asarray(equal).astype(_share_dtype(a))
    if np.any(n > 1):
        share /= np.maximum(n, 1)
    return share if share.ndim else share[()]


def _attained(a: Any, y: Any, axis: Axis, initial: Any, where: Any) -> tuple[Any, Any]:
    """Which elements equal the extremum, and how many do (with ``initial``), in a shape that broadcasts."""
    y = spread_out(y, a, axis)
    equal = _equals(a, y)
    if where is not True:
        equal = equal & where
    if axis is None or not np.ndim(equal):
        n: Any = np.intp(np.count_nonzero(equal))
    else:
        n = np.add.reduce(equal, axis=axis, keepdims=True, dtype=np.intp)
    return equal, n if initial is None else n + _equals(initial, y)


def _equals(a: Any, y: Any) -> Any:
    """Where ``a`` is ``y``, nan being nan: it was compared in the dtype of the result, which may be less precise."""
    a = np.asarray(a, getattr(y, "dtype", None))
    equal = np.equal(a, y)
    missing = np.not_equal(y, y)
    return equal | (missing & np.not_equal(a, a)) if np.any(missing) else equal


def initial_share(initial: Any, y: Any, a: Any, axis: Axis = None, where: Any = True) -> Any:
    """The share of ``initial`` in the extremum ``y`` of it and the elements of ``a``, in the shape of ``y``."""
    _, n = _attained(a, y, axis, initial, where)
    return np.divide(_equals(initial, y), np.maximum(np.reshape(n, np.shape(y)), 1))


# --- running extrema -------------------------------------------------------------------------------------------------
def latest(a: Any, y: Any, axis: int = 0) -> Any:
    """The positions along ``axis`` from which the running extremum ``y`` of ``a`` is taken: the latest of equals, or
    the latest nan (PyTorch's ``cummax``)."""
    a = np.asarray(a)
    axis = _single(axis, a.ndim)
    places = np.arange(a.shape[axis]).reshape([-1 if x == axis else 1 for x in range(a.ndim)])
    return np.maximum.accumulate(np.where(_equals(a, y), places, 0), axis=axis)


def _single(axis: Any, rank: int) -> int:
    return int((axis[0] if isinstance(axis, tuple) else axis) % rank)


# --- sums of exponentials --------------------------------------------------------------------------------------------
def exp_share(x: Any, y: Any, n: Any = 1) -> Any:
    """``exp(x - y)``, the share of ``x`` in a sum of exponentials whose logarithm is ``y``; where that is infinite,
    ``1 / n`` for each of the ``n`` that equal it."""
    infinite = np.isinf(y)
    if not np.any(infinite):
        return np.exp(np.subtract(x, y))
    share = np.exp(np.subtract(x, np.where(infinite, 0, y)))
    return np.where(infinite, (np.equal(x, y) / n).astype(share.dtype), share)[()]
