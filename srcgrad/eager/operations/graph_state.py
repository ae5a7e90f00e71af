"""Methods of tensors about the graph: backward, detach, hooks, retained gradients."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from srcgrad.eager import engine, messages
from srcgrad.eager.handles import RemovableHandle
from srcgrad.eager.levels import check_home, check_one_derivative
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.registry import function, method
from srcgrad.eager.tensor import MovedCounter, Tensor, new
from srcgrad.eager.views import age


@method()
def backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradient of this tensor in the leaves it came from, or in ``inputs``."""
    engine.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


@function("detach", method=True)
def detach(input: Tensor) -> Tensor:
    """The same memory and version, outside of the graph."""
    made: Tensor = new(Tensor)
    made.array = input.storage_array()
    if state.transform_level:
        made.born = age(input)
    if is_lifted(made.array):
        made.array = made.array.detached()
    if input.inference:
        made.inference, made.counter = True, input.counter or [0]
        return made
    if input.counter is None:
        input.counter = [0]
    made.counter = input.counter
    return made


@method()
def register_hook(self: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(gradient)`` when this tensor's gradient is known; what it returns takes the gradient's place."""
    if not self.requires_grad:
        raise RuntimeError(messages.HOOK_WITHOUT_GRAD)
    node = self.grad_node()
    if node is None:
        if self.hooks is None:
            self.hooks = OrderedDict()
        return RemovableHandle(self.hooks, hook)
    node.direct = None
    if node.tensor_hooks is None:
        node.tensor_hooks = {}
    return RemovableHandle(node.tensor_hooks.setdefault(self.number, OrderedDict()), hook)


def _backward_hooks(self: Tensor) -> Any:
    """The hooks of this tensor's gradient, by the ids of their handles; None where there never was one."""
    node = self.grad_node()
    if node is None:
        return self.hooks
    return None if node.tensor_hooks is None else node.tensor_hooks.get(self.number)


setattr(Tensor, "_backward_hooks", property(_backward_hooks))  # noqa: B010


@method()
def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(leaf)`` after a gradient was added to the leaf's ``grad``."""
    if not self.requires_grad:
        raise RuntimeError(messages.HOOK_WITHOUT_GRAD)
    if self.node is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if self.post_accumulate is None:
        self.post_accumulate = OrderedDict()
    return RemovableHandle(self.post_accumulate, hook)


@method()
def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a tensor that is no leaf in its ``grad``."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.node is None and not (self.alias is not None and self.alias.is_written):
        return  # a leaf, or a view that was one when its base was written to
    node = self.grad_node()
    if node is None or self.retains:
        return
    self.retains = True
    mine = weakref.ref(self)

    def keep(g: Tensor | None) -> None:
        tensor = mine()
        if tensor is not None and g is not None:
            check_home(g, tensor, True)
            known = tensor.gradient
            if known is not None:
                g = known + g if state.recording else Tensor.of(known.array + g.array)
            tensor.gradient = g

    node.direct = None
    if node.retained is None:
        node.retained = {}
    node.retained[self.number] = keep


@method("detach_")
def detach_(self: Tensor) -> Tensor:
    """Take this tensor out of the graph."""
    if self.base is not None:
        raise RuntimeError(messages.DETACH_VIEW)
    check_one_derivative(self, "detach_()")
    if self.node is not None:
        self.counter = MovedCounter(self.counter or [0])
    self.node, self.number, self.leaf_grad = None, 0, False
    if is_lifted(self.array):
        self.array = self.array.detached()
    return self
