"""Functions of matrices of scipy.linalg: exponentials, logarithms, roots, powers, sines.

A smooth function f of matrices carries a derivative along: in the corner of f([[a, e], [0, a]]) stands that of f at a
along e, and the transpose of this map is the derivative at the transpose of a (N. Higham, *Functions of Matrices*,
2008, theorem 3.6; A. Al-Mohy and N. Higham, *Computing the Frechet derivative of the matrix exponential*, 2009).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import linalg

from srcgrad.rules.decompositions import SWITCH
from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.results import floating
from srcgrad.rules.table import rule
from srcgrad.runtime import add, corner, doubled, rebroadcast, unbroadcast


# --- the exponential -------------------------------------------------------------------------------------------------
@rule(linalg.expm)
def expm(A, *, y, y_bar):
    """The exponential of square matrices."""
    return unbroadcast(linalg.expm_frechet(np.matrix_transpose(A), y_bar, compute_expm=False), A)


@expm.tangent
def expm(A, *, y, A_dot):
    return rebroadcast(linalg.expm_frechet(A, A_dot, compute_expm=False), y)


@expm.infer
def expm(arguments, literals):
    a = as_array(arguments["A"])
    return Array(a.shape if a.rank and a.rank >= 2 else None, floating(a.dtype) if a.dtype == "float64" else None)


@rule(linalg.expm_frechet)
def expm_frechet(A, E, method=None, compute_expm=True, *, y, y_bar):
    """The exponential, and its derivative along a direction, whose own stands in a corner again."""
    At = np.matrix_transpose(A)
    g = doubled(np.matrix_transpose(E), np.zeros_like(E))
    bent = corner(linalg.expm_frechet(doubled(At, y_bar[1]), g, compute_expm=False))
    first = linalg.expm_frechet(At, y_bar[0], compute_expm=False)
    return unbroadcast(first + bent, A), unbroadcast(linalg.expm_frechet(At, y_bar[1], compute_expm=False), E)


@expm_frechet.tangent
def expm_frechet(A, E, method=None, compute_expm=True, *, y, A_dot, E_dot):
    bent = corner(linalg.expm_frechet(doubled(A, A_dot), doubled(E, np.zeros_like(E)), compute_expm=False))
    first = linalg.expm_frechet(A, A_dot, compute_expm=False)
    second = linalg.expm_frechet(A, E_dot, compute_expm=False)
    return (rebroadcast(first, y[0]), rebroadcast(bent, y[1])), (np.zeros_like(y[0]), rebroadcast(second, y[1]))


@expm_frechet.when(compute_expm=False)
def expm_frechet(A, E, method=None, compute_expm=True, *, y, y_bar):
    """The derivative alone."""
    At = np.matrix_transpose(A)
    g = doubled(np.matrix_transpose(E), np.zeros_like(E))
    bent = corner(linalg.expm_frechet(doubled(At, y_bar), g, compute_expm=False))
    return unbroadcast(bent, A), unbroadcast(linalg.expm_frechet(At, y_bar, compute_expm=False), E)


@expm_frechet.tangent_when(compute_expm=False)
def expm_frechet(A, E, method=None, compute_expm=True, *, y, A_dot, E_dot):
    bent = corner(linalg.expm_frechet(doubled(A, A_dot), doubled(E, np.zeros_like(E)), compute_expm=False))
    return rebroadcast(bent, y), rebroadcast(linalg.expm_frechet(A, E_dot, compute_expm=False), y)


expm_frechet.sums = add
expm_frechet.accept(ignored=("check_finite", "method"), allowed={"compute_expm": SWITCH})


expm.matrices = ("A",)


# --- roots, logarithms, powers ---------------------------------------------------------------------------------------
@rule(linalg.sqrtm)
def sqrtm(A, *, y, y_bar):
    """The principal root: y y_dot + y_dot y = A_dot."""
    return unbroadcast(linalg.solve_sylvester(y.mT, y.mT, y_bar), A)


@sqrtm.tangent
def sqrtm(A, *, y, A_dot):
    return linalg.solve_sylvester(y, y, A_dot)


sqrtm.matrices = ("A",)


@rule(linalg.logm)
def logm(A, *, y, y_bar):
    """The principal logarithm."""
    return unbroadcast(corner(linalg.logm(doubled(np.matrix_transpose(A), y_bar))), A)


@logm.tangent
def logm(A, *, y, A_dot):
    return corner(linalg.logm(doubled(A, A_dot)))


@rule(linalg.fractional_matrix_power)
def fractional_matrix_power(A, t, *, y, y_bar):
    """A power with any exponent."""
    return unbroadcast(corner(linalg.fractional_matrix_power(doubled(np.matrix_transpose(A), y_bar), t)), A)


@fractional_matrix_power.tangent
def fractional_matrix_power(A, t, *, y, A_dot):
    return corner(linalg.fractional_matrix_power(doubled(A, A_dot), t))


fractional_matrix_power.refuse(
    "write scipy.linalg.expm(t * scipy.linalg.logm(A))", t="the slope by the exponent is a product with the logarithm"
)

# --- sines -----------------------------------------------------------------------------------------------------------
@rule(linalg.cosm)
def cosm(A, *, y, y_bar):
    """The cosine."""
    return corner(linalg.cosm(doubled(np.matrix_transpose(A), y_bar)))


@cosm.tangent
def cosm(A, *, y, A_dot):
    return corner(linalg.cosm(doubled(A, A_dot)))


@rule(linalg.sinm)
def sinm(A, *, y, y_bar):
    """The sine."""
    return corner(linalg.sinm(doubled(np.matrix_transpose(A), y_bar)))


@sinm.tangent
def sinm(A, *, y, A_dot):
    return corner(linalg.sinm(doubled(A, A_dot)))


@rule(linalg.tanm)
def tanm(A, *, y, y_bar):
    """The tangent."""
    return corner(linalg.tanm(doubled(np.matrix_transpose(A), y_bar)))


@tanm.tangent
def tanm(A, *, y, A_dot):
    return corner(linalg.tanm(doubled(A, A_dot)))


@rule(linalg.coshm)
def coshm(A, *, y, y_bar):
    """The hyperbolic cosine."""
    return corner(linalg.coshm(doubled(np.matrix_transpose(A), y_bar)))


@coshm.tangent
def coshm(A, *, y, A_dot):
    return corner(linalg.coshm(doubled(A, A_dot)))


@rule(linalg.sinhm)
def sinhm(A, *, y, y_bar):
    """The hyperbolic sine."""
    return corner(linalg.sinhm(doubled(np.matrix_transpose(A), y_bar)))


@sinhm.tangent
def sinhm(A, *, y, A_dot):
    return corner(linalg.sinhm(doubled(A, A_dot)))


@rule(linalg.tanhm)
def tanhm(A, *, y, y_bar):
    """The hyperbolic tangent."""
    return corner(linalg.tanhm(doubled(np.matrix_transpose(A), y_bar)))


@tanhm.tangent
def tanhm(A, *, y, A_dot):
    return corner(linalg.tanhm(doubled(A, A_dot)))


for of_matrix in (sqrtm, logm, fractional_matrix_power, cosm, sinm, tanm, coshm, sinhm, tanhm):

    @of_matrix.infer
    def of_matrix(arguments, literals):
        a = as_array(arguments["A"])
        return Array(a.shape if a.rank and a.rank >= 2 else None)  # complex where a real one has no real root
