"""Polynomials by their coefficients, highest first, as NumPy's ``poly`` functions have them: values, derivatives,
products, quotients, and the transposes of all of these.

>>> polyslope(np.array([1.0, 0.0, 5.0]), 3.0)
np.float64(6.0)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.convolution import narrowed, unconvolve
from srcgrad.runtime.refusals import RefusedMode


# --- alignment at the constant term ----------------------------------------------------------------------------------
def tail(g: Any, like: Any) -> Any:
    """``g`` without its first coefficients, or with zeros before them, in the length and dtype of ``like``."""
    g = np.atleast_1d(g)
    n = np.shape(like)[0] if np.shape(like) else 1
    if g.shape[1:] != np.shape(like)[1:]:
        raise RefusedMode(
            "E0708", "coefficients of several dimensions that are broadcast: give both the same further axes"
        )
    surplus = g.shape[0] - n
    if surplus < 0:
        padded = np.zeros((n, *g.shape[1:]), g.dtype)
        padded[-surplus:] = g
        return narrowed(padded, like)
    return narrowed(g[surplus:] if surplus else g, like)


# --- values ----------------------------------------------------------------------------------------------------------
def _falling(length: int, n: int, rank: int = 1) -> Any:
    """e! / (e - n)! for the exponents of ``length`` coefficients, down to n, along the first of ``rank`` axes."""
    factors = [float(math.perm(e, n)) for e in range(length - 1, n - 1, -1)]
    return np.reshape(np.asarray(factors), (-1,) + (1,) * (rank - 1))


def polyslope(p: Any, x: Any, n: int = 1) -> Any:
    """The n-th derivative by ``x`` of ``np.polyval(p, x)``; axes of ``p`` after the first broadcast with ``x``."""
    p, x = np.asarray(p), np.asarray(x)
    if len(p) <= n:
        return np.zeros(np.broadcast_shapes(p.shape[1:], x.shape), np.result_type(p, x))[()]
    return np.polyval(p[: len(p) - n] * _falling(len(p), n, p.ndim).astype(p.dtype), x)


def unpolyval(g: Any, p: Any, x: Any, n: int = 0) -> Any:
    """The cotangent of ``p`` where ``g`` is that of the n-th derivative by ``x`` of ``np.polyval(p, x)``."""
    given, g, p, x = p, np.asarray(g), np.asarray(p), np.asarray(x)
    result = np.zeros(p.shape, np.result_type(g, x))
    if p.ndim == 1:
        flat, step = g.ravel(), x.ravel()
        power = np.ones(x.size, x.dtype)
        for e in range(n, len(p)):
            result[len(p) - 1 - e] = np.dot(flat, power)
            power = power * step
    else:
        term = g
        for e in range(n, len(p)):
            result[len(p) - 1 - e] = unbroadcast(term, result[0])
            term = term * x
    if n:
        result[: len(p) - n] *= _falling(len(p), n, p.ndim)
    return narrowed(result, given)


def root_count(seq_of_zeros: Any) -> int:
    """How many roots ``np.poly`` is given; a matrix raises, and so does nothing."""
    if np.ndim(seq_of_zeros) != 1:
        raise RefusedMode("E0708", "np.poly: the derivative by a matrix is not known; take np.linalg.eigvals of it")
    if not len(seq_of_zeros):
        raise RefusedMode("E0707", "np.poly: no derivative is known of a polynomial without roots")
    return len(seq_of_zeros)


# --- derivatives and integrals ---------------------------------------------------------------------------------------
def unpolyder(g: Any, p: Any, m: int = 1) -> Any:
    """The cotangent of ``p`` where ``g`` is that of ``np.polyder(p, m)``."""
    result = np.zeros(np.shape(p), g.dtype)
    result[: len(g)] = g * _falling(len(p), m, np.ndim(p))[: len(g)]
    return narrowed(result, p)


def unpolyint(g: Any, p: Any, m: int = 1) -> Any:
    """The cotangent of ``p`` where ``g`` is that of ``np.polyint(p, m)``."""
    return narrowed(g[: len(p)] / _falling(len(p) + m, m, np.ndim(p)), p)


def unconstants(g: Any, k: Any, m: int = 1) -> Any:
    """The cotangent of the constants ``k`` where ``g`` is that of ``np.polyint(p, m, k)``."""
    if np.ndim(g) > 1:
        raise RefusedMode("E0708", "constants of integration of several polynomials at once")
    given = g[len(g) - m :] / np.array([math.factorial(e) for e in range(m - 1, -1, -1)], np.float64)
    return narrowed(given if np.size(k) == 1 else np.concatenate((given, np.zeros(np.size(k) - m))), k)


# --- products and quotients ------------------------------------------------------------------------------------------
def unpolymul(g: Any, a1: Any, a2: Any) -> Any:
    """The cotangent of ``a1`` where ``g`` is that of ``np.polymul(a1, a2)``, which has lost leading zeros."""
    return unconvolve(tail(g, np.empty(np.size(a1) + np.size(a2) - 1, np.result_type(g))), a1, a2)


def division(u: Any, v: Any, like: Any) -> tuple[Any, Any]:
    """The quotient and the remainder of ``u`` by ``v`` in the lengths and dtypes of those in ``like``."""
    quotient, remainder = np.polydiv(u, v)
    return tail(quotient, like[0]), tail(remainder, like[1])


def undivision(g: Any, u: Any, v: Any) -> Any:
    """The cotangent of ``u`` where ``g`` is that of the quotient and the remainder of ``u`` by ``v``, not yet narrowed.

    u = quotient * v + remainder.  The leading coefficients of u give the quotient by a triangular Toeplitz matrix,
    whose transpose is the same read backwards: a division again.
    """
    m, n = np.size(u), np.size(v)
    v = np.atleast_1d(v)
    quotient = np.zeros(1, v.dtype) if g[0] is None else np.asarray(g[0])
    remainder = np.zeros(0, v.dtype) if g[1] is None else np.asarray(g[1])
    result = np.zeros(m, np.result_type(quotient, remainder, v, np.float32))
    result[m - len(remainder) :] = remainder
    if m < n:
        return result
    steps = m - n + 1
    head = tail(quotient, result[:steps]) - unconvolve(np.where(np.arange(m) < steps, 0.0, result), result[:steps], v)
    backwards = np.concatenate((head[::-1], np.zeros(n - 1, head.dtype)))
    result[:steps] = np.polydiv(backwards, v)[0][::-1]
    return result


# --- least squares ---------------------------------------------------------------------------------------------------
def column(x: Any, like: Any) -> Any:
    """``x`` with axes of length 1 behind its own, as many as ``like`` has behind its first."""
    return np.reshape(x, np.shape(x) + (1,) * (np.ndim(like) - 1))


def uncolumn(g: Any, x: Any) -> Any:
    """``g`` summed over its axes behind the first: the cotangent of ``x`` where ``g`` is that of ``column(x, ...)``."""
    return narrowed(np.sum(g, axis=tuple(range(1, np.ndim(g)))) if np.ndim(g) > 1 else g, x)


def normal_solve(g: Any, x: Any, w: Any = None, rcond: float | None = None) -> Any:
    """Solve the normal equations of ``np.polyfit`` for the right-hand side ``g``: (V' W^2 V) z = g, V the powers of x.

    Fits that do not determine their coefficients raise; so do complex abscissas and weights, which are conjugated.
    """
    if np.iscomplexobj(x) or np.iscomplexobj(w):
        raise RefusedMode("E0708", "np.polyfit: the derivative of a fit over complex x or w is not known")
    x = np.asarray(x) + 0.0
    powers = np.vander(x, len(g))
    if w is not None:
        powers = powers * np.asarray(w)[:, np.newaxis]
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    _, s, vt = np.linalg.svd(powers / scale, full_matrices=False)
    least = (len(x) * np.finfo(x.dtype).eps if rcond is None else rcond) * s[0]
    if len(s) < len(g) or not np.all(s > least):
        raise RefusedMode("E0707", "np.polyfit: the derivative of a fit that is poorly conditioned is not known")
    scale = column(scale, g)
    return vt.T @ ((vt @ (g / scale)) / column(s * s, g)) / scale
