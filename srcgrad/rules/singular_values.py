"""Singular values: a = u s v^H, one matrix or stacks of them.

What is arbitrary in the vectors, and what holds where values are equal, is said in ``srcgrad.rules.decompositions``.
Formulas: J. Townsend, *Differentiating the singular value decomposition* (2016); Z. Wan and S. Zhang, *Automatic
differentiation for complex valued SVD* (2019).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import is_real
from srcgrad.rules.decompositions import SWITCH, is_false, is_true, like, real_part
from srcgrad.rules.facts import Array, Sequence, Unknown, as_array
from srcgrad.rules.results import floating
from srcgrad.rules.table import rule
from srcgrad.runtime import (
    basis_free,
    from_triangle,
    hermitian_sum,
    outside,
    over_gaps,
    phase_free,
    ratio,
    to_triangle,
    twist,
)


@rule(np.linalg.svd)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """a = u s v^H: u and v turn as the eigenvectors of a a^H and a^H a (Townsend; Wan and Zhang)."""
    u = y[0]
    v = np.conjugate(y[2].mT)
    squares = y[1] * y[1]
    count = np.shape(squares)[-1]
    left = u.mT @ y_bar[0]
    right = v.mT @ np.conjugate(y_bar[2].mT)
    turned_u = hermitian_sum(over_gaps(basis_free(phase_free(left, right, count), count), squares))
    turned_v = hermitian_sum(over_gaps(basis_free(right, count), squares))
    moved_u = np.conjugate(u) @ (turned_u + twist(left, squares)) @ (u.mT @ np.conjugate(a))
    moved_v = np.conjugate(a @ v) @ turned_v @ v.mT
    stretched = (np.conjugate(u[..., :count]) * y_bar[1][..., np.newaxis, :]) @ np.conjugate(y[2][..., :count, :])
    return moved_u + moved_v + stretched


@svd.tangent
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    u = y[0]
    v = np.conjugate(y[2].mT)
    squares = y[1] * y[1]
    count = np.shape(squares)[-1]
    left = np.conjugate(u.mT) @ a_dot @ (np.conjugate(np.matrix_transpose(a)) @ u)
    right = y[2] @ np.conjugate(a_dot.mT) @ (a @ v)
    u_dot = u @ (over_gaps(hermitian_sum(left), squares) + twist(left, squares))
    v_dot = v @ over_gaps(hermitian_sum(right), squares)
    s_dot = np.real(np.sum(np.conjugate(u[..., :count]) * (a_dot @ v[..., :count]), axis=-2))
    return u_dot, s_dot, np.conjugate(v_dot.mT)


@svd.when(compute_uv=is_false, hermitian=is_true)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """The absolute values of the eigenvalues of Hermitian matrices."""
    d = np.linalg.svd(a, hermitian=True)
    sign = np.round(np.real(np.sum(d[0] * d[2].mT, axis=-2)))
    return to_triangle((np.conjugate(d[0]) * (y_bar * sign)[..., np.newaxis, :]) @ d[0].mT)


@svd.tangent_when(compute_uv=is_false, hermitian=is_true)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    d = np.linalg.svd(a, hermitian=True)
    sign = np.round(np.real(np.sum(d[0] * d[2].mT, axis=-2)))
    return sign * np.real(np.sum(np.conjugate(d[0]) * (from_triangle(a_dot) @ d[0]), axis=-2))


@svd.when(compute_uv=is_false)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """Singular values alone."""
    d = np.linalg.svd(a, full_matrices=False)
    return (np.conjugate(d[0]) * y_bar[..., np.newaxis, :]) @ np.conjugate(d[2])


@svd.tangent_when(compute_uv=is_false)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    d = np.linalg.svd(a, full_matrices=False)
    return np.real(np.sum(np.conjugate(d[0]) * (a_dot @ np.conjugate(d[2].mT)), axis=-2))


@svd.when(hermitian=is_true)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """Of Hermitian matrices, of which one triangle is read: v is u, turned round where an eigenvalue is negative."""
    u = y[0]
    sign = np.round(np.real(np.sum(u * y[2].mT, axis=-2)))
    u_bar = y_bar[0] + np.conjugate(y_bar[2].mT) * sign[..., np.newaxis, :]
    turned = over_gaps(phase_free(u.mT @ u_bar), y[1] * sign)
    return to_triangle(np.conjugate(u) @ (turned @ u.mT + (y_bar[1] * sign)[..., np.newaxis] * u.mT))


@svd.tangent_when(hermitian=is_true)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    u = y[0]
    sign = np.round(np.real(np.sum(u * y[2].mT, axis=-2)))
    m = np.conjugate(u.mT) @ from_triangle(a_dot) @ u
    u_dot = u @ over_gaps(m, y[1] * sign)
    s_dot = sign * np.real(np.diagonal(m, axis1=-2, axis2=-1))
    return u_dot, s_dot, np.conjugate((u_dot * sign[..., np.newaxis, :]).mT)


@svd.when(full_matrices=is_false, a=is_real)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """Of real matrices, as many vectors as values."""
    u = y[0]
    v = y[2].mT
    s = y[1][..., np.newaxis, :]
    squares = y[1] * y[1]
    core = hermitian_sum(over_gaps(u.mT @ y_bar[0], squares)) * s
    core_v = s.mT * hermitian_sum(over_gaps(y[2] @ y_bar[2].mT, squares))
    moved_u = ratio(outside(y_bar[0], u), s) @ y[2]
    moved_v = u @ ratio(outside(y_bar[2].mT, v), s).mT
    return u @ (core + core_v) @ y[2] + (u * y_bar[1][..., np.newaxis, :]) @ y[2] + moved_u + moved_v


@svd.tangent_when(full_matrices=is_false, a=is_real)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    u = y[0]
    v = y[2].mT
    s = y[1][..., np.newaxis, :]
    squares = y[1] * y[1]
    m = u.mT @ a_dot @ v
    u_dot = u @ over_gaps(hermitian_sum(m * s), squares) + ratio(outside(a_dot @ v, u), s)
    v_dot = v @ over_gaps(hermitian_sum(m.mT * s), squares) + ratio(outside(a_dot.mT @ u, v), s)
    return u_dot, np.diagonal(m, axis1=-2, axis2=-1), v_dot.mT


@svd.when(full_matrices=is_false)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, y_bar):
    """As many vectors as values: what of their motion leaves their space comes apart from the turns in it."""
    u = y[0]
    v = np.conjugate(y[2].mT)
    s = y[1][..., np.newaxis, :]
    squares = y[1] * y[1]
    left = u.mT @ y_bar[0]
    right = v.mT @ np.conjugate(y_bar[2].mT)
    turned_u = hermitian_sum(over_gaps(phase_free(left, right), squares)) + twist(left, squares)
    core = turned_u * s + s.mT * hermitian_sum(over_gaps(right, squares))
    moved_u = ratio(outside(y_bar[0], np.conjugate(u)), s) @ np.conjugate(y[2])
    moved_v = np.conjugate(u) @ ratio(outside(y_bar[2].mT, v), s).mT
    stretched = (np.conjugate(u) * y_bar[1][..., np.newaxis, :]) @ np.conjugate(y[2])
    return np.conjugate(u) @ core @ np.conjugate(y[2]) + stretched + moved_u + moved_v


@svd.tangent_when(full_matrices=is_false)
def svd(a, full_matrices=True, compute_uv=True, hermitian=False, *, y, a_dot):
    u = y[0]
    v = np.conjugate(y[2].mT)
    s = y[1][..., np.newaxis, :]
    squares = y[1] * y[1]
    m = np.conjugate(u.mT) @ a_dot @ v
    turned_u = over_gaps(hermitian_sum(m * s), squares) + twist(m * s, squares)
    u_dot = u @ turned_u + ratio(outside(a_dot @ v, u), s)
    moved_v = ratio(outside(np.conjugate(a_dot.mT) @ u, v), s)
    v_dot = v @ over_gaps(hermitian_sum(np.conjugate(m.mT) * s), squares) + moved_v
    return u_dot, np.real(np.diagonal(m, axis1=-2, axis2=-1)), np.conjugate(v_dot.mT)


svd.accept(allowed={"full_matrices": SWITCH, "compute_uv": SWITCH, "hermitian": SWITCH})


@svd.infer
def svd(arguments, literals):
    a = as_array(arguments["a"])
    s = Array(None if a.shape is None else (*a.shape[:-2], None), real_part(floating(a.dtype)))
    if "compute_uv" not in literals or "full_matrices" not in literals or a.shape is None or len(a.shape) < 2:
        return Unknown()
    m, n = a.shape[-2:]
    u, vh = (like(a, m, m), like(a, n, n)) if literals["full_matrices"] else (like(a, m, None), like(a, None, n))
    return Sequence("tuple", (u, s, vh), fields=("U", "S", "Vh")) if literals["compute_uv"] else s


@rule(np.linalg.svdvals)
def svdvals(x, *, s, s_bar):
    """Singular values: each moves with its left and its right vector."""
    d = np.linalg.svd(x, full_matrices=False)
    return (np.conjugate(d[0]) * s_bar[..., np.newaxis, :]) @ np.conjugate(d[2])


@svdvals.tangent
def svdvals(x, *, s, x_dot):
    d = np.linalg.svd(x, full_matrices=False)
    return np.real(np.sum(np.conjugate(d[0]) * (x_dot @ np.conjugate(d[2].mT)), axis=-2))


@svdvals.infer
def svdvals(arguments, literals):
    x = as_array(arguments["x"])
    return Array(None if x.shape is None else (*x.shape[:-2], None), real_part(floating(x.dtype)))
