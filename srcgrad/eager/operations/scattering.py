"""Stores through lists, tensors and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.places import of_one_dtype
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import check_memory, write
from srcgrad.runtime import replaced_at

_put = Operation(replaced_at, "IndexPutBackward0", {"x": "self", "value": "values"})


def put(target: Tensor, index: tuple[Any, ...], value: Any, indices: tuple[Any, ...] = ()) -> None:
    """``target[index] = value`` where the index picks elements; one that is picked twice keeps the last value.

    ``indices`` are the tensors that index, as the node keeps them.
    """
    d = target.dtype
    given = value if isinstance(value, Tensor) else Tensor.of(np.asarray(value, d.numpy))
    given = of_one_dtype(target, index, given) if isinstance(value, Tensor) else given.to(d)

    picked = target.array[index].shape
    try:
        fits = np.broadcast_shapes(given.array.shape, picked) == picked
    except ValueError:
        fits = False
    if not fits and given.array.size != 1:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(given.array.shape)} cannot be broadcast to indexing result "
            f"of shape {list(picked)}"
        )
    only_mask = len(index) == 1 and getattr(index[0], "dtype", None) == np.bool_ and not isinstance(value, Tensor)
    if only_mask and index[0].shape == target.array.shape:
        target.masked_fill_(Tensor.of(index[0]), value)
        return

    def compute(old: Tensor) -> Tensor:
        made: Tensor = call(_put, {"x": old, "index": index, "value": given}, saved={"indices": indices})
        return made

    written = given.storage_array()
    while written.shape[:1] == (1,):
        written = written[0, ...]
    check_memory(target.array, (Tensor.of(written),) if written.ndim else (), apart=True)
    write(target, compute, given, reads=False, name="IndexPutBackward0", copies=False)
