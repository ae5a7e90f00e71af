"""Shapes: views that rearrange or select memory, and copies that repeat or move it.

A NumPy function's rule gives the derivative; the view shares the memory of its input as PyTorch's does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import view_of

_view = Operation(np.reshape, "ViewBackward0")
_reshape_alias = Operation(np.reshape, "ReshapeAliasBackward0")
_unsafe_view = Operation(np.reshape, "UnsafeViewBackward0")
_permute = Operation(np.transpose, "PermuteBackward0")
_transpose = Operation(np.swapaxes, "TransposeBackward0")
_t = Operation(np.transpose, "TBackward0")
_expand = Operation(np.broadcast_to, "ExpandBackward0")
_unsqueeze = Operation(np.expand_dims, "UnsqueezeBackward0")
_squeeze = {
    "all": Operation(np.squeeze, "SqueezeBackward0"),
    "one": Operation(np.squeeze, "SqueezeBackward1"),
    "several": Operation(np.squeeze, "SqueezeBackward2"),
}
_clone = Operation(np.copy, "CloneBackward0")


def wrapped(dim: int, ndim: int) -> int:
    """A dimension counted from the front; PyTorch's error where it is out of range."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    if not low <= dim <= high:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim % ndim if ndim else 0


def given_shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as several ints or as one sequence."""
    if len(size) == 1 and isinstance(size[0], tuple | list):
        return tuple(int(n) for n in size[0])
    return tuple(int(n) for n in size)


def resolved(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """A shape with -1 filled in."""
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    rest = math.prod(n for n in shape if n != -1)
    if -1 in shape:
        if rest == 0 or count % rest:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
        return tuple(count // rest if n == -1 else n for n in shape)
    if rest != count:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return shape


def _sizes(input: Tensor) -> dict[str, Any]:
    return {"self_sym_sizes": tuple(input.array.shape)}


def _viewed(array: Any, shape: tuple[int, ...]) -> Any:
    """The array in another shape on the same memory, or None where its strides do not allow that."""
    try:
        return np.reshape(array, shape, copy=False)
    except ValueError:
        return None


@function("view", method="view")
def view(input: Tensor, *size: Any) -> Tensor:
    """The same memory in another shape."""
    shape = resolved(given_shape(size), input.array.size)
    if _viewed(input.storage_array(), shape) is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return view_of(input, _view, {"a": input, "shape": shape}, lambda a: a.reshape(shape), saved=_sizes(input))


@function("reshape", method=True)
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Another shape: of the same memory where that is possible, else of a copy."""
    wanted = resolved(given_shape(shape), input.array.size)
    array = input.storage_array()
    if _viewed(array, wanted) is not None:
        operation = _view if array.flags.c_contiguous else _reshape_alias
        return view_of(
            input, operation, {"a": input, "shape": wanted}, lambda a: a.reshape(wanted), saved=_sizes(input)
        )
    copied: Tensor = call(_clone, {"a": input}, array=np.ascontiguousarray(input.array))
    array = copied.array.reshape(wanted)
    made: Tensor = call(_unsafe_view, {"a": copied, "shape": wanted}, array=array, saved=_sizes(input))
    return made


def unsafe_view(input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A fresh result in another shape, which nobody calls a view."""
    made: Tensor = call(
        _unsafe_view, {"a": input, "shape": shape}, array=input.array.reshape(shape), saved=_sizes(input)
    )
    return made


@function("permute", method=True)
def permute(input: Tensor, *dims: Any) -> Tensor:
    """The dimensions in another order."""
    order = given_shape(dims)
    ndim = input.array.ndim
    if len(order) != ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
        )
    axes = tuple(wrapped(d, ndim) for d in order)
    if len(set(axes)) < ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return view_of(input, _permute, {"a": input, "axes": axes}, lambda a: a.transpose(axes), saved={"dims": order})


@function("transpose", "swapaxes", "swapdims", method=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped."""
    a0, a1 = wrapped(dim0, input.array.ndim), wrapped(dim1, input.array.ndim)
    if not input.array.ndim:
        return view_of(input, _permute, {"a": input, "axes": ()}, lambda a: a.transpose(()), saved={"dims": ()})
    return view_of(
        input,
        _transpose,
        {"a": input, "axis1": a0, "axis2": a1},
        lambda a: a.swapaxes(a0, a1),
        saved={"dim0": dim0, "dim1": dim1},
    )


@function("t", method=True)
def t(input: Tensor) -> Tensor:
    """A matrix transposed."""
    ndim = input.array.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    axes = tuple(reversed(range(ndim)))
    return view_of(input, _t, {"a": input, "axes": axes}, lambda a: a.transpose(axes))


@function("unsqueeze", method=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dimension of size one put in."""
    axis = wrapped(dim, input.array.ndim + 1)
    return view_of(input, _unsqueeze, {"a": input, "axis": axis}, lambda a: np.expand_dims(a, axis), saved={"dim": dim})


@function("squeeze", method=True)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Dimensions of size one taken out."""
    array = input.storage_array()
    if dim is None:
        kind, axes = "all", tuple(i for i, n in enumerate(array.shape) if n == 1)
    elif isinstance(dim, tuple | list):
        kind, axes = "several", tuple(a for d in dim if array.shape[a := wrapped(d, array.ndim)] == 1)
    else:
        axis = wrapped(dim, array.ndim)
        kind, axes = "one", (axis,) if array.ndim and array.shape[axis] == 1 else ()
    values = {"a": input, "axis": axes}
    return view_of(input, _squeeze[kind], values, lambda a: a.squeeze(axes), saved=_sizes(input))


@function("broadcast_to", method="expand")
def expand(input: Tensor, *sizes: Any, implicit: bool = False) -> Tensor:
    """Dimensions of size one repeated, without memory."""
    wanted = given_shape(sizes)
    given = input.array.shape
    if len(wanted) < len(given):
        raise RuntimeError(
            f"expand({input.type()}{{{list(given)}}}, size={list(wanted)}): the number of sizes provided "
            f"({len(wanted)}) must be greater or equal to the number of dimensions in the tensor ({len(given)})"
        )
    extra = len(wanted) - len(given)
    shape = tuple(given[i - extra] if n == -1 else n for i, n in enumerate(wanted))
    for i, n in enumerate(shape):
        if i >= extra and given[i - extra] not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({given[i - extra]}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(given)}"
            )
    return view_of(
        input,
        _expand,
        {"array": input, "shape": shape},
        lambda a: _expanded(a, shape),
        saved=_sizes(input),
    )


def _expanded(array: Any, shape: tuple[int, ...]) -> Any:
    if is_lifted(array):
        return np.broadcast_to(array, shape)
    return np.lib.stride_tricks.as_strided(array, shape, _strides(array, shape))


setattr(Tensor, "broadcast_to", expand)  # noqa: B010


def _strides(array: Any, shape: tuple[int, ...]) -> Any:
    extra = len(shape) - array.ndim
    return (0,) * extra + tuple(
        0 if n == 1 and m != 1 else stride
        for n, m, stride in zip(array.shape, shape[extra:], array.strides, strict=True)
    )


@function("flatten", method=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Neighbouring dimensions made one."""
    shape = input.array.shape
    if not shape:
        return reshape(input, 1)
    first, last = wrapped(start_dim, len(shape)), wrapped(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return input
    return reshape(input, shape[:first] + (math.prod(shape[first : last + 1]),) + shape[last + 1 :])


@function("ravel", method=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    made: Tensor = view(input.contiguous(), -1)
    return made


@method("view_as")
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same memory in the shape of another tensor."""
    return view(self, other.array.shape)


@method("reshape_as")
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The shape of another tensor."""
    return reshape(self, other.array.shape)


@method("expand_as")
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Repeated to the shape of another tensor."""
    return expand(self, other.array.shape)


@property  # type: ignore[misc]
def _T(self: Tensor) -> Tensor:
    return permute(self, tuple(reversed(range(self.array.ndim))))


@property  # type: ignore[misc]
def _mT(self: Tensor) -> Tensor:
    if self.array.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self.array.ndim}-D tensor."
        )
    return transpose(self, -2, -1)


setattr(Tensor, "T", _T)  # noqa: B010
setattr(Tensor, "mT", _mT)  # noqa: B010
