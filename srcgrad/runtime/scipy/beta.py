"""The density of the beta distribution, and the incomplete beta function by its parameters.

>>> round(float(betainc_slope(2.0, 3.0, 0.4, 1, 0)), 12)
-0.240869376088
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.scipy.gamma import digamma_slope
from srcgrad.runtime.scipy.quadrature import integrated, result_dtype, stirling


def beta_density(a: Any, b: Any, x: Any, m: int = 0, n: int = 0) -> Any:
    """The density of the beta distribution, x**(a-1) (1-x)**(b-1) / B(a, b), differentiated m times by a, n by b.

    Zero outside of [0, 1].  It is the derivative of ``scipy.special.betainc`` by x (DLMF 8.17.1); parameters that are
    both large meet Stirling's series, so that no large numbers cancel.
    """
    dtype = result_dtype(a, b, x)
    a, b, x = (np.asarray(v, np.float64) for v in (a, b, x))
    with np.errstate(all="ignore"):
        inside = (x > 0) & (x < 1)
        safe = np.where(inside, x, 0.5)
        value = np.exp(_log_weight(a, b, safe)) / (safe * (1 - safe))
        if m or n:
            value = value * _polynomial(a, b, np.log(safe), np.log1p(-safe), m, n)
            edge = np.zeros_like(value)
        else:
            edge = np.where(x == 0, _edge(a, b), np.where(x == 1, _edge(b, a), 0.0))
    return np.asarray(np.where(np.isnan(x), np.nan, np.where(inside, value, edge)), dtype)[()]


def _edge(a: Any, b: Any) -> Any:
    """The density at zero."""
    return np.where(a == 1, b, np.where(a < 1, np.inf, 0.0))


def _log_weight(a: Any, b: Any, x: Any) -> Any:
    """log(x**a (1-x)**b / B(a, b))."""
    plain = a * np.log(x) + b * np.log1p(-x) - special.betaln(a, b)
    large = (a > 15) & (b > 15)
    if not np.any(large):
        return plain
    c, d = np.where(large, a, 15.0), np.where(large, b, 15.0)
    s = c + d
    p = c / s
    left, right = (x - p) / p, (p - x) / (1 - p)
    log = c * np.where(left < -0.5, np.log(x / p), np.log1p(left))
    log = log + d * np.where(right < -0.5, np.log((1 - x) / (1 - p)), np.log1p(right))
    log = log + 0.5 * np.log(c / (2 * np.pi) * (d / s)) + stirling(s) - stirling(c) - stirling(d)
    return np.where(large, log, plain)


def _polynomial(a: Any, b: Any, log_x: Any, log_y: Any, m: int, n: int) -> Any:
    """The m-th derivative by a and n-th by b of the density, divided by it, from those of its logarithm."""
    total = [digamma_slope(a + b, k) for k in range(m + n)]
    by_a = [digamma_slope(a, k) for k in range(m)]
    by_b = [digamma_slope(b, k) for k in range(n)]

    def slope(i: int, j: int) -> Any:
        made = total[i + j - 1]
        if j == 0:
            made = made - by_a[i - 1] + (log_x if i == 1 else 0.0)
        if i == 0:
            made = made - by_b[j - 1] + (log_y if j == 1 else 0.0)
        return made

    if m < 0 or n < 0:
        return 0.0
    made: dict[tuple[int, int], Any] = {(0, 0): 1.0}
    for j in range(n + 1):
        for i in range(m + 1):
            if (i, j) == (0, 0):
                continue
            # one more derivative of the product of the slope and what was made, by a where there is one, else by b
            p, q = (i - 1, j) if i else (i, j - 1)
            made[i, j] = sum(
                math.comb(p, k) * math.comb(q, h) * slope(k + (i > 0), h + (i == 0)) * made[p - k, q - h]
                for k in range(p + 1)
                for h in range(q + 1)
            )
    return made[m, n]


def betainc_slope(a: Any, b: Any, x: Any, m: int, n: int) -> Any:
    """The regularized incomplete beta function, ``scipy.special.betainc``, differentiated m times by a, n times by b.

    The density times a polynomial in log t and log(1-t) is integrated over logit t, from x away from the bulk, so that
    nothing cancels, with the parameter on that side raised by one (the recurrence DLMF 8.17.20).
    """
    dtype = result_dtype(a, b, x)
    a, b, x = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, x)))
    valid = (a > 0) & (b > 0) & ~np.isnan(x)
    known = valid & (x > 0) & (x < 1) & (a < np.inf) & (b < np.inf)
    result = np.where(valid, 0.0, np.nan)
    with np.errstate(all="ignore"):
        left = known & (x * (a + b) <= a)
        if np.any(left):
            result[left] = _tail_slope(a[left], b[left], x[left], 1 - x[left], m, n)
        right = known & ~left
        if np.any(right):
            result[right] = -_tail_slope(b[right], a[right], 1 - x[right], x[right], n, m)
    return np.asarray(result, dtype)[()]


def _tail_slope(a: Any, b: Any, x: Any, y: Any, m: int, n: int) -> Any:
    c = a + 1
    log_x, log_y = np.log(x), np.log(y)
    place = log_x - log_y

    def logarithms(w: Any) -> tuple[Any, Any]:
        return -np.logaddexp(0.0, w - place), -np.logaddexp(0.0, place - w)  # of t and 1 - t

    def fall(w: Any) -> Any:
        log_t, log_s = logarithms(w)
        return c * (log_x - log_t) + b * (log_y - log_s)

    def steep(w: Any) -> Any:
        log_t, log_s = logarithms(w)
        return c * np.exp(log_s) - b * np.exp(log_t)

    def polynomial(w: Any) -> Any:
        return _polynomial(c, b, *logarithms(w), m, n)

    bound = (45 - (c + b) * log_y) / c
    total = np.exp(_log_weight(c, b, x)) * integrated(fall, steep, polynomial, bound)
    # x**a y**b / (a B(a, b)), whose parameters are those of gamma functions at a + 1, b and a + b
    return total + _remainder(a, b, x, log_x, log_y, m, n)


def _remainder(a: Any, b: Any, x: Any, log_x: Any, log_y: Any, m: int, n: int) -> Any:
    """``x**a y**b / (a B(a, b))``, differentiated: the product of the density's weight and 1 / a."""
    weight = np.exp(_log_weight(a, b, x))
    total: Any = 0.0
    for k in range(m + 1):
        inverse = (-1) ** k * math.factorial(k) / a ** (k + 1)
        total = total + math.comb(m, k) * inverse * _polynomial(a, b, log_x, log_y, m - k, n)
    return weight * total
