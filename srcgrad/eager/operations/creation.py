"""Tensors from Python's numbers, from arrays, from shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_clone = Operation(np.copy, "CloneBackward0")
_copy = Operation(np.copy, "CopyBackwards")


@function("clone", method=True)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy that is recorded."""
    made: Tensor = call(_clone, {"a": input}, array=np.array(input.array))
    return made


def copied(g: Tensor) -> Tensor:
    """A gradient as ``grad`` holds it when derivatives are recorded."""
    made: Tensor = call(_copy, {"a": g}, array=np.array(g.array))
    return made


@function("from_numpy")
def from_numpy(array: Any) -> Tensor:
    """A tensor that shares the memory of an array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array)
    return Tensor.of(array)


@function("tensor")
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of numbers, nested lists of them or an array, copied."""
    array = np.array(data.array if isinstance(data, Tensor) else data)
    if dtype is not None:
        array = array.astype(dtype.numpy)
    elif not isinstance(data, np.ndarray | np.generic | Tensor) and array.dtype.kind in "fc":
        default = dtypes.get_default_dtype()
        array = array.astype(default.numpy if array.dtype.kind == "f" else default.to_complex().numpy)
    return Tensor.of(array, requires_grad)


@function("ones")
def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size
    return Tensor.of(np.ones(shape, (dtype or dtypes.get_default_dtype()).numpy), requires_grad)


@function("zeros")
def zeros(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size
    return Tensor.of(np.zeros(shape, (dtype or dtypes.get_default_dtype()).numpy), requires_grad)
