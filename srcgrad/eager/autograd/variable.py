"""``torch.autograd.Variable``, the name that tensors had before they recorded operations themselves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from srcgrad.eager.dtypes import get_default_dtype
from srcgrad.eager.tasks import queue_callback
from srcgrad.eager.tensor import Tensor

VOLATILE = "volatile was removed (Variable.volatile is always False). Please use ``with torch.no_grad():`` instead."


class VariableMeta(type):
    """Every tensor counts as a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class ImperativeEngine:
    """The engine, as far as it is asked for by this name."""

    queue_callback = staticmethod(queue_callback)


class Variable(metaclass=VariableMeta):
    """``Variable(data)``: a tensor of the same memory, outside of the graph."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if volatile:
            warnings.warn(VOLATILE, UserWarning, stacklevel=2)
        if data is None:
            data = Tensor.of(np.zeros(0, get_default_dtype().numpy))
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made: Tensor = data.detach()
        return made.requires_grad_() if requires_grad else made


Variable.__module__ = "torch.autograd.variable"
