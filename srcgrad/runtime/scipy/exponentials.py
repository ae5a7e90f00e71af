"""Shares of a sum of exponentials, and the exponential integral of negative order.

>>> [round(float(share), 3) for share in shares(np.array([0.0, np.log(3.0)]), np.log(4.0))]
[0.25, 0.75]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.reducing import spread_out
from srcgrad.runtime.scipy.quadrature import result_dtype


def shares(a: Any, y: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """``exp(a - y)`` for ``y = logsumexp(a, axis)``; infinite terms share plus infinity, none has minus infinity."""
    wide = spread_out(y, a, axis)  # complex where the weights of the sum are, and the terms are not
    finite = np.isfinite(wide)
    if np.all(finite):
        return np.exp(a - wide)
    result = np.exp(np.where(finite, a, 0.0) - np.where(finite, wide, 0.0))
    infinite = np.equal(a, np.inf)
    count = np.maximum(np.sum(infinite, axis=axis, keepdims=True), 1)
    rest = np.where(np.isnan(wide), np.nan, np.where(np.equal(wide, np.inf), infinite / count, 0.0))
    return np.where(finite, result, rest).astype(result.dtype)[()]


def exponential_integral(n: Any, x: Any) -> Any:
    """``scipy.special.expn`` continued to negative orders: E(-m) = gamma(m + 1, x) / x**(m + 1), DLMF 8.19.1."""
    if np.all(np.greater_equal(n, 0)):
        return special.expn(n, x)
    order = np.maximum(np.negative(n), 0) + 1
    upper = special.gammaincc(order, x) * special.gamma(order) / np.power(x, order)
    return np.where(np.greater_equal(n, 0), special.expn(np.maximum(n, 0), x), upper).astype(result_dtype(x))[()]
