"""Matrices: inverses, determinants and the solutions of linear systems, under the names and errors of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.constants import Number
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.picking import where
from srcgrad.eager.operations.rearranging import adjoint, tril, triu
from srcgrad.eager.operations.shaping import permute, reshape, squeeze, unsqueeze, view
from srcgrad.eager.policy import following
from srcgrad.eager.registry import function
from srcgrad.eager.return_types import Results, results
from srcgrad.eager.tensor import Tensor


class _LinAlgError(RuntimeError):
    """A matrix has no inverse or no factors of the wanted kind."""


LinAlgError = function("LinAlgError", module="linalg")(_LinAlgError)


# --- checks ----------------------------------------------------------------------------------------------------------
def check_floating(name: str, input: Tensor) -> None:
    """Refuse whole numbers."""
    if input.dtype.category < 2:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {input.dtype.long_name}")


def check_matrix(name: str, input: Tensor, argument: str = "A") -> None:
    """Refuse what has fewer than two dimensions."""
    if input.array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(name: str, input: Tensor) -> None:
    """Refuse what is no stack of square matrices of floating-point numbers."""
    check_matrix(name, input)
    m, n = input.array.shape[-2:]
    if m != n:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {m} by {n} matrices")
    check_floating(name, input)
    if input.array.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {input.dtype.long_name}")


def first_failure(stack: Any, fails: Callable[[Any], int]) -> tuple[str, int] | None:
    """Where in a stack a matrix fails first: words for the error, and the place in that matrix."""
    flat = stack.reshape(-1, *stack.shape[-2:])
    for number, matrix in enumerate(flat):
        place = fails(matrix)
        if place:
            return (f" (Batch element {number}):" if stack.ndim > 2 else ""), place
    return None


def _zero_pivot(matrix: Any) -> int:
    """The number of the first zero on the diagonal of a matrix's triangular factor, counted from 1; 0 if none."""
    u = np.array(matrix)
    n = len(u)
    for k in range(n):
        best = k + int(np.argmax(np.abs(u[k:, k])))
        u[[k, best]] = u[[best, k]]
        if u[k, k] == 0:
            return k + 1
        u[k + 1 :] -= np.outer(u[k + 1 :, k] / u[k, k], u[k])
    return 0


# --- inverses and determinants ---------------------------------------------------------------------------------------
_inv = Operation(np.linalg.inv, "LinalgInvExBackward0", {"y": "inverse"})
_det = following(Operation(np.linalg.det, "LinalgDetBackward0", {"a": "A", "y": "result"}))
_slogdet = Operation(np.linalg.slogdet, "LinalgSlogdetBackward0", {"a": "A"})
_solve = Operation(np.linalg.solve, "LinalgSolveExBackward0", {"a": "A", "x": "result"})
_pinv = Operation(np.linalg.pinv, "LinalgPinvBackward0", {"a": "self", "p": "result"})
_lstsq = Operation(np.linalg.lstsq, "LinalgLstsqBackward0", {"a": "self"})


def inv(A: Tensor, *, out: Any = None) -> Tensor:
    """The inverse."""
    check_square("linalg.inv", A)
    try:
        made: Tensor = call(_inv, {"a": A}, facts=True)
    except np.linalg.LinAlgError:
        where_, place = first_failure(A.array, _zero_pivot) or ("", A.array.shape[-1])
        raise _LinAlgError(
            f"linalg.inv:{where_} The diagonal element {place} is zero, the inversion could not be completed because "
            "the input matrix is singular."
        ) from None
    return made


function("inv", module="linalg")(inv)
function("inverse", method=True)(inv)


@function("inv_ex", module="linalg")
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Results:
    """The inverse, and whether there was one."""
    return results("linalg_inv_ex", ("inverse", "info"), inv(A), leaf(np.zeros(A.array.shape[:-2], np.int32)))


def det(A: Tensor, *, out: Any = None) -> Tensor:
    """The determinant."""
    check_square("linalg.det", A)
    made: Tensor = call(_det, {"a": A}, facts=True)
    return made


function("det", method=True)(det)
function("det", module="linalg")(det)


def _signed(name: str, type_name: str) -> Callable[..., Results]:
    def slogdet(A: Tensor, *, out: Any = None) -> Results:
        check_square("linalg.slogdet", A)
        sign, logarithm = call(_slogdet, {"a": A}, facts=True)
        if not A.dtype.is_complex:
            sign.node = None
        return results(type_name, ("sign", "logabsdet"), sign, logarithm)

    slogdet.__doc__ = "The sign of the determinant and the logarithm of its size."
    return slogdet


slogdet = function("slogdet", module="linalg")(_signed("linalg.slogdet", "linalg_slogdet"))
function("slogdet", method=True)(_signed("slogdet", "slogdet"))


@function("logdet", method=True)
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    check_square("logdet", input)
    sign, logarithm = slogdet(input)
    if input.dtype.is_complex:
        total: Tensor = sign.log() + logarithm
        return total
    made: Tensor = where(sign == -1.0, float("nan"), logarithm)
    return made


# --- systems ---------------------------------------------------------------------------------------------------------
@function("solve", module="linalg")
def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor:
    """The ``X`` of ``A X = B``, or of ``X A = B``."""
    check_square("linalg.solve", A)
    if not left:
        return _turned(solve(_turned(A), _turned(B)))
    vector = B.array.ndim == 1 or (A.array.ndim - 1 == B.array.ndim and B.array.shape == A.array.shape[:-1])
    rows = B.array.shape[-1 if vector else -2]
    n = A.array.shape[-1]
    if rows != n:
        right = f"{rows}x1" if vector else "x".join(map(str, B.array.shape[-2:]))
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({n}x{n} and {right})"
        )
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type {A.dtype.long_name} and B of "
            f"type {B.dtype.long_name} instead"
        )
    try:
        if vector and B.array.ndim > 1:
            made: Tensor = squeeze(call(_solve, {"a": A, "b": unsqueeze(B, -1)}, facts=True), -1)
        else:
            made = call(_solve, {"a": A, "b": B}, facts=True, saved={"left": True})
    except np.linalg.LinAlgError:
        where_, _ = first_failure(A.array, _zero_pivot) or ("", 0)
        raise _LinAlgError(
            f"torch.linalg.solve:{where_} The solver failed because the input matrix is singular."
        ) from None
    return made


def _turned(A: Tensor) -> Tensor:
    made: Tensor = A.transpose(-2, -1) if A.array.ndim > 1 else A
    return made


@function("solve_ex", module="linalg")
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Results:
    """The solution, and whether there was one."""
    made = solve(A, B, left=left)
    return results("linalg_solve_ex", ("result", "info"), made, leaf(np.zeros(A.array.shape[:-2], np.int32)))


@function("solve_triangular", module="linalg")
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None
) -> Tensor:
    """The ``X`` of ``A X = B`` for a triangular ``A``, the other triangle being ignored."""
    check_square("linalg.solve_triangular", A)

    def compute(a: Tensor, b: Tensor) -> Tensor:
        return solve(triangle(a, upper, unitriangular), b, left=left)

    saved = {"upper": upper, "left": left, "unitriangular": unitriangular}
    made: Tensor = composed("LinalgSolveTriangularBackward0", compute, A, B, slots=("self",), saved=saved)
    return made


def triangle(a: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """One triangle of a matrix, with ones on the diagonal if so wanted."""
    made = (triu if upper else tril)(a, (1 if upper else -1) if unit else 0)
    return made + leaf(np.eye(a.array.shape[-1], dtype=a.array.dtype)) if unit else made


@function("triangular_solve", method=True)
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Results:
    """The ``X`` of ``A X = b`` for a triangular ``A``, and a copy of ``A``."""

    def compute(b: Tensor, a: Tensor) -> Tensor:
        matrix = triangle(a, upper, unitriangular)
        return solve(_turned(matrix) if transpose else matrix, b)

    saved = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    made = composed("TriangularSolveBackward0", compute, b, A, slots=("self", "A"), saved=saved)
    return results("triangular_solve", ("solution", "cloned_coefficient"), made, A.clone())


@function("pinv", module="linalg")
def pinv(
    A: Tensor, *, atol: Number = None, rtol: Number = None, hermitian: bool = False, rcond: Number = None
) -> Tensor:
    """The pseudoinverse."""
    if A.array.ndim < 2 or A.dtype.category < 2:
        raise RuntimeError(
            f"linalg.pinv({A.dtype.long_name}{{{list(A.array.shape)}}}): expected a tensor with 2 or more dimensions "
            "of float, double, cfloat or cdouble types"
        )
    share = rcond if rcond is not None else rtol
    if share is None and atol is None:
        share = max(A.array.shape[-2:]) * np.finfo(A.array.dtype).eps
    elif atol is not None:
        greatest = float(np.max(np.linalg.svd(A.array, compute_uv=False)))
        share = max(float(share or 0.0), float(atol) / greatest)
    values = {"a": A, "rcond": float(share)} | ({"hermitian": True} if hermitian else {})
    made: Tensor = call(_pinv, values, facts=True)
    return made


function("pinverse", method=True)(pinv)


@function("lstsq", module="linalg")
def lstsq(A: Tensor, B: Tensor, rcond: Number = None, *, driver: str | None = None) -> Results:
    """The ``X`` that brings ``A X`` nearest to ``B``."""
    check_matrix("torch.linalg.lstsq", A, "input")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    check_floating("torch.linalg.lstsq", A)
    vector = B.array.ndim == A.array.ndim - 1
    if A.array.shape[-2] != B.array.shape[-1 if vector else -2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(" + ("-1)" if vector else "-2)"))
    if A.array.ndim > 2:

        def compute(a: Tensor, b: Tensor) -> Tensor:
            made: Tensor = pinv(a) @ (unsqueeze(b, -1) if vector else b)
            return squeeze(made, -1) if vector else made

        solution = composed("LinalgLstsqBackward0", compute, A, B, slots=("self", "b"))
        rank = np.linalg.matrix_rank(A.array)
    else:
        solved = np.linalg.lstsq(A.array, B.array, rcond=rcond)
        rank = solved[2]

        def one(a: Tensor, b: Tensor) -> Tensor:
            made: Tensor = call(_lstsq, {"a": a, "b": b, "rcond": rcond}, array=_arrays(solved))[0]
            return made

        solution = composed("LinalgLstsqBackward0", one, A, B, slots=("self", "b"))
    empty = np.zeros(0, A.array.real.dtype)
    residuals = empty
    if A.array.shape[-2] > A.array.shape[-1] and A.array.ndim == 2 and int(rank) == A.array.shape[-1]:
        residuals = np.atleast_1d(solved[1]) if not vector else np.asarray(solved[1]).reshape(())
    fields = ("solution", "residuals", "rank", "singular_values")
    return results("linalg_lstsq", fields, solution, leaf(residuals), leaf(np.asarray(rank, np.int64)), leaf(empty))


def _arrays(values: Any) -> tuple[Any, ...]:
    return tuple(np.asarray(value) for value in values)


@function("tensorinv", module="linalg")
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map from the last dimensions to the first ``ind``."""
    shape = A.array.shape
    size = int(np.prod(shape[ind:]))
    inverse = inv(reshape(A, -1, size))
    made: Tensor = composed("ReshapeAliasBackward0", lambda a: view(a, shape[ind:] + shape[:ind]), inverse, keeps=True)
    return made


@function("tensorsolve", module="linalg")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The ``X`` whose product with ``A`` over all of ``X``'s dimensions is ``B``."""
    if dims is not None:
        rest = [d for d in range(A.array.ndim) if d not in dims]
        A = permute(A, rest + list(dims))
    shape = A.array.shape[B.array.ndim :]
    size = int(np.prod(shape))
    return view(solve(reshape(A, -1, size), reshape(B, -1) if B.array.ndim > 1 else B), shape)


# --- from factors ----------------------------------------------------------------------------------------------------
def _ignoring_other(factor: Tensor, upper: bool) -> Tensor:
    """The factor of which one triangle counts; a gradient reaches all of it, as PyTorch's does."""
    made: Tensor = factor + (triangle(factor, upper) - factor).detach()
    return made


def _product(factor: Tensor, upper: bool) -> Tensor:
    whole = _ignoring_other(factor, upper)
    made: Tensor = adjoint(whole) @ whole if upper else whole @ adjoint(whole)
    return made


@function("cholesky_solve", method=True)
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The ``X`` of ``A X = B``, of the triangular factor of ``A``."""
    made: Tensor = composed(
        "CholeskySolveBackward0", lambda b, f: solve(_product(f, upper), b), B, L,
        slots=("self", "input2"), saved={"upper": upper},
    )  # fmt: skip
    return made


@function("cholesky_inverse", method=True)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of a matrix, of its triangular factor."""
    made: Tensor = composed(
        "CholeskyInverseBackward0", lambda f: inv(_product(f, upper)), L, slots=("self",), saved={"upper": upper}
    )
    return made
