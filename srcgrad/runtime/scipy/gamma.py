"""Derivatives of digamma and of the reciprocal gamma function, and the incomplete gamma function by its parameter.

>>> round(float(gammainc_slope(2.0, 1.5)), 12)
-0.313488637825
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.scipy.quadrature import integrated, logarithmic_derivatives, result_dtype, stirling

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


def digamma_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of digamma, in the dtype of ``x``; complex numbers too (DLMF 5.15, 25.11.12)."""
    if np.iscomplexobj(x):
        return _complex_slope(x, n)
    if n == 0:
        return special.digamma(x)
    return ((-1) ** (n + 1) * math.factorial(n)) * special.zeta(n + 1, x)


def _complex_slope(x: Any, n: int) -> Any:
    """Reflection to the right half plane, recurrence away from zero, the asymptotic series (DLMF 5.15.5, .6, .8)."""
    if n == 0:
        return special.digamma(x)
    given = np.asarray(x)
    left = given.real < 0.5
    z = np.where(left, 1 - given, given).astype(np.complex128)
    total = np.zeros_like(z)
    while np.any(near := z.real < 15 + n):
        total = total + np.where(near, math.factorial(n) / np.where(near, z, 1.0) ** (n + 1), 0.0)
        z = z + near
    series = math.factorial(n - 1) / z**n + math.factorial(n) / (2 * z ** (n + 1))
    for k, b in enumerate(_BERNOULLI, 1):
        series = series + b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * z ** (2 * k + n))
    value = (-1) ** (n + 1) * (total + series)
    if np.any(left):
        cot = 1 / np.tan(np.pi * np.where(left, given, 0.25))
        polynomial = np.poly1d([1.0, 0.0])
        for _ in range(n):
            polynomial = np.poly1d([-1.0, 0.0, -1.0]) * np.polyder(polynomial)
        reflected = (-1) ** n * value - np.pi ** (n + 1) * polynomial(cot)
        value = np.where(left, reflected, value)
    return value.astype(given.dtype)[()]


def rgamma_slope(x: Any, n: int = 1) -> Any:
    """The n-th derivative of 1 / gamma, an entire function, its zeros included (DLMF 5.2, 5.5.3)."""
    given = np.asarray(x)
    right = given.real > 0.5
    z = np.where(right, given, 1.0)
    slopes = [-digamma_slope(z, k) for k in range(n)]
    value = special.rgamma(z) * logarithmic_derivatives(slopes)[n]
    if not np.all(right):
        # 1 / gamma(x) = gamma(1 - x) sin(pi x) / pi, by the product rule
        z = np.where(right, 0.5, given)
        nearest = np.round(z.real)
        turn = np.pi * (z - nearest)
        sign = np.where(nearest % 2 == 0, 1.0, -1.0) / np.pi
        slopes = [(-1) ** (k + 1) * digamma_slope(1 - z, k) for k in range(n)]
        gammas = logarithmic_derivatives(slopes)
        total: Any = 0.0
        for k in range(n + 1):
            sine = (np.sin(turn), np.cos(turn), -np.sin(turn), -np.cos(turn))[k % 4]
            total = total + math.comb(n, k) * gammas[n - k] * np.pi**k * sine
        value = np.where(right, value, sign * special.gamma(1 - z) * total)
    return np.asarray(value, result_dtype(given))[()]


def multigammaln_slope(a: Any, d: int, n: int = 1) -> Any:
    """The n-th derivative by ``a`` of the logarithm of the multivariate gamma function (DLMF 35.3.4)."""
    shifted = np.asarray(a)[..., None] - 0.5 * np.arange(d)
    return np.sum(digamma_slope(shifted, n - 1), axis=-1)[()]


def gamma_density(a: Any, x: Any, n: int = 0) -> Any:
    """The density of the gamma distribution, x**(a-1) exp(-x) / gamma(a), differentiated n times by ``a``.

    Zero below zero.  It is the derivative of ``scipy.special.gammainc`` by x (DLMF 8.8.13); ``a`` that are large meet
    Stirling's series, so that no large numbers cancel.
    """
    dtype = result_dtype(a, x)
    a, x = np.asarray(a, np.float64), np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        value = _density(a, x) if n >= 0 else np.zeros(np.broadcast_shapes(a.shape, x.shape))
        if n > 0:
            log = np.log(np.where(x > 0, x, 1.0))
            value = value * logarithmic_derivatives(_slopes(a, log, n))[n]
            value = np.where(x == 0, 0.0, value)
    return np.asarray(value, dtype)[()]


def _density(a: Any, x: Any) -> Any:
    inside = x > 0
    safe = np.where(inside, x, 1.0)
    small = np.exp((a - 1) * np.log(safe) - safe) * special.rgamma(a)
    large = a > 20
    if np.any(large):
        b = np.where(large, a, 20.0)
        distance = (safe - b) / b
        ratio = np.where(distance < -0.5, np.log(safe / b), np.log1p(distance))
        log = b * (ratio - distance) - stirling(b)
        small = np.where(large, np.exp(log) * np.sqrt(b / (2 * np.pi)) / safe, small)
    edge = np.where(x == 0, np.where(a == 1, 1.0, np.where((a < 1) & (a > 0), np.inf, 0.0)), 0.0)
    return np.where(np.isnan(x), np.nan, np.where(inside & (x < np.inf), small, edge))


def _slopes(a: Any, log: Any, n: int) -> list[Any]:
    """The derivatives by ``a`` of the logarithm of the density, the first n; ``log`` is the logarithm of x."""
    return [log - special.digamma(a), *(-digamma_slope(a, k) for k in range(1, n))]


def gammainc_slope(a: Any, x: Any, n: int = 1) -> Any:
    """The n-th derivative by ``a`` of the regularized lower incomplete gamma function, ``scipy.special.gammainc``.

    The density times a polynomial in log t is integrated over log t, from x away from the bulk, so that nothing
    cancels: to the left with a + 1 and the recurrence DLMF 8.8.5, to the right as it is.
    """
    dtype = result_dtype(a, x)
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    known = (x > 0) & (x < np.inf) & (a > 0) & (a < np.inf)
    result = np.where(np.isnan(x) | ~(a > 0), np.nan, np.zeros(a.shape))
    if np.any(known):
        with np.errstate(all="ignore"):
            result[known] = _lower_slope(a[known], x[known], n)
    return np.asarray(result, dtype)[()]


def _lower_slope(a: Any, x: Any, n: int) -> Any:
    left = x < a + 0.5
    b = a + left
    log = np.log(x)
    sign = np.where(left, -1.0, 1.0)  # of the direction in which log t leaves log x
    slopes = _slopes(b, log, n)

    def fall(w: Any) -> Any:
        return x * np.expm1(sign * w) - sign * b * w

    def steep(w: Any) -> Any:
        return sign * (x * np.exp(sign * w) - b)

    def polynomial(w: Any) -> Any:
        return logarithmic_derivatives([slopes[0] + sign * w, *slopes[1:]])[n]

    bound = np.where(left, (45 + x) / b, np.minimum(np.sqrt(90 / x), np.maximum(2.0, np.log(77 / x))))
    total = x * _density(b, x) * integrated(fall, steep, polynomial, bound)
    return np.where(left, total + gamma_density(a + 1, x, n), -total)
