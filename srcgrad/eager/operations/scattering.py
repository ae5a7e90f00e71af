"""Stores through lists, tensors and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import write
from srcgrad.runtime import replaced_at

_put = Operation(replaced_at, "IndexPutBackward0", {"x": "self", "value": "values"})


def put(target: Tensor, index: tuple[Any, ...], value: Any) -> None:
    """``target[index] = value`` where the index picks elements; one that is picked twice keeps the last value."""
    d = target.dtype
    given = value if isinstance(value, Tensor) else Tensor.of(np.asarray(value, d.numpy))
    if given.dtype is not d:
        if not isinstance(value, Tensor):
            given = given.to(d)
        else:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{d.long_name} for the destination and {given.dtype.long_name} for the source."
            )

    def compute(old: Tensor) -> Tensor:
        made: Tensor = call(_put, {"x": old, "index": index, "value": given})
        return made

    write(target, compute, name="IndexPutBackward0")
