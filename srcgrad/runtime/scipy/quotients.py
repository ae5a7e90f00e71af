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
