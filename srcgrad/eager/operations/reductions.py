"""Sums, means, extrema: what takes many elements to one."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_sum_all = Operation(np.sum, "SumBackward0")
_sum_dim = Operation(np.sum, "SumBackward1")
_mean_all = Operation(np.mean, "MeanBackward0")


@function("sum", method=True)
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of all elements, or over dimensions."""
    sizes = {"self_sym_sizes": tuple(input.array.shape)}
    if dim is None and not keepdim:
        made: Tensor = call(_sum_all, {"a": input}, saved=sizes)
        return made
    axis = tuple(dim) if isinstance(dim, list | tuple) else dim
    saved = {**sizes, "dim": dim if isinstance(dim, tuple | list) else (dim,), "keepdim": keepdim}
    result: Tensor = call(_sum_dim, {"a": input, "axis": axis, "keepdims": keepdim}, saved=saved)
    return result


@function("mean", method=True)
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of all elements."""
    made: Tensor = call(_mean_all, {"a": input}, saved={"self_sym_sizes": tuple(input.array.shape)})
    return made
