"""Decompositions of matrices: Cholesky, eigenvalues, QR; one matrix or stacks of them.

NumPy's ``cholesky``, ``eigh`` and ``eigvalsh`` read one triangle of their argument (and of a complex diagonal the real
part); the derivative is that of the function as it is computed: the other triangle has the cotangent 0.  Paired with
the tangent of a matrix that stays Hermitian it gives what a gradient divided evenly between both triangles gives, which
is what PyTorch and JAX return.

What a decomposition leaves open has no derivative.  Complex vectors of ``eigh`` and ``svd`` have arbitrary phases, and
those of a null space (``full_matrices``, ``complete``) are an arbitrary basis: derivatives are those of functions that
do not depend on them, and the adjoint refuses others, as PyTorch does.  Where eigenvalues or singular values are equal,
functions of the values alone are right (a sum over equal ones does not see how they part), while vectors of equal
values have no derivative: it is nan where it is asked for, and 0 where nothing follows.

Formulas: M. Giles, *Collected matrix derivative results* (2008); M. Seeger et al., *Auto-differentiating linear
algebra* (2017); D. Roberts and L. Roberts, *QR and LQ decomposition matrix backpropagation algorithms* (2020);
C. Boeddeker et al., *On the computation of complex-valued gradients* (2017).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import Argument, is_real
from srcgrad.rules.facts import Array, Dimension, Sequence, Unknown, as_array
from srcgrad.rules.results import floating
from srcgrad.rules.table import rule
from srcgrad.runtime import (
    basis_free,
    from_triangle,
    half_triangle,
    keep_real,
    matching,
    over_gaps,
    phase_free,
    solve_triangle,
    to_triangle,
    unbroadcast,
    unkeep_real,
)


# --- literals and facts ----------------------------------------------------------------------------------------------
def is_true(argument: Argument) -> bool:
    """Whether an option is on."""
    return argument.is_literal and bool(argument.literal)


def is_false(argument: Argument) -> bool:
    """Whether an option is off."""
    return argument.is_literal and not argument.literal


SWITCH = (False, True)
EIGEN = ("eigenvalues", "eigenvectors")


def real_part(dtype: str | None) -> str | None:
    """The dtype of the real part."""
    return {"complex128": "float64", "complex64": "float32", "complex": "float"}.get(dtype or "", dtype)


def matrix(arguments, literals):
    """The fact of a result that is like the argument."""
    a = as_array(arguments["a"])
    return Array(a.shape, floating(a.dtype))


def _values(a: Array) -> Array:
    """The fact of real eigenvalues of square matrices."""
    return Array(None if a.shape is None else a.shape[:-1], real_part(floating(a.dtype)))


def like(a: Array, *last: Dimension) -> Array:
    """The fact of matrices in the batch of ``a``."""
    return Array(None if a.shape is None else (*a.shape[:-2], *last), floating(a.dtype))


# --- Cholesky --------------------------------------------------------------------------------------------------------
@rule(np.linalg.cholesky)
def cholesky(a, upper=False, *, y, y_bar):
    """The factor l of a = l l^H (I. Murray, Differentiation of the Cholesky decomposition, 2016)."""
    g = solve_triangle(y.mT, half_triangle(y.mT @ y_bar), True)
    return to_triangle(solve_triangle(np.conjugate(y.mT), g.mT, True).mT)


@cholesky.tangent
def cholesky(a, upper=False, *, y, a_dot):
    g = solve_triangle(y, from_triangle(a_dot))
    return y @ half_triangle(solve_triangle(np.conjugate(y), g.mT).mT)


@cholesky.when(upper=is_true)
def cholesky(a, upper=False, *, y, y_bar):
    """The factor u of a = u^H u."""
    g = solve_triangle(np.conjugate(y), half_triangle(y_bar @ y.mT, True), True)
    return to_triangle(solve_triangle(y, g.mT, True).mT, "U")


@cholesky.tangent_when(upper=is_true)
def cholesky(a, upper=False, *, y, a_dot):
    g = solve_triangle(np.conjugate(y.mT), from_triangle(a_dot, "U"))
    return half_triangle(solve_triangle(y.mT, g.mT).mT, True) @ y


cholesky.accept(allowed={"upper": SWITCH})
cholesky.infer(matrix)


# --- eigenvalues of Hermitian matrices -------------------------------------------------------------------------------
@rule(np.linalg.eigh)
def eigh(a, UPLO="L", *, y, y_bar):
    """Eigenvalues and eigenvectors of Hermitian matrices (Giles 3.1), of functions that do not ask for phases."""
    v = y[1]
    turned = over_gaps(phase_free(v.mT @ y_bar[1]), y[0])
    return to_triangle(np.conjugate(v) @ (turned @ v.mT + y_bar[0][..., np.newaxis] * v.mT), UPLO)


@eigh.when(a=is_real)
def eigh(a, UPLO="L", *, y, y_bar):
    """Of symmetric matrices."""
    v = y[1]
    turned = over_gaps(v.mT @ y_bar[1], y[0])
    return to_triangle(v @ (turned @ v.mT + y_bar[0][..., np.newaxis] * v.mT), UPLO)


@eigh.tangent
def eigh(a, UPLO="L", *, y, a_dot):
    v = y[1]
    m = np.conjugate(v.mT) @ from_triangle(a_dot, UPLO) @ v
    return np.real(np.diagonal(m, axis1=-2, axis2=-1)), v @ over_gaps(m, y[0])


@eigh.tangent_when(a=is_real)
def eigh(a, UPLO="L", *, y, a_dot):
    v = y[1]
    m = v.mT @ from_triangle(a_dot, UPLO) @ v
    return np.diagonal(m, axis1=-2, axis2=-1), v @ over_gaps(m, y[0])


@eigh.infer
def eigh(arguments, literals):
    a = as_array(arguments["a"])
    return Sequence("tuple", (_values(a), matrix(arguments, literals)), fields=EIGEN)


@rule(np.linalg.eigvalsh)
def eigvalsh(a, UPLO="L", *, w, w_bar):
    """Eigenvalues of Hermitian matrices: each moves with the square of its vector."""
    v = np.linalg.eigh(a, UPLO)[1]
    return to_triangle((np.conjugate(v) * w_bar[..., np.newaxis, :]) @ v.mT, UPLO)


@eigvalsh.tangent
def eigvalsh(a, UPLO="L", *, w, a_dot):
    v = np.linalg.eigh(a, UPLO)[1]
    return np.real(np.sum(np.conjugate(v) * (from_triangle(a_dot, UPLO) @ v), axis=-2))


eigvalsh.infer(lambda arguments, literals: _values(as_array(arguments["a"])))


# --- eigenvalues of any square matrices ------------------------------------------------------------------------------
@rule(np.linalg.eig)
def eig(a, *, y, y_bar):
    """Eigenvalues and eigenvectors (Boeddeker et al. 4.77), of unit length, their greatest component real (LAPACK)."""
    v = y[1]
    turned = unkeep_real(y_bar[1], v)
    g = turned - np.conjugate(v) * np.real(np.sum(v * turned, axis=-2, keepdims=True))
    inner = over_gaps(v.mT @ g, y[0]) @ v.mT + y_bar[0][..., np.newaxis] * v.mT
    return unbroadcast(np.linalg.solve(v.mT, inner), a)


@eig.tangent
def eig(a, *, y, a_dot):
    v = y[1]
    m = np.linalg.solve(v, a_dot @ v)
    d = v @ over_gaps(m, y[0])
    moved = keep_real(d - v * np.real(np.sum(np.conjugate(v) * d, axis=-2, keepdims=True)), v)
    return np.diagonal(m, axis1=-2, axis2=-1), moved


@eig.infer
def eig(arguments, literals):
    a = as_array(arguments["a"])
    dtype = a.dtype if a.dtype is not None and a.dtype.startswith("complex") else None
    return Sequence(
        "tuple", (Array(None if a.shape is None else a.shape[:-1], dtype), Array(a.shape, dtype)), fields=EIGEN
    )


@rule(np.linalg.eigvals)
def eigvals(a, *, w, w_bar):
    """Eigenvalues: each moves with its left and its right vector."""
    d = np.linalg.eig(a)
    v = np.take_along_axis(d[1], matching(d[0], w)[..., np.newaxis, :], axis=-1)
    return unbroadcast(np.linalg.solve(v.mT, w_bar[..., np.newaxis] * v.mT), a)


@eigvals.tangent
def eigvals(a, *, w, a_dot):
    d = np.linalg.eig(a)
    v = np.take_along_axis(d[1], matching(d[0], w)[..., np.newaxis, :], axis=-1)
    return np.diagonal(np.linalg.solve(v, a_dot @ v), axis1=-2, axis2=-1)


@eigvals.infer
def eigvals(arguments, literals):
    a = as_array(arguments["a"])
    dtype = a.dtype if a.dtype is not None and a.dtype.startswith("complex") else None
    return Array(None if a.shape is None else a.shape[:-1], dtype)


# --- QR --------------------------------------------------------------------------------------------------------------
@rule(np.linalg.qr)
def qr(a, mode="reduced", *, y, y_bar):
    """a = q r with a real diagonal of r (Roberts and Roberts): of wide ones the first columns, the rest is q^H a."""
    q = y[0]
    count = np.shape(q)[-1]
    r = y[1][..., :count]
    rest = y_bar[1][..., count:]
    g = y_bar[0] + np.conjugate(a[..., count:] @ rest.mT)
    inner = from_triangle(y_bar[1][..., :count] @ r.mT - q.mT @ g, "U")
    first = np.linalg.solve(r, (g + np.conjugate(q) @ inner).mT).mT
    return np.concatenate((first, np.conjugate(q) @ rest), axis=-1)


@qr.tangent
def qr(a, mode="reduced", *, y, a_dot):
    q = y[0]
    count = np.shape(q)[-1]
    rt = y[1][..., :count].mT
    first = a_dot[..., :count]
    r_dot = to_triangle(np.linalg.solve(rt, (np.conjugate(q.mT) @ first).mT).mT, "U") @ rt.mT
    q_dot = np.linalg.solve(rt, (first - q @ r_dot).mT).mT
    rest = np.conjugate(q.mT) @ a_dot[..., count:] + np.conjugate(q_dot.mT) @ a[..., count:]
    return q_dot, np.concatenate((r_dot, rest), axis=-1)


@qr.when(mode="complete")
def qr(a, mode="reduced", *, y, y_bar):
    """With a basis of what is orthogonal to all columns, of which only the space counts."""
    count = min(np.shape(a)[-2], np.shape(a)[-1])
    q = y[0][..., :count]
    r = y[1][..., :count, :count]
    rest = y_bar[1][..., :count, count:]
    turned = basis_free(y[0].mT @ y_bar[0], count)[..., :count, count:]
    apart = y_bar[0][..., :count] - np.conjugate(y[0][..., count:] @ turned.mT)
    g = apart + np.conjugate(a[..., count:] @ rest.mT)
    inner = from_triangle(y_bar[1][..., :count, :count] @ r.mT - q.mT @ g, "U")
    first = np.linalg.solve(r, (g + np.conjugate(q) @ inner).mT).mT
    return np.concatenate((first, np.conjugate(q) @ rest), axis=-1)


@qr.tangent_when(mode="complete")
def qr(a, mode="reduced", *, y, a_dot):
    count = min(np.shape(a)[-2], np.shape(a)[-1])
    q = y[0][..., :count]
    rt = y[1][..., :count, :count].mT
    first = a_dot[..., :count]
    r_dot = to_triangle(np.linalg.solve(rt, (np.conjugate(q.mT) @ first).mT).mT, "U") @ rt.mT
    q_dot = np.linalg.solve(rt, (first - q @ r_dot).mT).mT
    apart = -q @ (np.conjugate(q_dot.mT) @ y[0][..., count:])
    rest = np.conjugate(q.mT) @ a_dot[..., count:] + np.conjugate(q_dot.mT) @ a[..., count:]
    below = np.zeros_like(y[1][..., count:, :])
    above = np.concatenate((r_dot, rest), axis=-1)
    return np.concatenate((q_dot, apart), axis=-1), np.concatenate((above, below), axis=-2)


@qr.when(mode="r")
def qr(a, mode="reduced", *, y, y_bar):
    """r alone."""
    q = np.linalg.qr(a)[0]
    count = np.shape(q)[-1]
    r = y[..., :count]
    rest = y_bar[..., count:]
    g = np.conjugate(a[..., count:] @ rest.mT)
    inner = from_triangle(y_bar[..., :count] @ r.mT - q.mT @ g, "U")
    first = np.linalg.solve(r, (g + np.conjugate(q) @ inner).mT).mT
    return np.concatenate((first, np.conjugate(q) @ rest), axis=-1)


@qr.tangent_when(mode="r")
def qr(a, mode="reduced", *, y, a_dot):
    q = np.linalg.qr(a)[0]
    count = np.shape(q)[-1]
    rt = y[..., :count].mT
    first = a_dot[..., :count]
    r_dot = to_triangle(np.linalg.solve(rt, (np.conjugate(q.mT) @ first).mT).mT, "U") @ rt.mT
    q_dot = np.linalg.solve(rt, (first - q @ r_dot).mT).mT
    rest = np.conjugate(q.mT) @ a_dot[..., count:] + np.conjugate(q_dot.mT) @ a[..., count:]
    return np.concatenate((r_dot, rest), axis=-1)


qr.accept(allowed={"mode": ("reduced", "complete", "r")})


@qr.infer
def qr(arguments, literals):
    a = as_array(arguments["a"])
    if "mode" not in literals:
        return Unknown()
    r = like(a, None, None if a.shape is None else a.shape[-1])
    if literals["mode"] == "r":
        return r
    if a.shape is None:
        return Unknown()
    return Sequence("tuple", (like(a, a.shape[-2], None), r), fields=("Q", "R"))
