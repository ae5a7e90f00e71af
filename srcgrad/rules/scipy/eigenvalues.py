"""Eigenvalues, singular values and orthogonal factors of scipy.linalg, and what it shares with numpy.linalg.

Where NumPy has the same function its rule is shared; what holds of triangles that are not read, arbitrary vectors and
equal values is said in ``srcgrad.rules.decompositions``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,arg-type"
from __future__ import annotations

import numpy as np
from scipy import linalg

from srcgrad.rules import decompositions, norms, products, singular_values
from srcgrad.rules import linalg as numpy_linalg
from srcgrad.rules.arguments import is_real
from srcgrad.rules.decompositions import SWITCH, is_true, matrix, real_part
from srcgrad.rules.facts import Array, Sequence, Unknown, as_array
from srcgrad.rules.formula import constant
from srcgrad.rules.results import floating
from srcgrad.rules.table import also, enter, rule
from srcgrad.rules.template import Rule
from srcgrad.runtime import from_triangle, keep_real, matching, outside, over_gaps, phase_free, rebroadcast, to_triangle
from srcgrad.runtime.scipy.systems import require_tall, uplo

# --- what NumPy has too ----------------------------------------------------------------------------------------------
SHARED = {
    numpy_linalg.det: linalg.det,
    numpy_linalg.inv: linalg.inv,
    numpy_linalg.pinv: linalg.pinv,
    numpy_linalg.lstsq: linalg.lstsq,
    norms.norm: linalg.norm,
    singular_values.svd: linalg.svd,
    singular_values.svdvals: linalg.svdvals,
}
for shared, function in SHARED.items():
    also(shared, function).accept(ignored=("check_finite", "lapack_driver"))
if hasattr(linalg, "kron"):  # SciPy before 1.15
    also(products.kron, linalg.kron)
numpy_linalg.lstsq.accept(cond="rcond")
norms.norm.accept(a="x")
singular_values.svdvals.accept(a="x")


# --- QR --------------------------------------------------------------------------------------------------------------
reduced, complete, _, complete_dot, _, reduced_dot = decompositions.qr.templates()
qr = enter(Rule("rule", (linalg.qr,), reduced))
qr.defaults["mode"] = constant("full")
qr.tangent(reduced_dot)
qr.when(mode="full")(complete)
qr.tangent_when(mode="full")(complete_dot)
qr.accept(ignored=("check_finite", "lwork"), allowed={"mode": ("full", "economic")})


# --- eigenvalues of any square matrices, complex whatever they are ---------------------------------------------------
eig = enter(Rule("rule", (linalg.eig,), decompositions.eig.template))
eigvals = enter(Rule("rule", (linalg.eigvals,), decompositions.eigvals.template))


@eig.tangent
def eig(a, *, y, a_dot):
    v = y[1]
    m = np.linalg.solve(v, a_dot @ v)
    d = v @ over_gaps(m, y[0])
    moved = keep_real(d - v * np.real(np.sum(np.conjugate(v) * d, axis=-2, keepdims=True)), v)
    return rebroadcast(np.diagonal(m, axis1=-2, axis2=-1), y[0]), rebroadcast(moved, v)


@eigvals.tangent
def eigvals(a, *, w, a_dot):
    d = np.linalg.eig(a)
    v = np.take_along_axis(d[1], matching(d[0], w)[..., np.newaxis, :], axis=-1)
    return rebroadcast(np.diagonal(np.linalg.solve(v, a_dot @ v), axis1=-2, axis2=-1), w)


COMPLEX = {"float64": "complex128", "float32": "complex64"}
for any_square in (eig, eigvals):
    any_square.accept(ignored=("check_finite",))


@eig.infer
def eig(arguments, literals):
    a = as_array(arguments["a"])
    dtype = COMPLEX.get(a.dtype or "", a.dtype if a.dtype in COMPLEX.values() else None)
    vectors = Array(a.shape, a.dtype if a.dtype in COMPLEX.values() else None)  # real where all values are
    return Sequence("tuple", (Array(a.shape[:-1], dtype), vectors)) if a.shape and a.rank == 2 else Unknown()


@eigvals.infer
def eigvals(arguments, literals):
    a = as_array(arguments["a"])
    dtype = COMPLEX.get(a.dtype or "", a.dtype if a.dtype in COMPLEX.values() else None)
    return Array(None if a.shape is None else a.shape[:-1], dtype)


# --- eigenvalues of Hermitian matrices -------------------------------------------------------------------------------
@rule(linalg.eigh)
def eigh(a, lower=True, eigvals_only=False, *, y, y_bar):
    """Eigenvalues and eigenvectors of Hermitian matrices (Giles 3.1), of functions that do not ask for phases."""
    v = y[1]
    turned = over_gaps(phase_free(v.mT @ y_bar[1]), y[0])
    return to_triangle(np.conjugate(v) @ (turned @ v.mT + y_bar[0][..., np.newaxis] * v.mT), uplo(lower))


@eigh.tangent
def eigh(a, lower=True, eigvals_only=False, *, y, a_dot):
    v = y[1]
    m = np.conjugate(v.mT) @ from_triangle(a_dot, uplo(lower)) @ v
    return np.real(np.diagonal(m, axis1=-2, axis2=-1)), v @ over_gaps(m, y[0])


@eigh.when(eigvals_only=is_true)
def eigh(a, lower=True, eigvals_only=False, *, y, y_bar):
    """Eigenvalues alone: each moves with the square of its vector."""
    v = linalg.eigh(a, lower=lower)[1]
    return to_triangle((np.conjugate(v) * y_bar[..., np.newaxis, :]) @ v.mT, uplo(lower))


@eigh.tangent_when(eigvals_only=is_true)
def eigh(a, lower=True, eigvals_only=False, *, y, a_dot):
    v = linalg.eigh(a, lower=lower)[1]
    return np.real(np.sum(np.conjugate(v) * (from_triangle(a_dot, uplo(lower)) @ v), axis=-2))


@eigh.when(a=is_real)
def eigh(a, lower=True, eigvals_only=False, *, y, y_bar):
    """Of symmetric matrices."""
    v = y[1]
    turned = over_gaps(v.mT @ y_bar[1], y[0])
    return to_triangle(v @ (turned @ v.mT + y_bar[0][..., np.newaxis] * v.mT), uplo(lower))


@eigh.tangent_when(a=is_real)
def eigh(a, lower=True, eigvals_only=False, *, y, a_dot):
    v = y[1]
    m = v.mT @ from_triangle(a_dot, uplo(lower)) @ v
    return np.diagonal(m, axis1=-2, axis2=-1), v @ over_gaps(m, y[0])


@rule(linalg.eigvalsh)
def eigvalsh(a, lower=True, *, w, w_bar):
    """Eigenvalues of Hermitian matrices: each moves with the square of its vector."""
    v = linalg.eigh(a, lower=lower)[1]
    return to_triangle((np.conjugate(v) * w_bar[..., np.newaxis, :]) @ v.mT, uplo(lower))


@eigvalsh.tangent
def eigvalsh(a, lower=True, *, w, a_dot):
    v = linalg.eigh(a, lower=lower)[1]
    return np.real(np.sum(np.conjugate(v) * (from_triangle(a_dot, uplo(lower)) @ v), axis=-2))


for hermitian in (eigh, eigvalsh):
    hermitian.accept(ignored=("check_finite", "driver"))
eigh.accept(allowed={"eigvals_only": SWITCH})


def _values(a: Array) -> Array:
    return Array(None if a.shape is None else a.shape[:-1], real_part(floating(a.dtype)))


@eigh.infer
def eigh(arguments, literals):
    values = _values(as_array(arguments["a"]))
    if "eigvals_only" not in literals or values.rank != 1:  # SciPy gives lists of stacks
        return Unknown()
    return values if literals["eigvals_only"] else Sequence("tuple", (values, matrix(arguments, literals)))


eigvalsh.infer(lambda arguments, literals: _values(as_array(arguments["a"])))


# --- the polar decomposition -----------------------------------------------------------------------------------------
@rule(linalg.polar)
def polar(a, side="right", *, y, y_bar):
    """a = u p with a Hermitian p; u turns as the skew solution of p s + s p = u^H a_dot - a_dot^H u."""
    u = require_tall(y[0])
    p = y[1]
    g = linalg.solve_continuous_lyapunov(p.mT, u.mT @ y_bar[0] - y_bar[1] @ p.mT)
    apart = np.linalg.solve(p, outside(y_bar[0], np.conjugate(u)).mT).mT
    return np.conjugate(u) @ (g - np.conjugate(g.mT) + y_bar[1]) + apart


@polar.tangent
def polar(a, side="right", *, y, a_dot):
    u = require_tall(y[0])
    p = y[1]
    m = np.conjugate(u.mT) @ a_dot
    turned = linalg.solve_continuous_lyapunov(p, m - np.conjugate(m.mT))
    apart = np.linalg.solve(p.mT, outside(a_dot, u).mT).mT
    return u @ turned + apart, m - turned @ p


polar.accept(allowed={"side": ("right",)})
