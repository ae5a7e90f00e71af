"""Linear systems of scipy.linalg: the part of a matrix that a solver reads, matrices stored by their diagonals, pivots.

A solver that is told of a structure reads one part of its matrix; the rest has the cotangent 0:

>>> unassumed(np.ones((2, 2)), np.ones((2, 2)), "pos")
array([[1., 2.],
       [0., 1.]])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.decompositions import from_triangle, to_triangle
from srcgrad.runtime.refusals import RefusedMode

_KEEPS_TRIANGLE = np.lib.NumpyVersion(scipy.__version__) < "1.18.0"
_SYMMETRIC = ("sym", "symmetric")
_HERMITIAN = ("her", "hermitian", "pos", "positive definite")


# --- matrices of which a part is read --------------------------------------------------------------------------------
def uplo(lower: Any) -> str:
    """The triangle that ``lower`` means, in the words of ``np.linalg.eigh``."""
    return "L" if lower else "U"


def _part(a: Any, assume_a: str | None) -> Any:
    match assume_a:
        case "diagonal":
            return np.triu(np.tril(a))
        case "tridiagonal":
            return np.triu(np.tril(a, 1), -1)
        case "upper triangular":
            return np.triu(a)
        case "lower triangular":
            return np.tril(a)
    return a


def assumed(a: Any, assume_a: str | None = None, lower: Any = False) -> Any:
    """The matrix that ``scipy.linalg.solve(a, b, lower, assume_a=assume_a)`` sees."""
    if assume_a in _HERMITIAN:
        return from_triangle(a, uplo(lower))
    if assume_a in _SYMMETRIC:
        half = np.tril(a) if lower else np.triu(a)
        return half + np.swapaxes(half, -1, -2) - np.triu(np.tril(a))
    return _part(a, assume_a)


def unassumed(g: Any, a: Any, assume_a: str | None = None, lower: Any = False) -> Any:
    """The cotangent of ``a`` where ``g``, perhaps of many, is that of ``assumed(a, assume_a, lower)``."""
    if not np.ndim(a) or np.shape(g)[-2:] != np.shape(a)[-2:]:
        raise RefusedMode("E0511", "scipy.linalg.solve: no derivative is known of one number in the place of a matrix")
    if assume_a in _HERMITIAN:
        return unbroadcast(to_triangle(g, uplo(lower)), a)
    if assume_a in _SYMMETRIC:
        whole = g + np.swapaxes(g, -1, -2) - np.triu(np.tril(g))
        return unbroadcast(np.tril(whole) if lower else np.triu(whole), a)
    return unbroadcast(_part(g, assume_a), a)


def in_triangle(g: Any, a: Any, lower: Any = False, unit_diagonal: Any = False) -> Any:
    """``g`` in the triangle of ``a`` that ``scipy.linalg.solve_triangular`` reads, in the shape of ``a``."""
    offset = 1 if unit_diagonal else 0
    return unbroadcast(np.tril(g, -offset) if lower else np.triu(g, offset), a)


# --- factors beside something else in one array ----------------------------------------------------------------------
def other_triangle(a: Any, lower: Any = False) -> Any:
    """What ``cho_factor(a, lower)`` keeps of ``a`` in the triangle beside its factor: since SciPy 1.18 nothing."""
    if not _KEEPS_TRIANGLE:
        return np.zeros_like(a)
    return np.triu(a, 1) if lower else np.tril(a, -1)


def _row_order(piv: Any, rank: int) -> Any:
    """The rows of a in the order in which they are those of l u: an index along the last axis but one of ``rank``."""
    piv = np.asarray(piv)
    order = np.array(np.broadcast_to(np.arange(piv.shape[-1]), piv.shape))
    for batch in np.ndindex(piv.shape[:-1]):
        rows = order[batch]
        for i, j in enumerate(piv[batch]):
            rows[i], rows[j] = rows[j], rows[i]
    return np.reshape(order, (1,) * (rank - piv.ndim - 1) + (*piv.shape, 1))


def rows_in_order(x: Any, piv: Any) -> Any:
    """Rows in the order of the factors l u."""
    return np.take_along_axis(x, _row_order(piv, np.ndim(x)), axis=-2)


def rows_in_place(x: Any, piv: Any) -> Any:
    """Rows of the factors l u where they are in the matrix."""
    return np.take_along_axis(x, np.argsort(_row_order(piv, np.ndim(x)), axis=-2), axis=-2)


def require_square(a: Any) -> Any:
    """``a`` itself, if its last two axes are equal."""
    if np.shape(a)[-1] != np.shape(a)[-2]:
        raise RefusedMode("E0708", "scipy.linalg.lu, lu_factor: the derivative is known of square matrices only")
    return a


def require_tall(a: Any) -> Any:
    """``a`` itself, if it has no more columns than rows."""
    if np.shape(a)[-1] > np.shape(a)[-2]:
        raise RefusedMode("E0708", "scipy.linalg.polar: the derivative of wide matrices is not known")
    return a


# --- matrices stored by their diagonals: ab[u + i - j, j] = a[i, j] --------------------------------------------------
def _diagonals(l_and_u: Any, n: int) -> Any:
    """For each row of the storage the places i and j that it holds."""
    lower, upper = l_and_u
    for row in range(lower + upper + 1):
        shift = row - upper  # i - j
        j = slice(max(-shift, 0), max(min(n, n - shift), max(-shift, 0)))
        yield row, slice(j.start + shift, j.stop + shift), j


def _require_one_system(columns: tuple[int, ...], n: int | None = None) -> None:
    """Refuse stacks of banded systems, which SciPy takes too, and one that the other side does not fit."""
    if len(columns) != 1 or n is not None and n != columns[0]:
        raise RefusedMode("E0708", "a stack of banded systems has no derivative here; loop over it")


def bands_product(l_and_u: Any, ab: Any, x: Any) -> Any:
    """``a @ x`` where ``ab`` stores a by its diagonals."""
    n = np.shape(x)[0]
    _require_one_system(np.shape(ab)[1:], n)
    result = np.zeros(np.shape(x), np.result_type(ab, x))
    for row, i, j in _diagonals(l_and_u, n):
        result[i] += ab[row, j].reshape(-1, *(1,) * (np.ndim(x) - 1)) * x[j]
    return result


def bands_outer(l_and_u: Any, g: Any, x: Any) -> Any:
    """The diagonals of ``g @ x.T``, stored as those of a."""
    if np.ndim(x) > 2:
        _require_one_system(())
    g, x = np.reshape(g, (np.shape(g)[0], -1)), np.reshape(x, (np.shape(x)[0], -1))
    n = x.shape[0]
    result = np.zeros((sum(l_and_u) + 1, n), np.result_type(g, x))
    for row, i, j in _diagonals(l_and_u, n):
        result[row, j] = np.sum(g[i] * x[j], axis=1)
    return result


def turned_bands(l_and_u: Any, ab: Any) -> Any:
    """The transpose of a, stored by its diagonals too."""
    _require_one_system(np.shape(ab)[1:])
    result = np.zeros_like(ab)
    for row, i, j in _diagonals(l_and_u, np.shape(ab)[1]):
        result[sum(l_and_u) - row, i] = ab[row, j]
    return result


def hermitian_bands(ab: Any, lower: Any = False) -> Any:
    """All diagonals of the Hermitian matrix of which ``ab`` stores one half."""
    width, n = np.shape(ab)[0] - 1, np.shape(ab)[1]
    result = np.zeros((2 * width + 1, n), np.result_type(ab))
    result[width] = np.real(ab[0 if lower else width])
    for k in range(1, width + 1):
        m = max(n - k, 0)
        below = ab[k, :m] if lower else np.conjugate(ab[width - k, k:])
        result[width + k, :m], result[width - k, k:] = below, np.conjugate(below)
    return result


def unhermitian_bands(g: Any, lower: Any = False) -> Any:
    """The cotangent of ``ab`` where ``g`` is that of ``hermitian_bands(ab, lower)``."""
    width, n = np.shape(g)[0] // 2, np.shape(g)[1]
    result = np.zeros((width + 1, n), np.result_type(g))
    result[0 if lower else width] = np.real(g[width])
    for k in range(1, width + 1):
        m = max(n - k, 0)
        below = g[width + k, :m] + np.conjugate(g[width - k, k:])
        if lower:
            result[k, :m] = below
        else:
            result[width - k, k:] = np.conjugate(below)
    return result
