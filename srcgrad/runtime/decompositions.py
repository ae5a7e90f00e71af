"""Parts of the derivatives of matrix decompositions: triangles, gaps between eigenvalues, what is arbitrary in vectors.

The transpose of a matrix that is read from one triangle goes to that triangle:

>>> to_triangle(np.ones((2, 2)))
array([[1., 0.],
       [2., 1.]])
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedValue


# --- triangles -------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=64)
def _weights(n: int, lower: bool, dtype: str) -> Any:
    """1 in a triangle, 1/2 on the diagonal, 0 in the other triangle; read only."""
    result = np.tri(n, k=-1, dtype=dtype)
    result[np.arange(n), np.arange(n)] = 0.5
    result.flags.writeable = False
    return result if lower else result.T


def _in_triangle(x: Any, lower: bool) -> Any:
    return x * _weights(x.shape[-1], lower, x.real.dtype.char)


def hermitian_sum(x: Any) -> Any:
    """The sum of matrices and their conjugate transposes."""
    turned = x.mT
    return x + (turned.conj() if x.dtype.kind == "c" else turned)


def from_triangle(a: Any, UPLO: str = "L") -> Any:
    """The Hermitian matrices that ``np.linalg.eigh(a, UPLO)`` sees: one triangle, and the real part of the diagonal."""
    return hermitian_sum(_in_triangle(np.asarray(a), UPLO in "Ll"))


def to_triangle(g: Any, UPLO: str = "L") -> Any:
    """The cotangent of ``a`` where ``g`` is that of ``from_triangle(a, UPLO)``: zeros in the triangle not read."""
    return _in_triangle(hermitian_sum(np.asarray(g)), UPLO in "Ll")


def half_triangle(x: Any, upper: bool = False) -> Any:
    """One triangle with half of the diagonal: what of a Hermitian x is l in x = l + l^H."""
    return _in_triangle(x, not upper)


_BLOCK = 64  # rows of a triangle below which a general solver takes no longer than the products that would save it


def solve_triangle(a: Any, b: Any, upper: bool = False) -> Any:
    """The solutions x of a x = b, for matrices ``a`` (..., n, n) of which the lower triangle is read, or the upper one
    (``upper``), and ``b`` (..., n, m) with the same axes in front.

    Halves of the rows one after the other, so that nearly all of the work is products of matrices (Golub and Van Loan,
    Matrix Computations, 3.1.4): NumPy has no solver for triangles, and factors a general matrix anew.
    """
    n = a.shape[-1]
    if n <= _BLOCK:
        return np.linalg.solve(np.triu(a) if upper else np.tril(a), b)
    k = n // 2
    if upper:
        last = solve_triangle(a[..., k:, k:], b[..., k:, :], upper)
        first = solve_triangle(a[..., :k, :k], b[..., :k, :] - a[..., :k, k:] @ last, upper)
    else:
        first = solve_triangle(a[..., :k, :k], b[..., :k, :])
        last = solve_triangle(a[..., k:, k:], b[..., k:, :] - a[..., k:, :k] @ first)
    return np.concatenate((first, last), axis=-2)


# --- gaps between eigenvalues ----------------------------------------------------------------------------------------
def ratio(x: Any, y: Any) -> Any:
    """``x / y``; where ``y`` is zero, zero if ``x`` is, too, and else nan: an infinite slope that something follows."""
    zero = np.equal(y, 0)
    if not zero.any():
        return x / y
    result = np.asarray(x / np.where(zero, np.ones_like(y), y))
    result[np.broadcast_to(zero, result.shape) & np.not_equal(x, 0)] = np.nan
    return result


def scaled(x: Any, w: Any) -> Any:
    """``x * w``, and zero where ``w`` is zero, whatever ``x`` is."""
    zero = np.equal(w, 0)
    return np.where(zero, np.zeros_like(x), x) * w if zero.any() else x * w


def weighted(u: Any, w: Any, v: Any) -> Any:
    """``(u * w) @ v``, where columns of ``u`` and rows of ``v`` without weight do not count, be they nan."""
    zero = np.equal(w, 0)
    if zero.any():
        u = np.where(zero[..., None, :], np.zeros_like(u), u)
        v = np.where(zero[..., :, None], np.zeros_like(v), v)
    return (u * w[..., None, :]) @ v


def widen(w: Any, n: int) -> Any:
    """``w`` with zeros after it, n places along the last axis."""
    if w.shape[-1] == n:
        return w
    result = np.zeros((*w.shape[:-1], n), w.dtype)
    result[..., : w.shape[-1]] = w
    return result


def pair_differences(w: Any, n: int | None = None) -> Any:
    """Matrices of ``w[j] - w[i]``, where ``w`` has zeros after it up to n places."""
    if n is not None:
        w = widen(w, n)
    return w[..., None, :] - w[..., :, None]


def unpair_differences(g: Any, w: Any) -> Any:
    """The cotangent of ``w`` where ``g`` is that of ``pair_differences(w, n)``."""
    count = w.shape[-1]
    return (g.sum(axis=-2) - g.sum(axis=-1))[..., :count]


def over_gaps(x: Any, w: Any) -> Any:
    """``x[i, j] / (w[j] - w[i])``, where ``w`` counts as zero after its end: how fast vectors turn into each other.

    Zero where no turn is to be seen, on the diagonal and among what is after w, and where nothing asks for one; where
    one is asked for between equal values, it is nan.
    """
    gaps = pair_differences(w, x.shape[-1])
    count, size = w.shape[-1], x.shape[-1]
    places = np.arange(size)
    gaps[..., places, places] = np.inf
    if size > count:
        gaps[..., count:, count:] = np.inf
    return ratio(x, gaps)


# --- what is arbitrary in vectors ------------------------------------------------------------------------------------
def phase_free(g: Any, other: Any = None, count: int | None = None) -> Any:
    """``g = v.mT @ v_bar`` itself, where a function of complex unit vectors v does not depend on their phases.

    ``other`` is the same of vectors that share the phases of the first ``count``.  ValueError where it does depend.
    """
    if g.dtype.kind == "c":
        turn = np.diagonal(g, axis1=-2, axis2=-1)[..., :count].imag
        if other is not None:
            turn = turn + np.diagonal(other, axis1=-2, axis2=-1)[..., :count].imag
        _require_small(turn, g, "the phases of complex vectors, which are arbitrary: use what does not depend on them")
    return g


def basis_free(g: Any, count: int) -> Any:
    """``g = v.mT @ v_bar`` itself, where a function of orthonormal vectors v does not depend on which basis of their
    space those from ``count`` on are.  ValueError where it does."""
    if g.shape[-1] > count + (g.dtype.kind != "c"):
        rest = g[..., count:, count:]
        _require_small(rest - np.conjugate(rest.mT), g, "the basis of a null space, which is arbitrary")
    return g


def _require_small(x: Any, g: Any, reason: str) -> None:
    """Small against rounding errors of ``g``, and against 1 where all of ``g`` is rounding errors."""
    epsilon = np.finfo(g.dtype).eps
    largest = np.abs(g).max(initial=0.0)
    if np.abs(x).max(initial=0.0) > epsilon ** (1 / 3) * largest + epsilon**0.5:
        raise RefusedValue("E0707", f"np.linalg: a derivative that depends on {reason}")


def _anchor(v: Any) -> tuple[Any, Any]:
    """For each column its greatest component among those that are real, and its reciprocal (0 where there is none)."""
    size = np.where(v.imag == 0, np.abs(v.real), 0)
    place = np.argmax(size, axis=-2)[..., None, :]
    value = np.take_along_axis(v.real, place, axis=-2)
    there = np.take_along_axis(size, place, axis=-2) > 0
    return place, np.where(there, 1 / np.where(there, value, 1), 0)


def anchors(v: Any) -> Any:
    """The reciprocal of the greatest component that is real in each column, in its place among zeros; for real columns,
    which have no phase, zeros."""
    result = np.zeros(v.shape, v.real.dtype)
    if v.dtype.kind == "c":
        place, reciprocal = _anchor(v)
        np.put_along_axis(result, place, reciprocal, axis=-2)
    return result


def keep_real(d: Any, v: Any) -> Any:
    """A motion ``d`` of columns ``v`` without the turn in the complex plane that their anchors would make with it.

    LAPACK's ``geev`` turns each eigenvector so that its greatest component is real.
    """
    if v.dtype.kind != "c":
        return d
    place, reciprocal = _anchor(v)
    turn = np.take_along_axis(d, place, axis=-2).imag * reciprocal
    return d - 1j * v * turn


def unkeep_real(g: Any, v: Any) -> Any:
    """The cotangent of ``d`` where ``g`` is that of ``keep_real(d, v)``."""
    if v.dtype.kind != "c":
        return g
    place, reciprocal = _anchor(v)
    slack = np.sum(v * g, axis=-2, keepdims=True).imag
    result = np.array(g, v.dtype)
    at = np.take_along_axis(result, place, axis=-2)
    np.put_along_axis(result, place, at - 1j * slack * reciprocal, axis=-2)
    return result


def twist(x: Any, w: Any) -> Any:
    """The imaginary part of the diagonal of ``x`` over ``w``, on a diagonal: the phase between two sets of vectors."""
    result = np.zeros_like(x)
    if x.dtype.kind == "c":
        places = np.arange(w.shape[-1])
        result[..., places, places] = 1j * ratio(x[..., places, places].imag, w)
    return result


def outside(g: Any, u: Any) -> Any:
    """What of the columns of ``g`` is orthogonal to the orthonormal columns of ``u``: exact zeros where u is square."""
    if u.shape[-1] == u.shape[-2]:
        return np.zeros_like(g)
    turned = u.mT
    return g - u @ ((turned.conj() if u.dtype.kind == "c" else turned) @ g)


# --- eigenvalues and singular values ---------------------------------------------------------------------------------
def matching(found: Any, wanted: Any) -> Any:
    """The order in which the eigenvalues ``found`` are those ``wanted``."""
    count = wanted.shape[-1]
    if np.array_equal(found, wanted):
        return np.broadcast_to(np.arange(count), wanted.shape)
    order = np.empty(wanted.shape, np.intp)
    for batch in np.ndindex(wanted.shape[:-1]):
        distance = np.abs(wanted[batch][:, None] - found[batch])
        for i in range(count):
            order[(*batch, i)] = nearest = int(np.argmin(distance[i]))
            distance[:, nearest] = np.inf
    return order


def extreme_share(s: Any, largest: bool) -> Any:
    """The share of each singular value in the greatest (or the least) one: equals share, zeros have none."""
    extreme = s.max(axis=-1, keepdims=True) if largest else s.min(axis=-1, keepdims=True)
    share = np.asarray((s == extreme) & (s > 0), s.dtype)
    return share / np.maximum(share.sum(axis=-1, keepdims=True), 1)


def polar(a: Any) -> Any:
    """The unitary factor u v^H of ``a = u s v^H``, without the directions in which ``a`` is zero."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u * (s > 0)[..., None, :]) @ vh
