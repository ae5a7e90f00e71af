"""Products of vectors and matrices, under the names and with the checks of PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.modes import anomaly, state
from srcgrad.eager.operations.arithmetic import binary_operator
from srcgrad.eager.operations.creation import clone
from srcgrad.eager.operations.shaping import reshape, t, transpose, unsafe_view, unsqueeze
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_mm = Operation(np.matmul, "MmBackward0", {"x1": "self", "x2": "mat2"})
_mv = Operation(np.matmul, "MvBackward0", {"x1": "self", "x2": "vec"})
_dot = Operation(np.matmul, "DotBackward0", {"x1": "self", "x2": "tensor"})
_squeezed = Operation(np.squeeze, "SqueezeBackward4")
_bmm = Operation(np.matmul, "BmmBackward0", {"x1": "self", "x2": "mat2"})


_appliers: dict[Any, Any] = {}  # of products of plain arrays, by operation, ranks, dtype and who requires grad


def _product(
    operation: Operation, a: Tensor, b: Tensor, what: str = "expected m1 and m2 to have the same dtype"
) -> Tensor:
    x, y = a.array, b.array
    plain = type(x) is np.ndarray and type(y) is np.ndarray and x.dtype is y.dtype and state.recording
    case = None
    if plain and not anomaly.enabled and not state.saved_hooks:
        case = operation, x.ndim, y.ndim, x.dtype, a.requires_grad, b.requires_grad
        applied = _appliers.get(case)
        if applied is not None:
            product: Tensor = applied(np.matmul(x, y), a, b)
            if type(product) is Tensor:
                return product
    if a.array.dtype != b.array.dtype:
        names = [dtypes.of(t.array).long_name.lower() for t in (a, b)]
        names = [{"half": "c10::Half", "long": "long long"}.get(name, name) for name in names]
        raise RuntimeError(f"{what}, but got: {names[0]} != {names[1]}")
    array = np.matmul(a.array, b.array)
    made: Tensor = call(operation, {"x1": a, "x2": b}, facts=True, array=array)
    if case is not None and made.node is not None:
        wanted = tuple(p for p, t in (("x1", a), ("x2", b)) if t.requires_grad)
        _appliers[case] = operation.learned({"x1": a, "x2": b}, wanted, made.node)
    return made


def _shapes(a: Tensor, b: Tensor) -> str:
    return "x".join(map(str, a.array.shape)) + " and " + "x".join(map(str, b.array.shape))


@function("mm", method=True)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Matrix times matrix."""
    for place, tensor in (("self", input), ("mat2", mat2)):
        if tensor.array.ndim != 2:
            raise RuntimeError(f"{place} must be a matrix")
    if input.array.shape[1] != mat2.array.shape[0]:
        raise RuntimeError(f"mm: mat1 and mat2 shapes cannot be multiplied ({_shapes(input, mat2)})")
    return _product(_mm, input, mat2)


@function("mv", method=True)
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Matrix times vector."""
    m, v = input.array.shape, vec.array.shape
    if len(m) != 2 or len(v) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(m)}, {len(v)}")
    if m[1] != v[0]:
        raise RuntimeError(f"size mismatch, got input ({m[0]}), mat ({m[0]}x{m[1]}), vec ({v[0]})")
    return _product(_mv, input, vec)


@function("dot", method=True)
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """Vector times vector."""
    a, b = input.array, tensor.array
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a.shape[0]}] and src [{b.shape[0]}] to have the same "
            f"number of elements, but got {a.shape[0]} and {b.shape[0]} elements respectively"
        )
    return _product(_dot, input, tensor, "dot : expected both vectors to have same dtype")


@function("bmm", method=True)
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Matrices times matrices, one by one."""
    a, b = input.array.shape, mat2.array.shape
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError("batch1 must be a 3D tensor" if len(a) != 3 else "batch2 must be a 3D tensor")
    if b[:2] != (a[0], a[2]):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}]."
        )
    return _product(_bmm, input, mat2)


@function("matmul", method=True)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product that ``@`` means: of vectors, matrices, and stacks of them."""
    m, n = input.array.ndim, other.array.ndim
    if not m or not n:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == n == 1:
        return dot(input, other)
    if m == 2 and n == 1:
        return mv(input, other)
    if m == 1 and n == 2:
        return fresh_squeeze(mm(unsqueeze(input, 0), other), 0)
    if m == n == 2:
        return mm(input, other)
    return _stacked(input, other, m, n)


def fresh_squeeze(input: Tensor, dim: int) -> Tensor:
    """A fresh result without a dimension of size one, which nobody calls a view."""
    axis = dim % input.array.ndim
    saved = {"dim": dim, "self_sym_sizes": tuple(input.array.shape)}
    made: Tensor = call(_squeezed, {"a": input, "axis": axis}, array=input.array.squeeze(axis), saved=saved)
    return made


def _folds(input: Tensor, other: Tensor, m: int, n: int) -> bool:
    """Whether PyTorch folds a stack into the rows of one matrix."""
    larger, smaller = (input, other) if m >= n else (other, input)
    if larger.array.ndim < 3 or smaller.array.ndim > 2:
        return False
    if smaller.requires_grad:
        return True
    if m == 2:
        return False
    shape, strides = larger.array.shape, larger.storage_array().strides
    return not larger.array.size or all(
        strides[i] == strides[i + 1] * shape[i + 1] for i in range(larger.array.ndim - 2)
    )


def _stacked(input: Tensor, other: Tensor, m: int, n: int) -> Tensor:
    """Stacks of matrices as PyTorch multiplies them: folded to one matrix, or as a batch."""
    if _folds(input, other, m, n):
        turned = m < n
        stack = transpose(other, -2, -1) if turned else input
        matrix = other if not turned else t(input) if m == 2 else input
        shape = stack.array.shape
        folded = reshape(stack, math.prod(shape[:-1]), shape[-1])
        if matrix.array.ndim == 1:
            return unsafe_view(mv(folded, matrix), shape[:-1])
        made = unsafe_view(mm(folded, matrix), (*shape[:-1], matrix.array.shape[-1]))
        back: Tensor = clone(transpose(made, -2, -1), memory_format="contiguous") if turned else made
        return back
    a = unsqueeze(input, 0) if m == 1 else input
    b = unsqueeze(other, -1) if n == 1 else other
    batch = np.broadcast_shapes(a.array.shape[:-2], b.array.shape[:-2])
    count = math.prod(batch)
    a3 = reshape(a.expand(*batch, *a.array.shape[-2:]), count, *a.array.shape[-2:])
    b3 = reshape(b.expand(*batch, *b.array.shape[-2:]), count, *b.array.shape[-2:])
    shape = (*batch, *a.array.shape[-2:-1] * (m > 1), *b.array.shape[-1:] * (n > 1))
    return unsafe_view(bmm(a3, b3), shape)


def _matmul_or_not(input: Any, other: Any) -> Any:
    return matmul(input, other)


setattr(Tensor, "__matmul__", binary_operator(_matmul_or_not, "matmul"))  # noqa: B010
