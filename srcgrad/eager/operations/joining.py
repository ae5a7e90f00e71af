"""Tensors put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_stack = Operation(np.stack, "StackBackward0")


@function("stack")
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    made: Tensor = call(_stack, {"arrays": list(tensors), "axis": dim}, saved={"dim": dim})
    return made
