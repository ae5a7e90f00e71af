"""Square matrices and linear systems: inverses, determinants, solutions, least squares.

Formulas: M. Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*
(2008); G. Golub and V. Pereyra, *The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate* (1973).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from srcgrad.rules.arguments import Argument, alike, is_real, rank
from srcgrad.rules.decompositions import SWITCH, is_true, matrix, real_part
from srcgrad.rules.facts import Array, Sequence, Unknown, as_array, promote
from srcgrad.rules.results import floating, reduced
from srcgrad.rules.table import constant, rule
from srcgrad.runtime import (
    add,
    as_columns,
    axes_at_end,
    cofactor,
    column_sums,
    from_columns,
    from_triangle,
    least_squares_cutoff,
    of_distinct,
    rebroadcast,
    to_triangle,
    unbroadcast,
    uncolumn_sums,
    unmatmul_left,
    unpermute,
    weighted,
    whole_inverse,
)

constant(np.linalg.LinAlgError, np.linalg.matrix_rank)


# --- determinants ----------------------------------------------------------------------------------------------------
@rule(np.linalg.det)
def det(a, *, y, y_bar):
    """The determinant: its slopes are the cofactors (Jacobi's formula; Giles 2.2.4), of singular matrices too."""
    return unbroadcast(np.expand_dims(y_bar, (-2, -1)) * cofactor(a), a)


@det.when(a=rank(2))
def det(a, *, y, y_bar):
    """Of one matrix."""
    return y_bar * cofactor(a)


@det.tangent
def det(a, *, y, a_dot):
    return np.sum(cofactor(a) * a_dot, axis=(-2, -1))


@det.infer
def det(arguments, literals):
    a = as_array(arguments["a"])
    return reduced(a, floating(a.dtype), {"axis": (-2, -1), "keepdims": False})


@rule(np.linalg.slogdet)
def slogdet(a, *, y, y_bar):
    """The sign, which turns where the matrix is complex, and the logarithm of the determinant's absolute value."""
    slope = y_bar[1] + 1j * np.imag(y_bar[0] * y[0])
    return unbroadcast(np.expand_dims(slope, (-2, -1)) * np.matrix_transpose(np.linalg.inv(a)), a)


@slogdet.when(a=is_real)
def slogdet(a, *, y, y_bar):
    """Of real matrices, whose sign does not move."""
    return np.expand_dims(y_bar[1], (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))


@slogdet.tangent
def slogdet(a, *, y, a_dot):
    slope = np.sum(np.matrix_transpose(np.linalg.inv(a)) * a_dot, axis=(-2, -1))
    return rebroadcast(1j * y[0] * np.imag(slope), y[0]), np.real(slope)


@slogdet.tangent_when(a=is_real)
def slogdet(a, *, y, a_dot):
    return 0.0 * y[0], np.sum(np.matrix_transpose(np.linalg.inv(a)) * a_dot, axis=(-2, -1))


@slogdet.infer
def slogdet(arguments, literals):
    a = as_array(arguments["a"])
    batch = {"axis": (-2, -1), "keepdims": False}
    dtype = floating(a.dtype)
    return Sequence(
        "tuple", (reduced(a, dtype, batch), reduced(a, real_part(dtype), batch)), fields=("sign", "logabsdet")
    )


# --- inverses --------------------------------------------------------------------------------------------------------
@rule(np.linalg.inv)
def inv(a, *, b, b_bar):
    """The inverse (Giles 2.2.3)."""
    return -(b.mT @ b_bar @ b.mT)


@inv.when(a=rank(2))
def inv(a, *, b, b_bar):
    """Of one matrix."""
    return -(b.T @ b_bar @ b.T)


@inv.tangent
def inv(a, *, b, a_dot):
    return -(b @ a_dot @ b)


inv.infer(matrix)


@rule(np.linalg.tensorinv)
def tensorinv(a, ind=2, *, b, b_bar):
    """The inverse of a linear map between arrays, each with its axes in a row."""
    side = math.isqrt(np.size(a))
    bt = np.reshape(b, (side, side)).T
    return np.reshape(-(bt @ np.reshape(b_bar, (side, side)) @ bt), np.shape(a))


@tensorinv.tangent
def tensorinv(a, ind=2, *, b, a_dot):
    side = math.isqrt(np.size(a))
    flat = np.reshape(b, (side, side))
    return np.reshape(-(flat @ np.reshape(a_dot, (side, side)) @ flat), np.shape(b))


def _has_cutoff(arguments: Mapping[str, Argument]) -> bool:
    """Whether a cutoff is given by which more than zeros may be left out."""
    return not all(arguments[p].is_literal and arguments[p].literal is None for p in ("rcond", "rtol"))


@rule(np.linalg.pinv)
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, p_bar):
    """The pseudoinverse of matrices whose rank does not change (Golub and Pereyra 4.12)."""
    pt = p.mT
    left = p_bar.mT @ p @ np.conjugate(pt)
    right = np.conjugate(pt) @ p @ p_bar.mT
    return np.conjugate(left - a @ (p @ left) + right - (right @ p) @ a) - pt @ p_bar @ pt


@pinv.tangent
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, a_dot):
    ph = np.conjugate(p.mT)
    moved = np.conjugate(np.matrix_transpose(a_dot))
    left = p @ ph @ moved
    right = moved @ ph @ p
    return left - (left @ a) @ p + right - p @ (a @ right) - p @ a_dot @ p


@pinv.when(hermitian=is_true)
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, p_bar):
    """Of Hermitian matrices, of which the lower triangle is read."""
    h = from_triangle(a)
    q = whole_inverse(p, h)
    left = p_bar.mT @ q @ np.conjugate(q.mT)
    right = np.conjugate(q.mT) @ q @ p_bar.mT
    rest = np.conjugate(left - h @ (q @ left) + right - (right @ q) @ h)
    return unbroadcast(to_triangle(rest - q.mT @ p_bar @ q.mT), a)


@pinv.tangent_when(hermitian=is_true)
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, a_dot):
    h = from_triangle(a)
    q = whole_inverse(p, h)
    h_dot = from_triangle(a_dot)
    left = q @ np.conjugate(q.mT) @ h_dot
    right = h_dot @ np.conjugate(q.mT) @ q
    return left - (left @ h) @ q + right - q @ (h @ right) - q @ h_dot @ q


@pinv.when(_has_cutoff)
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, p_bar):
    """With a cutoff, which is refused where it leaves out more than zeros."""
    q = whole_inverse(p, a)
    left = p_bar.mT @ q @ np.conjugate(q.mT)
    right = np.conjugate(q.mT) @ q @ p_bar.mT
    return np.conjugate(left - a @ (q @ left) + right - (right @ q) @ a) - q.mT @ p_bar @ q.mT


@pinv.tangent_when(_has_cutoff)
def pinv(a, rcond=None, hermitian=False, rtol=None, *, p, a_dot):
    q = whole_inverse(p, a)
    moved = np.conjugate(np.matrix_transpose(a_dot))
    left = q @ np.conjugate(q.mT) @ moved
    right = moved @ np.conjugate(q.mT) @ q
    return left - (left @ a) @ q + right - q @ (a @ right) - q @ a_dot @ q


pinv.accept(allowed={"hermitian": SWITCH})


@pinv.infer
def pinv(arguments, literals):
    a = as_array(arguments["a"])
    if a.shape is None or len(a.shape) < 2:
        return Array(None, floating(a.dtype))
    return Array((*a.shape[:-2], a.shape[-1], a.shape[-2]), floating(a.dtype))


# --- linear systems --------------------------------------------------------------------------------------------------
@rule(np.linalg.solve)
def solve(a, b, *, x, x_bar):
    """The solution of a x = b (Giles 2.3.1): b_bar solves the transposed system."""
    g = np.linalg.solve(np.matrix_transpose(a), as_columns(x_bar, b))
    return unbroadcast(-(g @ as_columns(x, b).mT), a), unbroadcast(from_columns(g, b), b)


@solve.when(alike("a", "b"), a=rank(2), b=rank(1))
def solve(a, b, *, x, x_bar):
    """One matrix, one vector."""
    g = np.linalg.solve(a.T, x_bar)
    return np.outer(-g, x), g


@solve.when(alike("a", "b"), a=rank(2), b=rank(2))
def solve(a, b, *, x, x_bar):
    """One matrix, some columns."""
    g = np.linalg.solve(a.T, x_bar)
    return -(g @ x.T), g


@solve.tangent
def solve(a, b, *, x, a_dot, b_dot):
    return -from_columns(np.linalg.solve(a, a_dot @ as_columns(x, b)), b), np.linalg.solve(a, b_dot)


@solve.tangent_when(a=rank(2), b=rank(1, 2))
def solve(a, b, *, x, a_dot, b_dot):
    return -np.linalg.solve(a, a_dot @ x), np.linalg.solve(a, b_dot)


@solve.infer
def solve(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    return Array(b.shape if a.rank == 2 and (b.rank or 9) <= 2 else None, floating(promote(a.dtype, b.dtype)))


@rule(np.linalg.tensorsolve)
def tensorsolve(a, b, axes=None, *, x, x_bar):
    """The solution of a linear system between arrays, each with its axes in a row."""
    side = np.size(b)
    order = axes_at_end(np.ndim(a), axes)
    g = np.linalg.solve(np.reshape(np.transpose(a, order), (side, side)).T, np.ravel(x_bar))
    a_bar = np.reshape(np.outer(-g, x), np.shape(b) + np.shape(x))
    return unbroadcast(unpermute(a_bar, order), a), unbroadcast(np.reshape(g, np.shape(b)), b)


@tensorsolve.tangent
def tensorsolve(a, b, axes=None, *, x, a_dot, b_dot):
    order = axes_at_end(np.ndim(a), axes)
    moved = np.tensordot(np.transpose(a_dot, order), x, np.ndim(x))
    return -np.linalg.tensorsolve(a, moved, axes), np.linalg.tensorsolve(a, b_dot, axes)


# --- least squares ---------------------------------------------------------------------------------------------------
@rule(np.linalg.lstsq)
def lstsq(a, b, rcond=None, *, y, y_bar):
    """The shortest x that minimises |b - a x|, for matrices whose rank does not change, and the least squares.

    Of singular values without a cotangent nothing is taken, not even where they are equal; a second derivative that
    follows equal ones is refused.
    """
    p = whole_inverse(np.linalg.pinv(a, least_squares_cutoff(rcond, a)), a)
    rest = np.conjugate(b - np.matmul(a, y[0]))
    g = p.T @ y_bar[0]
    b_bar = g + 2.0 * rest * uncolumn_sums(y_bar[1], b)
    inside = unmatmul_left(rest, a, p @ np.conjugate(g))
    above = unmatmul_left(p.T @ np.conjugate(y[0]), a, np.conjugate(y_bar[0] - np.transpose(a) @ g))
    d = np.linalg.svd(a, full_matrices=False)
    stretched = weighted(np.conjugate(d[0]), of_distinct(y_bar[3], y[3]), np.conjugate(d[2]))
    return unbroadcast(inside + above + stretched - unmatmul_left(b_bar, a, y[0]), a), unbroadcast(b_bar, b)


@lstsq.tangent
def lstsq(a, b, rcond=None, *, y, a_dot, b_dot):
    p = whole_inverse(np.linalg.pinv(a, least_squares_cutoff(rcond, a)), a)
    ph = np.conjugate(p.T)
    rest = b - np.matmul(a, y[0])
    moved = np.matmul(a_dot, y[0])
    turned = np.conjugate(np.transpose(a_dot))
    above = turned @ (ph @ y[0])
    x_dot = p @ (ph @ (turned @ rest)) + above - p @ (a @ above) - p @ moved
    d = np.linalg.svd(a, full_matrices=False)
    s_dot = np.real(np.sum(np.conjugate(d[0]) * (a_dot @ np.conjugate(d[2].T)), axis=0))
    squares_a = column_sums(-2.0 * np.real(np.conjugate(rest) * moved), y[1])
    squares_b = column_sums(2.0 * np.real(np.conjugate(rest) * b_dot), y[1])
    return (x_dot, squares_a, 0 * y[2], s_dot), (p @ b_dot, squares_b, 0 * y[2], 0.0 * y[3])


lstsq.sums = add


@lstsq.infer
def lstsq(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    if a.shape is None or b.shape is None or len(a.shape) != 2:
        return Unknown()
    dtype = floating(promote(a.dtype, b.dtype))
    some = Array((None,), real_part(dtype))
    return Sequence("tuple", (Array((a.shape[1], *b.shape[1:]), dtype), some, Array(), some))
