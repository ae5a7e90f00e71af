"""Shapes changed in place: the tensor looks at its memory in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.modes import state
from srcgrad.eager.operations.shaping import wrapped
from srcgrad.eager.registry import method
from srcgrad.eager.tensor import Tensor, new
from srcgrad.eager.views import Then, View, bump, check_captured, check_writable, recording

_t = Operation(np.transpose, "TBackward1")
_transpose = Operation(np.swapaxes, "TransposeBackward1")
_transpose_number = Operation(np.transpose, "TransposeBackward1")
_unsqueeze = Operation(np.expand_dims, "UnsqueezeBackward1")
_squeeze_all = Operation(np.squeeze, "SqueezeBackward3")
_squeeze_dim = Operation(np.squeeze, "SqueezeBackward4")


def _reshaped(
    self: Tensor,
    operation: Operation,
    values: dict[str, Any],
    replay: Callable[[Any], Any],
    back: Callable[[Any], Any],
) -> Tensor:
    """Let the tensor be a view of what it was, in a node of its own; ``back`` is the way to what it was."""
    check_captured(self)
    check_writable(self)
    old: Tensor = new(Tensor)
    old.array = self.storage_array()
    old.node, old.number, old.leaf_grad = self.grad_node(), self.number, self.leaf_grad
    first = next(iter(values))
    made: Tensor
    with recording(state.recording or old.node is not None):  # the graph must follow the shape in any mode
        made = call(operation, {**values, first: old}, array=replay(old.array))
    bump(self)
    assert self.counter is not None
    self.array, self.node, self.number = made.array, made.node, made.number
    view: View | None = self.alias
    if view is not None:
        self.alias = View(view.base, Then(view.replay, replay), view.circumstance, self.counter[0])
    else:
        forth, before = self.turned or (_same, _same)
        self.turned = Then(forth, replay), Then(back, before)
    return self


def _same(array: Any) -> Any:
    return array


@method()
def t_(self: Tensor) -> Tensor:
    """A matrix transposed in place."""
    if self.array.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D")
    axes = tuple(reversed(range(self.array.ndim)))
    return _reshaped(self, _t, {"a": self, "axes": axes}, *[lambda a: a.transpose(axes)] * 2)


@method("transpose_", "swapaxes_", "swapdims_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions swapped in place."""
    a0, a1 = wrapped(dim0, self.array.ndim), wrapped(dim1, self.array.ndim)
    if not self.array.ndim:
        return _reshaped(self, _transpose_number, {"a": self, "axes": ()}, *[lambda a: a.transpose(())] * 2)
    return _reshaped(self, _transpose, {"a": self, "axis1": a0, "axis2": a1}, *[lambda a: a.swapaxes(a0, a1)] * 2)


@method()
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    """A dimension of one put in, in place."""
    axis = wrapped(dim, self.array.ndim + 1)
    return _reshaped(
        self, _unsqueeze, {"a": self, "axis": axis}, lambda a: np.expand_dims(a, axis), lambda a: a.squeeze(axis)
    )


@method()
def squeeze_(self: Tensor, dim: int | None = None) -> Tensor:
    """Dimensions of one taken out, in place."""
    shape = self.array.shape
    given = range(len(shape)) if dim is None else (wrapped(dim, len(shape)),)
    axes = tuple(i for i in given if shape and shape[i] == 1)
    operation = _squeeze_all if dim is None else _squeeze_dim
    return _reshaped(
        self, operation, {"a": self, "axis": axes}, lambda a: a.squeeze(axes), lambda a: np.expand_dims(a, axes)
    )
