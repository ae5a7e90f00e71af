"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager.constants import Number
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.matrix import matmul
from srcgrad.eager.operations.products import linalg_cross, matrix_power, multi_dot
from srcgrad.eager.operations.rearranging import diagonal, movedim
from srcgrad.eager.operations.reductions import sum as sum_of
from srcgrad.eager.operations.reductions import vector_norm
from srcgrad.eager.operations.shaping import squeeze, unsqueeze
from srcgrad.eager.operations.systems import check_floating, check_matrix, inv
from srcgrad.eager.registry import FUNCTIONS, function
from srcgrad.eager.tensor import Tensor

function("cross", module="linalg")(linalg_cross)
function("matrix_power", module="linalg")(matrix_power)
function("multi_dot", module="linalg")(multi_dot)
function("matmul", module="linalg")(matmul)


def _vector_norm(
    x: Tensor, ord: Number = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The norm of all elements as one vector, or of the vectors along dimensions."""
    return vector_norm(x if dtype is None else x.to(dtype), ord, dim, keepdim)


function("vector_norm", module="linalg")(_vector_norm)


def matrix_norm(
    A: Tensor, ord: Number = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None
) -> Tensor:
    """The norm of matrices."""
    check_matrix("linalg.matrix_norm", A)
    check_floating("linalg.matrix_norm", A)
    if dtype is not None:
        A = A.to(dtype)
    rows, columns = (d % A.array.ndim for d in dim)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if ord not in ("nuc", 2, -2, 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    extreme = FUNCTIONS[""]["amin" if ord != "nuc" and ord < 0 else "amax"]
    if ord in ("nuc", 2, -2):
        from srcgrad.eager.operations.factors import singular

        moved = movedim(A, (rows, columns), (-2, -1))
        values = singular(moved, False)[1]
        made: Tensor = sum_of(values, -1, keepdim) if ord == "nuc" else extreme(values, -1, keepdim)
        if keepdim:
            made = movedim(unsqueeze(made, -1), (-2, -1), (rows, columns))
        return made
    first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, first, keepdim)
    result: Tensor = extreme(sums, second if keepdim or first > second else second - 1, keepdim)
    return result


function("matrix_norm", module="linalg")(matrix_norm)


@function("norm", module="linalg")
def norm(
    A: Tensor, ord: Number = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None
) -> Tensor:
    """The norm of a vector or of a matrix."""
    if dim is not None and not isinstance(dim, int):
        dim = tuple(dim)
    if ord is not None and (isinstance(dim, tuple) and len(dim) == 2 or (dim is None and A.array.ndim == 2)):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if ord is not None and dim is None and A.array.ndim > 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.array.ndim}D."
        )
    if isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype)
    return _vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


@function("cond", module="linalg")
def cond(A: Tensor, p: Number = None, *, out: Any = None) -> Tensor:
    """How much a system of this matrix magnifies errors."""
    if A.array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        from srcgrad.eager.operations.factors import singular

        values = singular(A, False)[1]
        count = values.array.shape[-1]
        greatest, least = values.narrow(-1, 0, 1), values.narrow(-1, count - 1, 1)
        quotient: Tensor = least / greatest if p == -2 else greatest / least
        return squeeze(quotient, -1)
    made: Tensor = (matrix_norm(A, p) * matrix_norm(inv(A), p)).nan_to_num(float("inf"), float("inf"), -float("inf"))
    return made


@function("matrix_rank", module="linalg")
def matrix_rank(
    A: Tensor, *, tol: Number = None, atol: Number = None, rtol: Number = None, hermitian: bool = False
) -> Tensor:
    """The number of singular values that are not negligible."""
    values = np.abs(np.linalg.eigvalsh(A.array)) if hermitian else np.linalg.svd(A.array, compute_uv=False)
    share = rtol if rtol is not None else max(A.array.shape[-2:]) * np.finfo(A.array.dtype).eps
    least = tol if tol is not None else np.maximum(atol or 0.0, share * values.max(-1, keepdims=True))
    return leaf(np.sum(values > least, -1).astype(np.int64))


@function("vecdot", module="linalg")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """Sums of conjugates times elements, along a dimension."""
    if x.array.ndim == y.array.ndim == 1:
        made: Tensor = x.vdot(y)
        return made
    return sum_of(x.conj() * y, dim)


@function("diagonal", module="linalg")
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return diagonal(A, offset, dim1, dim2)


@function("vander", module="linalg")
def linalg_vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of each element in a row, from the zeroth on."""
    count = x.array.shape[-1] if N is None else N
    ones = leaf(np.ones((*x.array.shape, 1), x.array.dtype))
    spread = unsqueeze(x, -1).expand(*x.array.shape, count - 1)
    made: Tensor = FUNCTIONS[""]["cat"]([ones, spread.cumprod(-1)], -1)
    return made
