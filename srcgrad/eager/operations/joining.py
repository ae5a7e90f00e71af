"""Tensors put together, along a dimension they have or a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.shaping import expand, reshape, unsqueeze, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.size import Size
from srcgrad.eager.tensor import Tensor

_stack = Operation(np.stack, "StackBackward0")
_cat = Operation(np.concatenate, "CatBackward0")


def _promoted(tensors: list[Tensor]) -> list[Tensor]:
    """Tensors in the dtype of all of them."""
    if len({t.array.dtype for t in tensors}) == 1:
        return tensors
    common = dtypes.result_type([(t.dtype, dtypes.DIMENSIONED if t.array.ndim else dtypes.ZERO_DIM) for t in tensors])
    return [t.to(common) for t in tensors]


def _checked(name: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    given = list(tensors)
    for place, item in enumerate(given):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(item).__name__}")
    return given


def _kept(made: Tensor) -> Tensor:
    """The result, whose node PyTorch lets run again: it saves shapes only."""
    if made.node is not None:
        made.node.keeps = True
    return made


@function("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """Tensors one after the other along a dimension."""
    given = _checked("cat", tensors)
    if not given:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, item in enumerate(given):
        if not item.array.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    dim = dim if axis is None else axis
    given = _promoted(given)
    counted = [t for t in given if t.array.shape != (0,)] or given
    first = counted[0].array
    at = wrapped(dim, first.ndim)
    for place, item in enumerate(given):
        shape = item.array.shape
        if shape == (0,):
            continue
        if len(shape) != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {len(shape)}")
        for d, (m, n) in enumerate(zip(first.shape, shape, strict=True)):
            if d != at and m != n:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {at}. Expected size {m} but got size {n} for "
                    f"tensor number {place} in the list."
                )
    return _kept(call(_cat, {"arrays": counted, "axis": at}, saved={"dim": dim}))


@function("stack")
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape along a new dimension."""
    given = _checked("stack", tensors)
    if not given:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = given[0].array.shape
    at = wrapped(dim, len(shape) + 1)
    for place, item in enumerate(given):
        if item.array.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(item.array.shape)} at entry {place}"
            )
    return _kept(call(_stack, {"arrays": _promoted(given), "axis": at}, saved={"dim": dim}))


def _atleast(name: str, raise_rank: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def f(*tensors: Any) -> Any:
        given = tensors[0] if len(tensors) == 1 else tensors
        if isinstance(given, Tensor):
            return raise_rank(given)
        return tuple(raise_rank(t) for t in given)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Tensors with dimensions of one put in ({name})."
    return f


def _one(t: Tensor) -> Tensor:
    return t if t.array.ndim else reshape(t, 1)


def _two(t: Tensor) -> Tensor:
    return reshape(t, 1, 1) if not t.array.ndim else unsqueeze(t, 0) if t.array.ndim == 1 else t


def _three(t: Tensor) -> Tensor:
    if t.array.ndim == 2:
        return unsqueeze(t, -1)
    return t if t.array.ndim > 2 else unsqueeze(_two(t), -1)


for _name, _raise in (("atleast_1d", _one), ("atleast_2d", _two), ("atleast_3d", _three)):
    function(_name)(_atleast(_name, _raise))


@function("hstack")
def hstack(tensors: Any) -> Tensor:
    """Tensors side by side."""
    given = [_one(t) for t in tensors]
    return cat(given, 0 if given[0].array.ndim == 1 else 1)


@function("vstack", "row_stack")
def vstack(tensors: Any) -> Tensor:
    """Tensors below one another."""
    return cat([_two(t) for t in tensors], 0)


@function("dstack")
def dstack(tensors: Any) -> Tensor:
    """Tensors behind one another."""
    return cat([_three(t) for t in tensors], 2)


@function("column_stack")
def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns, beside matrices."""
    return cat([t if t.array.ndim > 1 else reshape(t, t.array.size, 1) for t in tensors], 1)


@function("broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes broadcast to."""
    return Size(np.broadcast_shapes(*(tuple(s) if isinstance(s, tuple | list) else (s,) for s in shapes)))


@function("broadcast_tensors")
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors repeated to one shape, without memory."""
    shape = np.broadcast_shapes(*(t.array.shape for t in tensors))
    return tuple(expand(t, shape) for t in tensors)


@function("meshgrid")
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid, without memory."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], tuple | list) else list(tensors)
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for t in given:
        if t.array.dtype != given[0].array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if t.array.ndim > 1:
            shown = list(t.array.shape)
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {shown}")
    axes = list(range(len(given)))
    if indexing == "xy":
        axes[:2] = axes[1::-1]  # the first tensor runs along the columns, the second along the rows
    shape = tuple(given[axis].array.size for axis in axes)
    made = []
    for t, axis in zip(given, axes, strict=True):
        column = reshape(t, (1,) * axis + (-1,) + (1,) * (len(given) - axis - 1))
        made.append(expand(column, shape))
    return tuple(made)
