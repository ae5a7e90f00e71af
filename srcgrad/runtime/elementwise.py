"""Slopes of elementary functions that a plain formula gets wrong at zeros, ties, bounds and infinities."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any, Literal

import numpy as np

_MANY = 4096  # elements from which a product that is looked at afterwards is faster than a choice at each


# --- quotients -------------------------------------------------------------------------------------------------------
def quotient(x: Any, y: Any) -> Any:
    """``x / y``, where ``y`` may be a zero of Python's: infinite as NumPy's quotient is, instead of an exception."""
    if y.__class__ is not np.ndarray and not y:
        return _quotient_by_zero(x, y)
    return x / y


def _quotient_by_zero(x: Any, y: Any) -> Any:
    """Warns at the line that divides, which is the caller's caller, where NumPy would warn in this one."""
    kind: Literal["divide", "invalid"] = "divide" if np.all(x) else "invalid"
    if np.geterr()[kind] == "warn" and np.ndim(x) == 0 and np.isfinite(x):
        told = {"divide": "divide by zero", "invalid": "invalid value"}[kind]
        warnings.warn(f"{told} encountered in divide", RuntimeWarning, stacklevel=3)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _quotient_by_zero(x, y)
    try:
        return x / y
    except ZeroDivisionError:
        return np.divide(x, y).item()


def safe_divide(x: Any, y: Any) -> Any:
    """``x / y``, and zero where ``y`` is zero: the subgradient 0 of norms and standard deviations at 0."""
    if isinstance(y, float) and isinstance(x, float):
        return x / y if y else 0.0
    zero = np.equal(y, 0)
    if not np.any(zero):
        return x / y
    result = np.divide(x, np.where(zero, np.ones_like(y), y))
    return np.where(zero, np.zeros_like(result), result)[()]


def angle_slope(y: Any, x: Any) -> Any:
    """``x / (x * x + y * y)``, how fast the angle of (x, y) turns with y; zero at the origin.

    Where the squares leave the range of the dtype the length of (x, y) serves.
    """
    if type(x) is float and type(y) is float:
        r = math.hypot(x, y)
        return x / r / r if r else 0.0
    with np.errstate(over="ignore", under="ignore"):
        square = np.add(np.multiply(x, x), np.multiply(y, y))
    if square.size and square.min() > _TINY.get(square.dtype.char, np.inf) and square.max() < np.inf:
        return x / square
    radius = np.hypot(x, y)
    zero = np.equal(radius, 0)
    if np.any(zero):
        radius = np.where(zero, np.ones_like(radius), radius)  # x is zero there, too
    return x / radius / radius


_TINY = {c: np.finfo(c).tiny / np.finfo(c).eps for c in "efdg"}  # a smaller square has lost digits


def half_circle(x: Any) -> Any:
    """``sqrt(1 - x * x)``, which is ``cos(arcsin(x))`` on both sides of the cuts of the complex arcsine."""
    if np.asarray(x).dtype.kind == "c":
        # 1 - x and 1 + x, with the signs of zero that tell the sides of a cut apart.
        return np.sqrt(-(x - 1.0)) * np.sqrt(-(-x - 1.0))
    return np.sqrt((1.0 - x) * (1.0 + x))


# --- shares of extrema -----------------------------------------------------------------------------------------------
def wins(x1: Any, x2: Any) -> Any:
    """The share of ``x1`` in ``np.maximum(x1, x2)``: 0 where it is less, a half where they are equal, else 1.

    Where one of them is nan, both win: a cotangent of nan reaches both.  Of arrays without equal elements these are
    truth values, which take an eighth of the memory.
    """
    if type(x1) is float and type(x2) is float:
        return 0.0 if x1 < x2 else 0.5 if x1 == x2 else 1.0
    share = np.asarray(np.logical_not(np.less(x1, x2)))
    equal = np.equal(x1, x2)
    if share.ndim and not np.any(equal):
        return share
    share = share.astype(_share_dtype(x1, x2))
    share[equal] = 0.5
    return share if share.ndim else share[()]


def prevails(x1: Any, x2: Any, least: bool = False) -> Any:
    """The share of ``x1`` in ``np.fmax(x1, x2)``, or in ``np.fmin(x1, x2)``: 0 where the other is taken, or x1 alone
    is nan; two nan share."""
    share = np.asarray(wins(x2, x1) if least else wins(x1, x2))
    if share.dtype == bool:
        share = share.astype(_share_dtype(x1, x2))
    first, second = np.isnan(x1), np.isnan(x2)
    if np.any(first) or np.any(second):
        share = np.where(first & second, np.asarray(0.5, share.dtype), np.where(first, np.zeros_like(share), share))
    return share if share.ndim else share[()]


def _share_dtype(x1: Any, x2: Any) -> np.dtype[Any]:
    if getattr(x1, "dtype", None) is _FLOAT64:
        return np.dtype(np.float64)
    # Where kinds are not known, lists may be compared, in which NumPy looks for the fields of a dtype.
    x1, x2 = (np.asarray(x) if isinstance(x, list | tuple) else x for x in (x1, x2))
    return np.result_type(x1, x2, np.float16)


_FLOAT64: np.dtype[Any] = np.dtype(np.float64)


def share(x1: Any, x2: Any, rate: float = 1.0) -> Any:
    """``1 / (1 + exp(rate * (x2 - x1)))`` without overflow, the share of exp(x1) in exp(x1) + exp(x2) at rate 1; equal
    arguments share, infinite ones too."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.subtract(x2, x1)
        result = 1.0 / (1.0 + np.exp(difference if rate == 1.0 else rate * difference))
    if np.isnan(np.sum(result)):
        result = np.where(np.equal(x1, x2), np.asarray(0.5, result.dtype), result)
    return result if np.ndim(result) else result[()]


# --- bounds ----------------------------------------------------------------------------------------------------------
def is_within(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``a``, bounds included."""
    if low is None:
        return np.True_ if high is None else np.less_equal(a, high)
    inside = np.greater_equal(a, low)
    return inside if high is None else np.logical_and(inside, np.less_equal(a, high))


def is_below(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``low``."""
    below = np.less(a, low)
    return below if high is None else below & np.less_equal(low, high)


def is_above(a: Any, low: Any, high: Any) -> Any:
    """Where ``np.clip(a, low, high)`` is ``high``."""
    above = np.greater(a, high)
    return above if low is None else above | np.greater(low, high)


def masked(g: Any, mask: Any) -> Any:
    """``g`` where ``mask`` holds, else an exact zero: inf and nan do not pass."""
    if np.size(mask) >= _MANY:  # np.where branches at every element; a product does not
        with np.errstate(invalid="ignore", over="ignore"):
            result = g * mask
            if not np.isnan(np.add.reduce(result, None)):
                return result
    return np.where(mask, g, 0.0)[()]


def where_finite(g: Any, x: Any) -> Any:
    """``g`` where ``x`` is finite, else an exact zero; the real and the imaginary part each by itself."""
    if np.asarray(x).dtype.kind != "c":
        return np.where(np.isfinite(x), g, 0.0)[()]
    real = np.where(np.isfinite(np.real(x)), np.real(g), 0.0)
    imaginary = np.where(np.isfinite(np.imag(x)), np.imag(g), 0.0)
    return (real + 1j * imaginary)[()]


# --- powers ----------------------------------------------------------------------------------------------------------
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
    result: Any = coefficients[0] if coefficients else 0.0
    for c in coefficients[1:]:
        result = result * p + c
    return result


def power_partial(x: Any, p: Any, m: int, n: int) -> Any:
    """The derivative of ``x ** p``, m times by x and n times by p, with its limits at ``x = 0`` and ``p = 0, 1, ...``.

    By x: p(p-1)...(p-m+1) x**(p-m), zero where the product is zero although x**(p-m) is not finite; each derivative
    by p brings a factor log(x), which a positive power of x = 0 outweighs.  0 ** p counts as constant for p >= 0.
    What is asked by integers, which do not vary, is zero: log(x) may be no number.
    """
    if n == 0 and isinstance(p, int | float):
        factor = p if m == 1 else _polynomial(_falling(m, 0), p)
        if type(x) is float and (x or p >= m):
            try:
                return factor * x ** (p - m) if factor else 0.0
            except OverflowError:
                pass
        if getattr(x, "dtype", _INTEGER).kind in "fc":
            return factor * x ** (p - m) if factor else np.zeros_like(x)
    if m == 0 and n == 1 and type(x) is float and type(p) is float and x > 0:
        try:
            return x**p * math.log(x)
        except OverflowError:
            pass
    if isinstance(x, list | tuple):
        x = np.asarray(x)
    if isinstance(p, list | tuple):
        p = np.asarray(p)
    dtype = np.result_type(x, p, 0.0)
    if n and np.asarray(p).dtype.kind in "iu":
        return np.zeros(np.broadcast_shapes(np.shape(x), np.shape(p)), dtype)[()]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        base, p = _widened(x, dtype), _widened(p, dtype)
        if m + n == 1 and np.asarray(p).dtype.kind in "fc":
            return np.asarray(_slope(base, p, m), dtype)[()]
        exponent = np.subtract(p, m)
        if np.asarray(exponent).dtype.kind in "iu" and np.any(np.less(exponent, 0)):
            exponent = np.asarray(exponent, np.result_type(x, 0.0))[()]
        power = np.power(base, exponent)
        log = _log(base, exponent, m) if n else 0.0
        total: Any = 0.0
        for j in range(n + 1):
            factor = math.comb(n, j) * _polynomial(_falling(m, j), p)
            term = factor * power * log ** (n - j)
            total = total + np.where(np.equal(factor, 0), np.zeros_like(term), term)
    return np.asarray(total, dtype)[()]


def _slope(x: Any, p: Any, m: int) -> Any:
    """The first derivative of ``x ** p``, by x (m = 1) or by p."""
    if m == 0:
        return np.power(x, p) * _log(x, p, 0)
    slope = np.power(x, p - 1) * p
    constant = np.equal(p, 0)
    return np.where(constant, np.zeros_like(slope), slope) if np.any(constant) else slope


_INTEGER = np.dtype(int)


def _widened(x: Any, dtype: np.dtype[Any]) -> Any:
    """``x`` in the precision of the result; an integer that meets real numbers stays one."""
    return np.asarray(x, dtype)[()] if dtype.kind == "c" or getattr(x, "dtype", _INTEGER).kind == "f" else x


def _log(x: Any, exponent: Any, m: int) -> Any:
    """log(x); where x is zero 0 if x ** exponent outweighs it, else minus infinity."""
    zero = np.equal(x, 0)
    if not np.any(zero):
        return np.log(x)
    outweighed = np.greater_equal(np.real(exponent), 0) if m == 0 else np.greater(np.real(exponent), 0)
    return np.where(zero, np.where(outweighed, 0.0, -np.inf), np.log(np.where(zero, np.ones_like(x), x)))
