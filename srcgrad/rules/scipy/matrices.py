"""Matrices that scipy.linalg makes of vectors and blocks; what of it is constant, and what is refused."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np
from scipy import linalg

from srcgrad.rules.arguments import is_real
from srcgrad.rules.facts import Array, Sequence, as_array, promote
from srcgrad.rules.formula import is_none, spelling
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import constant, linear, refused, rule
from srcgrad.runtime import unbroadcast
from srcgrad.runtime.scipy.matrices import (
    block,
    uncirculant,
    unhankel_c,
    unhankel_r,
    untoeplitz_c,
    untoeplitz_r,
)


def square(name: str):
    """The fact of a matrix of which one vector is all."""

    def infer(arguments, literals):
        c = as_array(arguments[name])
        return Array(None if c.rank != 1 else (None, None), c.dtype)

    return infer


# --- equal along diagonals -------------------------------------------------------------------------------------------
@rule(linalg.toeplitz)
def toeplitz(c, r=None, *, y, y_bar):
    """Equal numbers along every diagonal: the first column, and the first row without its first element."""
    return untoeplitz_c(y_bar, c), untoeplitz_r(y_bar, r)


@toeplitz.tangent
def toeplitz(c, r=None, *, y, c_dot, r_dot):
    return linalg.toeplitz(c_dot, np.zeros_like(r)), linalg.toeplitz(np.zeros_like(c), r_dot)


@toeplitz.when(r=None, c=is_real)
def toeplitz(c, r=None, *, y, y_bar):
    """Symmetric, of the first column."""
    return untoeplitz_c(y_bar, c) + untoeplitz_r(y_bar, c), None


@toeplitz.when(r=None)
def toeplitz(c, r=None, *, y, y_bar):
    """Hermitian, of the first column."""
    return untoeplitz_c(y_bar, c) + np.conjugate(untoeplitz_r(y_bar, c)), None


@toeplitz.tangent_when(r=None)
def toeplitz(c, r=None, *, y, c_dot):
    return linalg.toeplitz(c_dot)


@rule(linalg.hankel)
def hankel(c, r=None, *, y, y_bar):
    """Equal numbers from below to above: the first column, and the last row without its first element."""
    return unhankel_c(y_bar, c), unhankel_r(y_bar, r)


@hankel.tangent
def hankel(c, r=None, *, y, c_dot, r_dot):
    return linalg.hankel(c_dot, np.zeros_like(r)), linalg.hankel(np.zeros_like(c), r_dot)


@hankel.when(r=None)
def hankel(c, r=None, *, y, y_bar):
    """With zeros after the first column."""
    return unhankel_c(y_bar, c), None


@hankel.tangent_when(r=None)
def hankel(c, r=None, *, y, c_dot):
    return linalg.hankel(c_dot)


@linear(linalg.circulant, "c")
def circulant(c, *, y, y_bar):
    """Columns that are the first one, moved around."""
    return uncirculant(y_bar, c)


for equal in (toeplitz, hankel):

    @equal.infer
    def equal(arguments, literals):
        c = as_array(arguments["c"])
        dtype = promote(c.dtype, as_array(arguments["r"]).dtype) if "r" in arguments else c.dtype
        return Array((None, None) if c.rank == 1 else None, dtype)


circulant.infer(square("c"))


# --- with some rows or diagonals -------------------------------------------------------------------------------------
@rule(linalg.companion)
def companion(a, *, y, y_bar):
    """The matrix of a polynomial: in its first row -a[1:] / a[0]."""
    row = y_bar[..., 0, :] / a[..., :1]
    return np.concatenate((-np.sum(row * y[..., 0, :], axis=-1, keepdims=True), -row), axis=-1)


@companion.tangent
def companion(a, *, y, a_dot):
    row = -(a_dot[..., 1:] + a_dot[..., :1] * y[..., 0, :]) / a[..., :1]
    return np.concatenate((row[..., np.newaxis, :], np.zeros_like(y[..., 1:, :])), axis=-2)


@linear(linalg.leslie, "f", "s")
def leslie(f, s, *, y, y_bar):
    """Fecundities in the first row, survival below the diagonal."""
    return unbroadcast(y_bar[..., 0, :], f), unbroadcast(np.diagonal(y_bar, -1, -2, -1), s)


@leslie.tangent
def leslie(f, s, *, y, f_dot, s_dot):
    return linalg.leslie(f_dot, np.zeros_like(s)), linalg.leslie(np.zeros_like(f), s_dot)


@linear(linalg.diagsvd, "s")
def diagsvd(s, M, N, *, y, y_bar):
    """Singular values in a matrix of any shape."""
    return np.diagonal(y_bar, 0, -2, -1)


@rule(linalg.khatri_rao)
def khatri_rao(a, b, *, y, y_bar):
    """The Kronecker products of columns."""
    g = np.reshape(y_bar, np.shape(y_bar)[:-2] + np.shape(a)[-2:-1] + np.shape(b)[-2:])
    a_bar = np.sum(g * np.expand_dims(b, -3), axis=-2)
    return unbroadcast(a_bar, a), unbroadcast(np.sum(g * np.expand_dims(a, -2), axis=-3), b)


@khatri_rao.tangent
def khatri_rao(a, b, *, y, a_dot, b_dot):
    return linalg.khatri_rao(a_dot, b), linalg.khatri_rao(a, b_dot)


diagsvd.infer(square("s"))


# --- blocks ----------------------------------------------------------------------------------------------------------
@rule(linalg.block_diag)
def block_diag(*arrs, y, y_bar):
    """Matrices along the diagonal."""
    return None


def _cut(given: Mapping[str, gast.expr]) -> gast.expr:
    """Each block, after those before it."""
    arrays = given["arrs"]
    assert isinstance(arrays, gast.Tuple)
    parts: list[gast.expr] = [
        gast.Call(spelling(block), [read("y_bar"), item("arrs", i), *(item("arrs", j) for j in range(i))], [])
        for i in range(len(arrays.elts))
    ]
    return gast.Tuple(parts, gast.Load())


def _of_tangents(given: Mapping[str, gast.expr]) -> gast.expr:
    """The function of the tangents, zeros where there are none."""
    arrays, dots = given["arrs"], given.get("arrs_dot")
    assert isinstance(arrays, gast.Tuple)
    args: list[gast.expr] = []
    for i in range(len(arrays.elts)):
        if isinstance(dots, gast.Tuple) and is_none(dots.elts[i]):
            args.append(gast.Call(spelling(np.zeros_like), [item("arrs", i)], []))
        else:
            args.append(item("arrs_dot", i))
    return gast.Call(spelling(linalg.block_diag), args, [])


block_diag.expand(_cut, _of_tangents)


@block_diag.infer
def block_diag(arguments, literals):
    match arguments.get("arrs"):
        case Sequence(items=(first, *rest)):
            facts = [as_array(fact) for fact in (first, *rest)]
            dtype = facts[0].dtype
            for fact in facts[1:]:
                dtype = promote(dtype, fact.dtype)
            known = all(fact.rank is not None and fact.rank <= 2 for fact in facts)
            return Array((None, None) if known else None, dtype)
    return Array()


# --- constants -------------------------------------------------------------------------------------------------------
constant(
    linalg.bandwidth, linalg.issymmetric, linalg.ishermitian, linalg.dft, linalg.hadamard, linalg.helmert,
    linalg.hilbert, linalg.invhilbert, linalg.pascal, linalg.invpascal, linalg.find_best_blas_type,
    linalg.get_blas_funcs, linalg.get_lapack_funcs, linalg.test,
)  # fmt: skip


# --- refusals --------------------------------------------------------------------------------------------------------
def refuse(code: str, reason: str, hint: str, *names: str) -> None:
    """Refuse the functions that this version of SciPy has."""
    functions = [getattr(linalg, name) for name in names if hasattr(linalg, name)]
    refused(code, reason, *functions, hint=hint)


ARBITRARY = "it returns vectors or bases that are arbitrary in part"
refuse(
    "E0513",
    ARBITRARY,
    "use scipy.linalg.qr or svd, and what does not depend on the basis",
    "null_space",
    "orth",
)
refuse("E0513", ARBITRARY, "use scipy.linalg.eig or eigh", "schur", "hessenberg", "rsf2csf", "cdf2rdf")
refuse(
    "E0513", ARBITRARY, "solve one of the two matrices into the other and use scipy.linalg.eig", "qz", "ordqz"
)
refuse("E0513", ARBITRARY, "take the blocks apart with scipy.linalg.svd", "cossin")
refuse(
    "E0503", "a derivative of this factorization is not written down",
    "use scipy.linalg.qr, lu or cholesky of the matrix itself",
    "ldl", "rq", "qr_multiply", "qr_update", "qr_insert", "qr_delete", "cholesky_banded",
)  # fmt: skip
refuse(
    "E0503", "a derivative of what is stored by diagonals is not written down",
    "make the matrix with np.diag and use scipy.linalg.eigh",
    "eig_banded", "eigvals_banded", "eigh_tridiagonal", "eigvalsh_tridiagonal",
)  # fmt: skip
refuse(
    "E0503", "a derivative of this equation is not written down",
    "write its solution as a fixed point, or with scipy.linalg.solve_continuous_lyapunov",
    "solve_continuous_are", "solve_discrete_are",
)  # fmt: skip
refuse(
    "E0503", "a derivative by the vectors of which the matrix is made is not written down",
    "make the matrix with scipy.linalg.toeplitz or circulant, and use @ and scipy.linalg.solve",
    "solve_toeplitz", "solve_circulant", "matmul_toeplitz",
)  # fmt: skip
refuse("E0503", "its entries have kinks or are made of quotients", "write it with np.abs(a[:, None] - a)", "fiedler")
refuse("E0503", "its entries stand at places of their own", "use scipy.linalg.companion", "fiedler_companion")
refuse("E0503", "its diagonals depend on the mode", "make the matrix with scipy.linalg.toeplitz", "convolution_matrix")
refuse(
    "E0205", "the function that is called on eigenvalues is not followed", "use scipy.linalg.eig and a function", "funm"
)
refuse("E0502", "it jumps where an eigenvalue crosses the axis", "use scipy.linalg.eig and np.sign", "signm")
refuse("E0503", "it is a condition number of a derivative", "use scipy.linalg.expm_frechet", "expm_cond")
refuse(
    "E0502",
    "permutations and powers of two change by jumps",
    "scale the matrix with numbers of your own",
    "matrix_balance",
)
refuse("E0503", "angles between spaces have slopes that are infinite at 0", "use scipy.linalg.svdvals of q1.T @ q2",
       "subspace_angles")  # fmt: skip
refuse("E0503", "a derivative is not written down", "use scipy.linalg.svd of a.T @ b", "orthogonal_procrustes")
refuse(
    "E0502",
    "it multiplies by random numbers",
    "draw a matrix with NumPy and multiply by it",
    "clarkson_woodruff_transform",
)
refuse(
    "E0503", "a derivative of the variant for Hermitian matrices is not written down", "use scipy.linalg.pinv", "pinvh"
)
