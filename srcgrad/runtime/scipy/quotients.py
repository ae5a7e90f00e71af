"""Quotients and logarithms that entropies, densities and mixed logarithms need at zero.

>>> float(xdivy(0.0, 0.0)), float(log_quotient(0.0, 0.0))
(0.0, 0.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np


def xdivy(x: Any, y: Any) -> Any:
    """``x / y``, and zero where ``x`` is zero, whatever ``y`` is there."""
    if type(x) is float and type(y) is float:
        return x / y if x and y else 0.0 if not x else np.divide(x, y)
    zero = np.equal(x, 0)
    if not np.any(zero):
        return np.divide(x, y)
    safe = np.where(zero, np.ones_like(y), y)
    return np.divide(x, safe)[()]


def log_quotient(x: Any, y: Any) -> Any:
    """``log(x / y)``, and zero where both are zero."""
    both = np.equal(x, 0) & np.equal(y, 0)
    if not np.any(both):
        return np.log(np.divide(x, y))
    return np.log(np.divide(np.where(both, np.ones_like(x), x), np.where(both, np.ones_like(y), y)))[()]


def xmuly(x: Any, y: Any) -> Any:
    """``x * y``, and zero where ``x`` is zero, whatever ``y`` is there."""
    if type(x) is float and type(y) is float:
        return x * y if x else 0.0
    zero = np.equal(x, 0)
    if not np.any(zero):
        return np.multiply(x, y)
    return np.multiply(x, np.where(zero, np.ones_like(y), y))[()]


def xlogy_slope(x: Any, y: Any) -> Any:
    """The derivative of ``xlogy(x, y)`` by ``x``: log(y), zero where x is zero and y has no logarithm."""
    return np.log(_inside(x, y, 0.0))


def xlog1py_slope(x: Any, y: Any) -> Any:
    """The derivative of ``xlog1py(x, y)`` by ``x``: log(1 + y), zero where x is zero and 1 + y has no logarithm."""
    return np.log1p(_inside(x, y, -1.0))


def _inside(x: Any, y: Any, bound: float) -> Any:
    """``y``, but a point whose logarithm is zero where x is zero and y does not lie beyond the bound."""
    outside = np.equal(x, 0) & (np.equal(y, bound) if np.iscomplexobj(y) else np.less_equal(y, bound))
    return np.where(outside, np.ones_like(y) + bound, y)[()] if np.any(outside) else y
