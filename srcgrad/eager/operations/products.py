"""Products that add to something, of more than two factors, of all pairs, and distances between all pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.creation import clone
from srcgrad.eager.operations.matrix import bmm, dot, matmul, mm, mv
from srcgrad.eager.operations.shaping import permute, reshape, unsafe_view, unsqueeze, view, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_vdot = Operation(np.vdot, "VdotBackward0", {"a": "self", "b": "other"})
_cross = Operation(np.cross, "LinalgCrossBackward0", {"a": "self", "b": "other"})


def _scaled(number: Any, made: Tensor) -> Tensor:
    scaled: Tensor = made if number == 1 else made * number
    return scaled


def _mixed(name: str, node: str, product: Any, slots: tuple[str, str]) -> None:
    def f(input: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Tensor:
        def compute(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
            total: Tensor = _scaled(beta, x) + _scaled(alpha, product(a, b))
            return total

        made: Tensor = composed(node, compute, input, a, b, slots=("", *slots), saved={"beta": beta, "alpha": alpha})
        return made

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``beta * input + alpha * product`` ({name})."
    function(name, method=True)(f)
    IN_PLACE[f"{name}_"] = f


def _column_by_row(a: Tensor, b: Tensor) -> Tensor:
    made: Tensor = unsqueeze(a, 1) * b
    return made


def _summed_bmm(a: Tensor, b: Tensor) -> Tensor:
    made: Tensor = bmm(a, b).sum(0)
    return made


IN_PLACE: dict[str, Any] = {}
_mixed("addmm", "AddmmBackward0", mm, ("mat1", "mat2"))
_mixed("addmv", "AddmvBackward0", mv, ("mat", "vec"))
_mixed("addr", "AddrBackward0", _column_by_row, ("vec1", "vec2"))
_mixed("baddbmm", "BaddbmmBackward0", bmm, ("batch1", "batch2"))
_mixed("addbmm", "AddbmmBackward0", _summed_bmm, ("batch1", "batch2"))


@function("vdot", method=True)
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The sum of conjugates times elements."""
    a, b = input.array, other.array
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{input.dtype.long_name} and {other.dtype.long_name}"
        )
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to have the same "
            f"number of elements, but got {a.shape[0]} and {b.shape[0]} elements respectively"
        )
    made: Tensor = call(_vdot, {"a": input, "b": other}, facts=True)
    return made


@function("outer", "ger", method=True)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Each element of one vector times each of another."""
    for tensor in (input, vec2):
        if tensor.array.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {'self' if tensor is input else 'vec2'}, but got {tensor.array.ndim}-D"
            )
    made: Tensor = reshape(input, input.array.size, 1) * vec2
    return made


@function("inner", method=True)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products over the last dimension of both."""
    if not input.array.ndim or not other.array.ndim:
        made: Tensor = input * other
        return made
    if input.array.shape[-1] != other.array.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.array.shape)} and {list(other.array.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


@function("tensordot")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Any = None) -> Tensor:
    """Sums of products over dimensions of both."""
    if isinstance(dims, int):
        first, second = list(range(a.array.ndim - dims, a.array.ndim)), list(range(dims))
    else:
        first, second = (list(d) if isinstance(d, tuple | list) else [d] for d in dims)
    first = [wrapped(d, a.array.ndim) for d in first]
    second = [wrapped(d, b.array.ndim) for d in second]
    for i, j in zip(first, second, strict=True):
        if a.array.shape[i] != b.array.shape[j]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.array.shape[i]} in dim {i} and second has "
                f"size {b.array.shape[j]} in dim {j}"
            )
    free_a = [d for d in range(a.array.ndim) if d not in first]
    free_b = [d for d in range(b.array.ndim) if d not in second]
    shape = tuple(a.array.shape[d] for d in free_a) + tuple(b.array.shape[d] for d in free_b)
    if not shape:
        left = reshape(permute(a, first), -1) if a.array.ndim > 1 else a
        right = reshape(permute(b, second), -1) if b.array.ndim > 1 else b
        return view(dot(left, right), ())
    size = math.prod(a.array.shape[d] for d in first)
    left = reshape(permute(a, free_a + first), -1, size)
    right = reshape(permute(b, second + free_b), size, -1)
    return view(mm(left, right), shape)


@function("kron", method=True)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Every element of one tensor times the whole other one."""
    rank = max(input.array.ndim, other.array.ndim)
    left = (1,) * (rank - input.array.ndim) + input.array.shape
    right = (1,) * (rank - other.array.ndim) + other.array.shape
    a = view(input, [n for pair in zip(left, (1,) * rank, strict=True) for n in pair])
    b = view(other, [n for pair in zip((1,) * rank, right, strict=True) for n in pair])
    return unsafe_view(a * b, tuple(m * n for m, n in zip(left, right, strict=True)))


def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector at right angles to both, along a dimension of size three."""
    if input.array.ndim != other.array.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = wrapped(dim, input.array.ndim)
    if input.array.shape[axis] != 3 or other.array.shape[axis] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input.array.shape[axis]} and "
            f"{other.array.shape[axis]}"
        )
    made: Tensor = call(_cross, {"a": input, "b": other, "axis": axis}, saved={"dim": dim})
    return made


@function("cross", method=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector at right angles to both, along the first dimension of size three."""
    if dim is None:
        dim = next(i for i, n in enumerate(input.array.shape) if n == 3)
    return linalg_cross(input, other, dim=dim)


# --- chains ----------------------------------------------------------------------------------------------------------
def multi_dot(tensors: Any) -> Tensor:
    """The product of a chain of matrices, in the cheapest order."""
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    shape: tuple[int, ...] = ()
    if chain[0].array.ndim == 1:
        chain[0] = unsqueeze(chain[0], 0)
    else:
        shape += chain[0].array.shape[:1]
    if chain[-1].array.ndim == 1:
        chain[-1] = unsqueeze(chain[-1], -1)
    else:
        shape += chain[-1].array.shape[1:]
    while len(chain) > 1:
        sizes = [(chain[i].array.shape[0] * chain[i].array.shape[1] * chain[i + 1].array.shape[1], i)
                 for i in range(len(chain) - 1)]  # fmt: skip
        at = min(sizes)[1]
        chain[at : at + 2] = [mm(chain[at], chain[at + 1])]
    return view(chain[0], shape)


@function("chain_matmul")
def chain_matmul(*matrices: Any) -> Tensor:
    """The product of a chain of matrices."""
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], tuple | list) else matrices
    return multi_dot(given) if len(given) > 1 else given[0]


@function("matrix_power", method=True)
def matrix_power(input: Tensor, n: int) -> Tensor:
    """A matrix times itself, ``n`` factors; of the inverse where ``n`` is negative."""
    if input.array.ndim < 2 or input.array.shape[-1] != input.array.shape[-2]:
        from srcgrad.eager.operations.systems import check_square

        check_square("linalg.matrix_power", input)
    if n == 0:
        made = np.zeros_like(input.array)
        made[...] = np.eye(input.array.shape[-1], dtype=input.array.dtype)
        return Tensor.of(made)
    if n < 0:
        from srcgrad.eager.operations.systems import inv

        return matrix_power(inv(input), -n) if n < -1 else inv(input)
    if n == 1:
        same: Tensor = clone(input)
        return same
    if n == 3:
        return matmul(matmul(input, input), input)
    result: Tensor | None = None
    power = input
    while n:
        if n & 1:
            result = power if result is None else matmul(result, power)
        n >>= 1
        if n:
            power = matmul(power, power)
    assert result is not None
    return result


# --- distances -------------------------------------------------------------------------------------------------------
_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@function("cdist")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The distances between all rows of one tensor and all of another."""
    if compute_mode not in (None, *_MODES):
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    if x1.array.shape[-1] != x2.array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.array.shape[-1]} X2: {x2.array.shape[-1]}"
        )

    def compute(a: Tensor, b: Tensor) -> Tensor:
        made: Tensor = (unsqueeze(a, -2) - unsqueeze(b, -3)).norm(p, dim=-1)
        return made

    made: Tensor = composed("CdistBackward0", compute, x1, x2, slots=("x1", "x2"), saved={"p": p})
    return made


@function("pdist")
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances between all pairs of rows."""
    i, j = np.triu_indices(len(input), 1)
    rows, columns = (Tensor.of(np.asarray(k, dtypes.int64.numpy)) for k in (i, j))

    def compute(a: Tensor) -> Tensor:
        made: Tensor = (a[rows] - a[columns]).norm(p, dim=-1)
        return made

    made: Tensor = composed("PdistBackward0", compute, input, slots=("self",), saved={"p": p})
    return made
