"""Transposes of one-dimensional convolution and correlation, in every mode of NumPy.

A cotangent is set into the full product, whose transposes are plain: with ``y = np.convolve(a, v)``, the cotangent of
``a`` is the correlation of that of ``y`` with ``v``.

>>> unconvolve(np.array([1.0, 0.0, 0.0]), np.zeros(2), np.array([3.0, 4.0]))
array([3., 0.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.containers import unarray


def narrowed(g: Any, like: Any) -> Any:
    """``g`` in the shape and dtype of ``like``, which may be a list of coefficients: then a list."""
    return unarray(g, like) if isinstance(like, list | tuple) else unbroadcast(g, like)


def _placed(g: Any, start: int, length: int) -> Any:
    """``g`` between zeros."""
    result = np.zeros(length, g.dtype)
    result[start : start + g.size] = g
    return result


def unconvolve(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.convolve(a, v, mode)``, which ``g``'s own length tells."""
    m, n = np.size(a), np.size(v)
    v = np.atleast_1d(v)
    if g.size == m + n - 1:
        result = np.correlate(g, np.conj(v), "valid")
    elif g.size == m - n + 1:
        result = np.convolve(g, v[::-1])
    else:
        # the shorter factor leaves out what is beyond the longer, at the beginning one less where it cannot be half
        start = min(m, n) - 1
        full = _placed(g, start if g.size == n - m + 1 else start // 2, m + n - 1)
        result = np.correlate(full, np.conj(v), "valid")
    return narrowed(result, a)


def _full_correlation(g: Any, m: int, n: int) -> Any:
    """``g``, the cotangent of the correlation of vectors of lengths ``m`` and ``n``, set into that of all lags."""
    length = m + n - 1
    if g.size == length:
        return g
    start = min(m, n) - 1
    if g.size != abs(m - n) + 1:
        start = (n - 1) // 2 if n <= m else m // 2
    return _placed(g, start, length)


def uncorrelate_left(g: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``np.correlate(a, v, mode)``."""
    if g.size == np.size(a) - np.size(v) + 1:
        return narrowed(np.convolve(g, np.conj(v)), a)
    return narrowed(np.convolve(_full_correlation(g, np.size(a), np.size(v)), np.conj(v), "valid"), a)


def uncorrelate_right(g: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """The cotangent of ``v``, which is conjugated, where ``g`` is that of ``np.correlate(a, v, mode)``."""
    if g.size == np.size(a) - np.size(v) + 1:
        return narrowed(np.conj(np.correlate(a, np.conj(g), "valid")), v)
    full = _full_correlation(g, np.size(a), np.size(v))
    return narrowed(np.conj(np.correlate(full, np.conj(a), "valid")[::-1]), v)


def kaiser_abscissas(M: Any) -> Any:
    """By what ``beta`` is multiplied in ``np.kaiser(M, beta)``: the half circle over the places of the window."""
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    return np.sqrt(1.0 - ((np.arange(0, M) - half) / half) ** 2.0)
