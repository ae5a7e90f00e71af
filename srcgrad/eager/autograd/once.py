"""``once_differentiable``: backward functions whose derivatives are refused."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from srcgrad.eager.graph import Node, sequence
from srcgrad.eager.modes import no_grad, state
from srcgrad.eager.tensor import Tensor


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of ``backward``: it is not itself recorded; differentiating it again raises."""

    @functools.wraps(backward)
    def without_recording(ctx: Any, *grads: Any) -> Any:
        recording = state.recording
        with no_grad():
            made = backward(ctx, *grads)
        if not recording or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return made
        several = made if isinstance(made, tuple) else (made,)
        closed = tuple(_closed(one) for one in several)
        return closed if isinstance(made, tuple) else closed[0]

    return without_recording


class _Error(Node):
    """The node of what must not be differentiated again."""

    def apply(self, g: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

    apply_to_tensors = apply


_Error.__name__ = _Error.__qualname__ = "Error"


def _closed(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    made, stand_in = Tensor.of(value.array), Tensor.of(value.array, requires_grad=True)
    node = _Error()
    node.edges = (stand_in.edge(),)
    node.sequence = next(sequence)
    node.shape, node.dtype = value.array.shape, value.array.dtype
    made.node = node
    return made
