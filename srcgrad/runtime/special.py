"""Families of special functions that hold their own derivatives: of sinc, of the gamma function, of Bessel's I."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np


# --- sin x / x -------------------------------------------------------------------------------------------------------
def sinc_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of ``np.sinc``, by its power series near zero."""
    t = np.pi * x if isinstance(x, np.ndarray) else np.pi * np.asarray(x)[()]
    near = np.abs(t) < n / 2 - 0.2  # beyond, the other formula cancels a digit or less
    count = np.count_nonzero(near)
    if not count:
        value = _far(t, n)
    elif count == near.size:
        value = _near(t, n)
    else:
        value = _far(t + near * (2 + n), n)
        value[near] = _near(t[near], n)
    return (np.pi**n * value).astype(t.dtype, copy=False)


def _far(t: Any, n: int) -> Any:
    """(sin t / t)^(n) = sum_k C(n,k) sin^(k)(t) (1/t)^(n-k)."""
    if n == 1:
        return (np.cos(t) - np.sin(t) / t) / t
    return sum(
        math.comb(n, k) * np.sin(t + k * (np.pi / 2)) * ((-1) ** (n - k) * math.factorial(n - k)) / t ** (n - k + 1)
        for k in range(n + 1)
    )


def _near(t: Any, n: int) -> Any:
    """sum_k (-1)^k t^(2k-n) / (2k+1)! * (2k)!/(2k-n)!, by Horner's scheme in t * t."""
    last, *others, first = _sinc_series(n)
    square = t * t
    value = square * last
    for c in others:
        value += c
        value *= square
    value += first
    return value * t if n % 2 else value


@lru_cache(maxsize=16)
def _sinc_series(n: int) -> tuple[float, ...]:
    """The coefficients of the series, the highest power first."""
    first = (n + 1) // 2
    places = range(first + 4 + 2 * n, first - 1, -1)
    return tuple((-1) ** k * math.perm(2 * k, n) / math.factorial(2 * k + 1) for k in places)


# --- the gamma function ----------------------------------------------------------------------------------------------
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


# --- Bessel's functions ----------------------------------------------------------------------------------------------
def bessel_i(n: int, x: Any) -> Any:
    """The modified Bessel function I_n, n an integer: its power series (DLMF 10.25.2), for large x 10.40.1."""
    given = np.asarray(x)
    dtype = given.dtype if given.dtype.kind == "f" else np.dtype(np.float64)
    a = np.abs(given).astype(np.result_type(dtype, np.float64))
    order = abs(n)
    far = a > max(30, order * order)
    value = _ascending(order, np.where(far, 0.0, a))
    if np.any(far):
        value = np.where(far, _asymptotic(order, np.where(far, a, 30.0)), value)
    if order % 2:
        value = np.copysign(value, given)
    return value.astype(dtype)[()]


def _ascending(n: int, a: Any) -> Any:
    """(a/2)^n sum_k (a^2/4)^k / (k! (n+k)!): no term is negative, so that nothing cancels."""
    quarter = a * a / 4
    term = (a / 2) ** n / math.factorial(n)
    total = term
    largest = float(np.max(quarter, initial=0.0, where=np.isfinite(quarter)))
    weight, k = 1.0, 0  # of the term in its sum, where the argument is largest
    bound = 1.0
    while weight > 1e-20 * bound:
        k += 1
        term = term * quarter / (k * (n + k))
        total = total + term
        weight *= largest / (k * (n + k))
        bound += weight
    return total


def _asymptotic(n: int, a: Any) -> Any:
    """e^a / sqrt(2 pi a) * sum_k (-1)^k (4n^2 - 1)(4n^2 - 9)...(4n^2 - (2k-1)^2) / (k! (8a)^k)."""
    term: Any = np.ones_like(a)
    total: Any = term
    for k in range(1, 26):
        term = term * ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k * a)
        total = total + term
    half = np.exp(a / 2)  # twice, since e^a overflows before the quotient does
    return half / np.sqrt(2 * np.pi * a) * half * total
