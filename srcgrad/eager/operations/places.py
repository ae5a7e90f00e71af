"""What may be stored where an index points to: refusals in PyTorch's words, before NumPy would broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.tensor import Tensor


def check_broadcast(given: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse values that do not fit where an index points to."""
    if len(given) > len(shape) or any(n not in (1, m) for n, m in zip(given[::-1], shape[::-1], strict=False)):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(given)} cannot be broadcast to indexing result of shape "
            f"{list(shape)}"
        )


def check_copied(input: Tensor, axis: int, count: int, given: tuple[int, ...]) -> None:
    """Refuse to copy slices of other shapes, or another number of them than there are places."""
    shape = input.array.shape
    if shape and given and len(shape) != len(given):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(given)}), destination dimensionality ({len(shape)})"
        )
    if not given:
        if count != 1:
            raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {count})")
    elif given[axis] != count:
        raise IndexError(
            f"index_copy_(): Number of indices ({count}) should be equal to source.size(dim) ({given[axis]})"
        )
    if shape and given and (*shape[:axis], *shape[axis + 1 :]) != (*given[:axis], *given[axis + 1 :]):
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{[*shape[:axis], *shape[axis + 1 :]]} at dimension {axis} and source slice shape: "
            f"{[*given[:axis], *given[axis + 1 :]]} at dimension 0."
        )


def check_slices(input: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """Refuse to add slices of other shapes, or another number of them than there are places."""
    shape, given = input.array.shape, source.array.shape
    axis = wrapped(dim, len(shape))
    if len(given) <= axis and (given or index.array.size != 1):
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    count = given[axis] if given else 1
    if index.array.size != count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.array.size}) should be equal to source.size(dim): ({count}), "
            f"for dim: {dim}"
        )
    if given and (*shape[:axis], *shape[axis + 1 :]) != (*given[:axis], *given[axis + 1 :]):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(given)}"
        )


def of_one_dtype(input: Tensor, index: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """The values to store by an index; refused where they would have to be converted, but for one through a mask."""
    if values.dtype is input.dtype:
        return values
    masks = [getattr(part, "dtype", None) == np.bool_ for part in index if isinstance(part, np.ndarray)]
    if masks != [True] or accumulate or values.array.size != 1 or values.dtype.category > input.dtype.category:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.long_name} for the destination and {values.dtype.long_name} for the source."
        )
    made: Tensor = values.to(input.dtype)
    return made
