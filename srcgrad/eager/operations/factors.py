"""Matrices taken apart: triangular, orthogonal and eigenvalue factors, and functions of whole matrices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.rearranging import adjoint, tril, triu
from srcgrad.eager.operations.rounding import underivable
from srcgrad.eager.operations.systems import (
    _LinAlgError,
    check_floating,
    check_matrix,
    check_square,
    first_failure,
    solve,
)
from srcgrad.eager.registry import function
from srcgrad.eager.return_types import Results, results
from srcgrad.eager.tensor import Tensor

_cholesky = Operation(np.linalg.cholesky, "LinalgCholeskyExBackward0", {"y": "L"})
_qr = Operation(np.linalg.qr, "LinalgQrBackward0")
_svd = Operation(np.linalg.svd, "LinalgSvdBackward0")
_eigh = Operation(np.linalg.eigh, "LinalgEighBackward0")
_eig = Operation(np.linalg.eig, "LinalgEigBackward0")


def _hermitian(a: Tensor) -> Tensor:
    """A matrix as the mean of itself and its adjoint: gradients reach both triangles alike, as PyTorch's do."""
    made: Tensor = (a + adjoint(a)) / 2
    return made


def _indefinite(matrix: Any) -> int:
    """The order of the first leading minor that is not positive, 0 if all are."""
    for n in range(1, len(matrix) + 1):
        try:
            np.linalg.cholesky(matrix[:n, :n])
        except np.linalg.LinAlgError:
            return n
    return 0


def _lower_factor(name: str, input: Tensor, upper: bool) -> Tensor:
    check_square(name, input)
    try:
        array = np.linalg.cholesky(input.array, upper=upper)
    except np.linalg.LinAlgError:
        where_, place = first_failure(input.array, _indefinite) or ("", 1)
        raise _LinAlgError(
            f"{name}:{where_} The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {place} is not positive-definite)."
        ) from None
    values = {"upper": True} if upper else {}

    def compute(a: Tensor) -> Tensor:
        made: Tensor = call(_cholesky, {"a": _hermitian(a), **values}, facts=True, array=array)
        return made

    made: Tensor = composed("LinalgCholeskyExBackward0", compute, input, saved={"upper": upper})
    return made


@function("cholesky", module="linalg")
def cholesky(A: Tensor, *, upper: bool = False, out: Any = None) -> Tensor:
    """The lower triangular factor of a positive-definite matrix."""
    return _lower_factor("linalg.cholesky", A, upper)


@function("cholesky", method=True)
def old_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """The triangular factor of a positive-definite matrix."""
    return _lower_factor("cholesky", input, upper)


@function("cholesky_ex", module="linalg")
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Results:
    """The triangular factor, and whether there was one."""
    info = np.zeros(A.array.shape[:-2], np.int32)
    return results("linalg_cholesky_ex", ("L", "info"), cholesky(A, upper=upper), leaf(info))


def _orthogonal(type_name: str, A: Tensor, mode: str) -> Results:
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    if mode == "r":
        r = leaf(np.linalg.qr(A.array, "r"))
        return results(type_name, ("Q", "R"), leaf(np.zeros(0, A.array.dtype)), underivable(r, (A,), "linalg_qr"))
    q, r = call(_qr, {"a": A, "mode": mode}, facts=True, saved={"mode": mode})
    return results(type_name, ("Q", "R"), q, r)


@function("qr", module="linalg")
def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Results:
    """An orthogonal and an upper triangular factor."""
    return _orthogonal("linalg_qr", A, mode)


@function("qr", method=True)
def old_qr(input: Tensor, some: bool = True) -> Results:
    """An orthogonal and an upper triangular factor."""
    return _orthogonal("qr", input, "reduced" if some else "complete")


def singular(A: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Left vectors, singular values, right vectors."""
    check_matrix("linalg.svd", A)
    check_floating("linalg.svd", A)
    if not is_lifted(A.array) and not np.all(np.isfinite(A.array)):
        raise _LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    saved = {"full_matrices": full_matrices}
    u, s, vh = call(_svd, {"a": A, "full_matrices": full_matrices}, facts=True, saved=saved)
    return u, s, vh


def _check_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@function("svd", module="linalg")
def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Results:
    """Singular values, and the vectors on both sides."""
    _check_driver(driver)
    return results("linalg_svd", ("U", "S", "Vh"), *singular(A, full_matrices))


@function("svd", method=True)
def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Results:
    """Singular values, and the vectors on both sides as columns; zeros in place of vectors that are not wanted."""
    if not compute_uv:
        *batch, m, n = input.array.shape
        none = [leaf(np.zeros((*batch, k, k), input.array.dtype)) for k in (m, n)]
        return results("svd", ("U", "S", "V"), none[0], singular(input, False)[1], none[1])
    u, s, vh = singular(input, not some)
    return results("svd", ("U", "S", "V"), u, s, adjoint(vh))


@function("svdvals", module="linalg")
def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """Singular values."""
    _check_driver(driver)
    return singular(A, False)[1]


# --- eigenvalues -----------------------------------------------------------------------------------------------------
def _symmetric(A: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
    if A.dtype.category < 2:
        raise NotImplementedError(f"\"linalg_eigh_cpu\" not implemented for '{A.dtype.long_name}'")
    check_square("linalg.eigh", A)
    arrays = tuple(np.linalg.eigh(A.array, UPLO))  # type: ignore[call-overload]

    def compute(a: Tensor) -> tuple[Tensor, ...]:
        made: tuple[Tensor, ...] = call(_eigh, {"a": _hermitian(a), "UPLO": UPLO}, facts=True, array=arrays)
        return made

    values, vectors = composed("LinalgEighBackward0", compute, A)
    return values, vectors


@function("eigh", module="linalg")
def eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Results:
    """Eigenvalues and eigenvectors of a Hermitian matrix."""
    return results("linalg_eigh", ("eigenvalues", "eigenvectors"), *_symmetric(A, UPLO))


@function("eigvalsh", module="linalg")
def eigvalsh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Tensor:
    """Eigenvalues of a Hermitian matrix."""
    return _symmetric(A, UPLO)[0]


def _general(name: str, A: Tensor) -> tuple[Tensor, Tensor]:
    if A.dtype.category < 2:
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.long_name}")
    check_square(name, A)
    d = A.dtype.to_complex().numpy
    values, vectors = np.linalg.eig(A.array)
    values, vectors = call(_eig, {"a": A}, facts=True, array=(values.astype(d), vectors.astype(d)))
    return values, vectors


@function("eig", module="linalg")
def eig(A: Tensor, *, out: Any = None) -> Results:
    """Eigenvalues and eigenvectors, complex ones."""
    return results("linalg_eig", ("eigenvalues", "eigenvectors"), *_general("linalg.eig", A))


@function("eigvals", module="linalg")
def eigvals(A: Tensor, *, out: Any = None) -> Tensor:
    """Eigenvalues, complex ones."""
    return _general("linalg.eigvals", A)[0]


# --- functions of SciPy ----------------------------------------------------------------------------------------------
def _scipy_linalg(name: str, caller: str) -> Callable[..., Any]:
    try:
        from scipy import linalg
    except ImportError:
        raise ImportError(
            f"torch.{caller} is computed by SciPy, which is not installed; install srcgrad[scipy]"
        ) from None
    found: Callable[..., Any] = getattr(linalg, name)
    return found


@cache
def _expm() -> Operation:
    return Operation(_scipy_linalg("expm", "linalg.matrix_exp"), "LinalgMatrixExpBackward0", {"A": "self"})


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of a matrix."""
    check_square("linalg.matrix_exp", A)
    made: Tensor = call(_expm(), {"A": A}, facts=True)
    return made


function("matrix_exp", method=True)(matrix_exp)
function("matrix_exp", module="linalg")(matrix_exp)


@cache
def _lu() -> Operation:
    return Operation(_scipy_linalg("lu", "linalg.lu"), "LinalgLuBackward0")


def _check_pivot(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@function("lu", module="linalg")
def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Results:
    """A permutation, a lower and an upper triangular factor."""
    check_matrix("linalg.lu", A)
    _check_pivot(pivot)
    p, lower, upper = call(_lu(), {"a": A}, facts=True, saved={"pivot": pivot})
    p.node = None
    return results("linalg_lu", ("P", "L", "U"), p, lower, upper)


@function("lu_factor", module="linalg")
def lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Results:
    """Both triangular factors in one matrix, and which rows were exchanged."""
    check_matrix("linalg.lu_factor", A)
    _check_pivot(pivot)
    packed, pivots = _scipy_linalg("lu_factor", "linalg.lu_factor")(A.array)

    def compute(a: Tensor) -> Tensor:
        _, lower, upper = lu(a)
        rows, columns = lower.array.shape[-2], upper.array.shape[-1]
        left = tril(lower, -1)
        if rows != columns:
            padded = leaf(np.zeros(a.array.shape, a.array.dtype))
            left = padded.slice_scatter(left, -1, 0, left.array.shape[-1])
            upper = padded.slice_scatter(upper, -2, 0, upper.array.shape[-2])
        packed: Tensor = left + upper
        return packed

    made = composed("LinalgLuFactorExBackward0", compute, A)
    made.array = packed
    return results("linalg_lu_factor", ("LU", "pivots"), made, leaf((pivots + 1).astype(np.int32)))


def permutation(pivots: Any, n: int) -> Any:
    """The order of the rows after they were exchanged one after the other; of each matrix."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    orders = np.tile(np.arange(n), (len(flat), 1))
    for order, exchanges in zip(orders, flat, strict=True):
        for i, j in enumerate(exchanges - 1):
            order[[i, j]] = order[[j, i]]
    return orders.reshape(*pivots.shape[:-1], n)


@function("lu_solve", method=True)
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The ``X`` of ``A X = b``, of the factors of ``A``."""
    return solve_factored(LU_data, LU_pivots, b)


@function("lu_solve", module="linalg")
def solve_factored(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The ``X`` of ``A X = B``, of the factors of ``A``."""
    n = LU.array.shape[-1]
    rows = leaf(np.eye(n, dtype=LU.array.dtype)[permutation(pivots.array, n)])

    def compute(packed: Tensor, b: Tensor) -> Tensor:
        lower = tril(packed, -1) + leaf(np.eye(n, dtype=packed.array.dtype))
        if adjoint or not left:
            matrix = rows.transpose(-2, -1) @ (lower @ triu(packed))
            return solve(matrix.transpose(-2, -1).conj() if adjoint else matrix, b, left=left)
        return solve(triu(packed), solve(lower, rows @ b))

    saved = {"left": left, "adjoint": adjoint}
    made: Tensor = composed("LinalgLuSolveBackward0", compute, LU, B, slots=("LU",), saved=saved)
    return made


# --- reflections -----------------------------------------------------------------------------------------------------
def _reflections(a: Tensor, tau: Tensor) -> Tensor:
    """The product of the reflections whose directions are below the diagonal."""
    m = a.array.shape[-2]
    eye = leaf(np.eye(m, dtype=a.array.dtype))
    product = eye
    below = tril(a, -1)
    for i in range(tau.array.shape[-1]):
        v = (below[..., :, i] + eye[i]).unsqueeze(-1)
        product = product @ (eye - tau[..., i, None, None] * (v @ adjoint(v)))
    return product


@function("householder_product", module="linalg")
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of a product of reflections."""

    def compute(a: Tensor, t: Tensor) -> Tensor:
        made: Tensor = _reflections(a, t)[..., :, : a.array.shape[-1]]
        return made

    made: Tensor = composed("LinalgHouseholderProductBackward0", compute, A, tau, slots=("input", "tau"))
    return made


function("orgqr", method=True)(householder_product)


@function("ormqr", method=True)
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """A matrix times a product of reflections."""

    def compute(a: Tensor, t: Tensor, c: Tensor) -> Tensor:
        q = _reflections(a, t)
        q = adjoint(q) if transpose else q
        made: Tensor = q @ c if left else c @ q
        return made

    saved = {"left": left, "transpose": transpose}
    made: Tensor = composed(
        "OrmqrBackward0", compute, input, tau, other, slots=("self", "input2", "input3"), saved=saved
    )
    return made


@function("geqrf", method=True)
def geqrf(input: Tensor) -> Results:
    """The orthogonal factor as reflections, below the upper triangular one; there is no derivative."""
    if input.array.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    packed, tau = np.linalg.qr(input.array, "raw")
    made = leaf(np.ascontiguousarray(np.swapaxes(packed, -1, -2)))
    message = "the derivative for 'geqrf' is not implemented."
    first = underivable(made, (input,), "geqrf", "GeqrfBackward0", message)
    return results("geqrf", ("a", "tau"), first, underivable(leaf(tau), (input,), "geqrf", "GeqrfBackward0", message))
