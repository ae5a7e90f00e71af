"""Parameters and buffers: tensors that a module keeps, the first of which an optimizer changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.printing import text
from srcgrad.eager.tensor import Tensor, new


class Parameter(Tensor):
    """A tensor that a module takes as its own when it is set as an attribute."""

    prints_as_tensor = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        made: Parameter = new(cls)
        if data is None:
            made.array = np.empty(0, np.float32)
        else:
            array = data.storage_array()
            made.array = array.detached() if is_lifted(array) else array
            if data.counter is None:
                data.counter = [0]
            made.counter = data.counter
        if requires_grad:
            if made.dtype.category < 2:
                raise RuntimeError(messages.REQUIRES_GRAD_KIND)
            made._become_leaf(True)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        pass

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + text(self)

    __str__ = __repr__
    __hash__ = Tensor.__hash__

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            made = memo[id(self)] = Parameter(Tensor.of(np.array(self.array)), self.leaf_grad)
            made.__dict__.update({k: v for k, v in self.__dict__.items() if k not in _OWN})
        return memo[id(self)]  # type: ignore[no-any-return]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _again, (np.array(self.array), self.leaf_grad)


_OWN = frozenset(Tensor.__annotations__) | {"array"}


def _again(array: Any, requires_grad: bool) -> Parameter:
    return Parameter(Tensor.of(array), requires_grad)


class Buffer(Tensor):
    """A tensor that a module keeps without training it."""

    prints_as_tensor = True
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        made: Buffer = new(cls)
        made.array = np.empty(0, np.float32) if data is None else data.storage_array()
        if is_lifted(made.array):
            made.array = made.array.detached()
        made.persistent = persistent
        made.inference = state.inference
        return made

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass

    __hash__ = Tensor.__hash__


Parameter.__module__ = Buffer.__module__ = "torch.nn.parameter"
