"""Slopes of elementary functions that a plain formula gets wrong at zeros, ties and bounds."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np


def safe_divide(x: Any, y: Any) -> Any:
    """``x / y``, and zero where ``y`` is zero: the subgradient 0 of norms and standard deviations at 0."""
    if type(y) is float and type(x) is float:
        return x / y if y else 0.0
    zero = np.equal(y, 0)
    if not np.any(zero):
        return x / y
    result = np.divide(x, np.where(zero, np.ones_like(y), y))
    return np.where(zero, np.zeros_like(result), result)[()]


def wins(x1: Any, x2: Any) -> Any:
    """The share of ``x1`` in ``max(x1, x2)``: one where it is greater, a half where they are equal, else zero."""
    if type(x1) is float and type(x2) is float:
        return 1.0 if x1 > x2 else 0.5 if x1 == x2 else 0.0
    greater = np.greater(x1, x2)
    dtype = _FLOAT64 if getattr(x1, "dtype", None) == _FLOAT64 else np.result_type(x1, x2, np.float16)
    share = np.asarray(greater, dtype)
    if np.count_nonzero(greater) + np.count_nonzero(np.less(x1, x2)) != greater.size:  # ties, or nan
        share[np.equal(x1, x2)] = 0.5
    return share if share.ndim else share[()]


_FLOAT64 = np.dtype(np.float64)


def is_within(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``a``, bounds included."""
    inside = np.True_ if low is None else np.greater_equal(a, low)
    return inside if high is None else inside & np.less_equal(a, high)


def is_below(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``low``."""
    below = np.less(a, low)
    return below if high is None else below & np.less_equal(low, high)


def is_above(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``high``."""
    above = np.greater(a, high)
    return above if low is None else above | np.greater(low, high)


@lru_cache(maxsize=64)
def _falling(m: int, j: int) -> tuple[float, ...]:
    """The j-th derivative of p(p - 1)...(p - m + 1), as coefficients of a polynomial in p, highest first."""
    polynomial = [1.0]
    for root in range(m):
        polynomial = [a - root * b for a, b in zip([*polynomial, 0.0], [0.0, *polynomial])]
    for _ in range(j):
        degree = len(polynomial) - 1
        polynomial = [c * (degree - i) for i, c in enumerate(polynomial[:-1])]
    return tuple(polynomial)


def _polynomial(coefficients: tuple[float, ...], p: Any) -> Any:
    result: Any = 0.0
    for c in coefficients:
        result = result * p + c
    return result


def power_partial(x: Any, p: Any, m: int, n: int) -> Any:
    """The derivative of ``x ** p``, m times by x and n times by p, with its limits at ``x = 0`` and ``p = 0, 1, ...``.

    By x: p(p-1)...(p-m+1) x**(p-m), zero where the product is zero although x**(p-m) is not finite; each derivative
    by p brings a factor log(x), which a positive power of x = 0 outweighs.
    """
    if n == 0 and m == 1 and isinstance(p, int | float):
        if not p:
            return 0.0 * x
        if isinstance(x, float) and (x or p >= 1):
            return p * x ** (p - 1)
    if n == 0 and isinstance(p, int | float) and getattr(x, "dtype", np.dtype(int)).kind == "f":
        factor = _polynomial(_falling(m, 0), p)
        return factor * x ** (p - m) if factor else 0.0 * x
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        exponent = np.subtract(p, m)
        if np.asarray(exponent).dtype.kind in "iu" and np.any(np.less(exponent, 0)):
            exponent = np.asarray(exponent, np.result_type(x, 0.0))[()]
        power = np.power(x, exponent)
        log = np.log(x) if n else 0.0
        total: Any = 0.0
        for j in range(n + 1):
            factor = math.comb(n, j) * _polynomial(_falling(m, j), p)
            term = factor * power
            for _ in range(n - j):
                term = np.where((np.equal(x, 0) & np.greater(exponent, 0)) | np.equal(term, 0), 0 * term, term * log)
            total = total + np.where(np.equal(factor, 0), 0 * np.ones_like(term), term)
    dtype = np.result_type(x, p, 0.0)
    return np.asarray(total, dtype)[()]


def sinc_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of ``np.sinc``, by its power series near zero."""
    t = np.pi * np.asarray(x)
    near = np.abs(t) < 2.0 + n
    safe = np.where(near, np.ones_like(t), t)
    # (sin t / t)^(n) = sum_k C(n,k) sin^(k)(t) (1/t)^(n-k)
    far = sum(
        math.comb(n, k)
        * np.sin(safe + k * (np.pi / 2))
        * ((-1) ** (n - k) * math.factorial(n - k))
        / safe ** (n - k + 1)
        for k in range(n + 1)
    )
    small = np.where(near, t, np.zeros_like(t))
    series: Any = np.zeros_like(small)
    for k in range((n + 1) // 2, 22 + n):
        power = 2 * k - n
        series = series + (-1) ** k / math.factorial(2 * k + 1) * math.perm(2 * k, n) * small**power
    return (np.pi**n * np.where(near, series, far)).astype(t.dtype)[()]


def polygamma(n: int, x: Any) -> Any:
    """The (n+1)-th derivative of log Γ, by recurrence to x >= 15 + n and the asymptotic series (DLMF 5.15.8-9)."""
    x = float(x)
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        return _reflected(n, x)
    total = 0.0
    sign = -1.0 if n % 2 == 0 else 1.0  # (-1)^(n+1)
    while x < 15 + n:
        total += math.factorial(n) / x ** (n + 1)
        x += 1.0
    if n == 0:
        series = -math.log(x) + 0.5 / x
        series += sum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(_BERNOULLI, 1))
    else:
        series = math.factorial(n - 1) / x**n + math.factorial(n) / (2 * x ** (n + 1))
        series += sum(
            b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
            for k, b in enumerate(_BERNOULLI, 1)
        )
    return sign * (total + series)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


def _reflected(n: int, x: float) -> float:
    """psi_n(1 - x) - (-1)^n psi_n(x) = (-1)^n pi d^n/dx^n cot(pi x), DLMF 5.15.6; cot^(n) is a polynomial in cot."""
    cot = 1 / math.tan(math.pi * x)
    polynomial = np.poly1d([1.0, 0.0])
    for _ in range(n):
        polynomial = np.poly1d([-1.0, 0.0, -1.0]) * np.polyder(polynomial)
    slope = math.pi ** (n + 1) * float(polynomial(cot))
    return float((-1) ** n * polygamma(n, 1 - x) - slope)
