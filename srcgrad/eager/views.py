"""Views: tensors that share another's memory, and what an in-place operation on one of them means for the graph.

A view remembers its root (``base``) and how it is made from the root's array.  All aliases share one version counter.
When memory that others see is written to, the root's gradient function becomes ``CopySlices``, and every other view
gets a new one, lazily, that gathers from the root (``AsStridedBackward0``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.graph import Node, mixed, node_class, sequence
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor, new, stripped

Replay = Callable[[Any], Any]
_gather = Operation(np.take, "AsStridedBackward0", {"a": "self"})

# Under what circumstances a view was made; what forbids to write to it.
NORMAL, WITHOUT_GRAD, ONE_OF_SEVERAL, IN_FUNCTION = "normal", "no_grad", "several", "function"
IN_INFERENCE = "inference"


class Then:
    """One way to replay after another; a chain of them is gone through in a loop, however long it is."""

    __slots__ = ("before", "step")

    def __init__(self, before: Replay, step: Replay) -> None:
        self.before = before
        self.step = step

    def __call__(self, array: Any) -> Any:
        steps: list[Replay] = []
        at: Replay = self
        while isinstance(at, Then):
            steps.append(at.step)
            at = at.before
        array = at(array)
        for step in reversed(steps):
            array = step(array)
        return array


class View:
    """How a tensor is made from its base, and the version at which its node was right."""

    __slots__ = ("base", "borrowed", "circumstance", "replay", "version")

    def __init__(self, base: Tensor, replay: Replay, circumstance: str, version: int) -> None:
        self.base = base
        self.replay = replay
        self.circumstance = circumstance
        self.version = version
        self.borrowed = False  # requires grad only as its base does: no gradient of its own

    def refresh(self, tensor: Tensor) -> None:
        """Give the view a new node if its memory was written to since the old one was made."""
        counter = tensor.counter
        if counter is None or counter[0] == self.version:
            return
        base = self.base
        if not (base.node is not None or base.leaf_grad):
            self.version = counter[0]
            tensor.node = None
            return
        check_circumstance(tensor, messages.VIEW_WRITTEN_ELSEWHERE)
        self.version = counter[0]
        with recording():
            made = call(_gather, {"a": base, "indices": self.places()}, array=tensor.array)
        before = tensor.node, tensor.number
        tensor.node, tensor.number, tensor.leaf_grad = made.node, 0, False
        if tensor.retains:
            keep_retaining(tensor, *before)

    def places(self) -> Any:
        """Where in the base's elements each element of the view is."""
        array = self.base.array
        return np.ascontiguousarray(self.replay(np.arange(array.size).reshape(array.shape)))


class recording:
    """Operations inside are recorded, whatever the mode."""

    def __enter__(self) -> None:
        self.before = state.recording
        state.recording = True

    def __exit__(self, *_: object) -> None:
        state.recording = self.before


def view_of(
    input: Tensor,
    operation: Operation,
    values: dict[str, Any],
    replay: Replay,
    *,
    saved: Any = None,
    several: bool = False,
) -> Tensor:
    """A recorded view: ``replay`` of the input's memory; ``values`` are the arguments of the operation's rule."""
    array = replay(input.storage_array())
    made: Tensor = call(operation, values, array=array, saved=saved)
    return attach(made, input, replay, several=several)


def attach(made: Tensor, input: Tensor, replay: Replay, *, several: bool = False) -> Tensor:
    """Tell a tensor that it is a view of ``input``."""
    if input.inference:
        made.inference, made.counter = True, made.counter or [0]
        return made
    if made.inference:
        made.inference = False  # a view of a normal tensor is one
    if input.counter is None:
        input.counter = [0]
    made.counter = input.counter
    if input.alias is not None:
        base = input.alias.base
        whole: Replay = Then(input.alias.replay, replay)
    else:
        base, whole = input, replay
    circumstance = ONE_OF_SEVERAL if several else NORMAL
    if not state.recording:
        circumstance = IN_INFERENCE if state.inference else WITHOUT_GRAD
        made.leaf_grad = input.node is not None or input.leaf_grad
    if input.alias is not None and circumstance == NORMAL and input.alias.circumstance != NORMAL:
        circumstance = input.alias.circumstance
    made.base = base
    made.alias = View(base, whole, circumstance, made.counter[0])
    made.alias.borrowed = made.leaf_grad
    return made


# --- writing ---------------------------------------------------------------------------------------------------------
def check_writable(tensor: Tensor) -> None:
    """Refuse to write where PyTorch does: leaves that require grad, views that forbid it, overlapping memory."""
    if tensor.inference and not state.inference:
        raise RuntimeError(messages.INFERENCE_INPLACE)
    if state.recording:
        if tensor.alias is None:
            if tensor.node is None and tensor.leaf_grad:
                raise RuntimeError(messages.LEAF_INPLACE)
        elif tensor.alias.base.node is None and tensor.alias.base.leaf_grad:
            check_circumstance(tensor)
            raise RuntimeError(messages.LEAF_VIEW_INPLACE)
    array = tensor.array
    if (
        isinstance(array, np.ndarray)
        and array.ndim
        and array.size
        and any(stride == 0 and n > 1 for stride, n in zip(array.strides, array.shape, strict=True))
    ):
        raise RuntimeError(messages.OVERLAPPING)


def check_circumstance(tensor: Tensor, what: str = messages.VIEW_WRITTEN) -> None:
    """Refuse to record a write to a view, or to what it shares memory with, that cannot be followed."""
    circumstance = tensor.alias.circumstance
    if circumstance == NORMAL:
        return
    if circumstance == WITHOUT_GRAD:
        text = messages.MODE_VIEW.format(
            where="no_grad", what=what, now="with grad mode enabled", where_block="no_grad"
        )
        raise RuntimeError(text)
    if circumstance == IN_INFERENCE:
        text = messages.MODE_VIEW.format(
            where="inference", what=what, now="in normal mode", where_block="inference_mode"
        )
        raise RuntimeError(text)
    name = stripped(tensor.node.name()) if tensor.node is not None else "Unbind"
    reason = messages.ONE_OF_SEVERAL if circumstance == ONE_OF_SEVERAL else messages.VIEW_IN_FUNCTION
    raise RuntimeError(messages.OUTPUT_VIEW.format(index=tensor.number, name=name, what=what) + reason)


def bump(tensor: Tensor) -> None:
    """Count a write."""
    if tensor.inference:
        return
    if tensor.counter is None:
        tensor.counter = [1]
    else:
        tensor.counter[0] += 1


class _Forgetful(Node):
    """The node of a tensor that was overwritten with constants: no gradient reaches what was there."""

    def apply(self, g: Any) -> Any:
        return (np.zeros(self.shape, self.dtype),)

    def apply_to_tensors(self, g: Any) -> Any:
        return (Tensor.of(np.zeros(self.shape, self.dtype)),)


def forgetful(name: str, old: Tensor) -> Node:
    """A node of this name through which nothing flows."""
    kind = node_class(name)
    node: Node = new(mixed(_Forgetful, kind))
    node.edges = (old.edge(),)
    node.sequence = next(sequence)
    node.shape, node.dtype = old.array.shape, old.array.dtype
    node.keeps = True
    return node


def _base_requires(tensor: Tensor) -> bool:
    return tensor.alias is not None and tensor.alias.base.requires_grad


def write(
    tensor: Tensor,
    compute: Callable[[Tensor], Tensor],
    *,
    check_dtype: bool = True,
    name: str = "torch::autograd::CopyBackwards",
) -> Tensor:
    """``tensor`` becomes ``compute(tensor)`` in place, recorded like the operation out of place."""
    check_writable(tensor)
    storage = tensor.storage_array()
    old: Tensor = new(Tensor)
    old.array = storage
    if state.recording:
        if tensor.alias is not None and tensor.alias.circumstance != NORMAL and tensor.alias.base.requires_grad:
            check_circumstance(tensor)
        old.node, old.number, old.leaf_grad = tensor.grad_node(), tensor.number, tensor.leaf_grad
    made = compute(old)
    if check_dtype:
        check_cast(made, tensor)
    if made.array.shape != storage.shape:
        if np.broadcast_shapes(made.array.shape, storage.shape) != storage.shape:
            raise RuntimeError(
                f"output with shape {list(storage.shape)} doesn't match the broadcast shape {list(made.array.shape)}"
            )
    if is_lifted(made.array) and not is_lifted(storage):
        raise made.array.misfit(storage)
    node = made.node
    if node is None and state.recording and (tensor.node is not None or tensor.leaf_grad or _base_requires(tensor)):
        node = forgetful(name, old)  # the old values are gone, and nothing takes their place that has a derivative
    if node is not None:
        if tensor.alias is not None:
            check_circumstance(tensor)
        keep_old(node, old)
    storage[...] = made.array
    bump(tensor)
    if node is None:
        return tensor
    assert tensor.counter is not None
    redirect_result(node, tensor.counter)
    if tensor.alias is None:
        before = tensor.node, tensor.number
        tensor.node, tensor.number, tensor.leaf_grad = node, made.number, False
        if tensor.retains:
            keep_retaining(tensor, *before)
    else:
        copy_slices(tensor, node, old)
        if tensor.retains:
            tensor.grad_node()  # its gradient is that of the new values
    return tensor


def keep_old(node: Node, old: Tensor) -> None:
    """What a node saved of the memory that is about to change gets a copy of its own."""
    if node.saved is not None and any(item is old for item in node.saved):
        old.array = np.copy(old.array)


def redirect_result(node: Node, counter: list[int]) -> None:
    """A saved result is the tensor that was written to: it has that tensor's versions."""
    if node.saved is None:
        return
    versions = list(node.versions or (0,) * len(node.saved))
    for place, item in enumerate(node.saved):
        if type(item).__name__ == "SavedResult":
            item.counter = counter
            versions[place] = counter[0]
    node.versions = tuple(versions)


def check_cast(made: Tensor, tensor: Tensor) -> None:
    """Refuse a result of a higher category than the tensor it is written to."""
    if made.dtype.category > tensor.dtype.category:
        raise RuntimeError(
            f"result type {made.dtype.long_name} can't be cast to the desired output type {tensor.dtype.long_name}"
        )


class CopySlices(Node):
    """A base part of which was computed anew: that part's gradient goes through the operation that wrote it."""

    public_name = "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: View, inner: Node, own: tuple[int, ...]) -> None:
        self.inner = inner
        self.own = own  # which inputs of the inner node were the old values of the part
        self.places = view.places()
        self.replay = view.replay
        self.edges = (base.edge(), *(edge for i, edge in enumerate(inner.edges) if i not in own))
        self.sequence = next(sequence)
        self.shape, self.dtype = base.array.shape, base.array.dtype

    def apply(self, g: Any) -> Any:
        g = np.copy(g)
        part = self.replay(g)
        partials = self.inner.apply(np.copy(part))
        part[...] = 0
        for i in self.own:
            if i < len(partials) and partials[i] is not None:
                part += partials[i]
        return [g, *(p for i, p in enumerate(partials) if i not in self.own)]

    def apply_to_tensors(self, g: Any) -> Any:
        from srcgrad import runtime
        from srcgrad.eager.lifting import lifted

        part = lifted(np.take)(g, self.places)
        partials = self.inner.apply_to_tensors(part)
        kept = np.ones(self.shape, self.dtype)
        self.replay(kept)[...] = 0
        total = g * Tensor.of(kept)
        for i in self.own:
            if i < len(partials) and partials[i] is not None:
                flat = lifted(np.reshape)(partials[i], (-1,))
                like = np.zeros(total.array.size, self.dtype)
                spread = lifted(runtime.untake)(flat, like, self.places.ravel())
                total = total + lifted(np.reshape)(spread, self.shape)
        return [total, *(p for i, p in enumerate(partials) if i not in self.own)]

    def release(self) -> None:
        self.inner.release()


def copy_slices(tensor: Tensor, node: Node, old: Tensor) -> None:
    """Record at the base that the memory of a view was written to by ``node``."""
    view: View = tensor.alias
    base = view.base
    mine = old.edge()
    own = tuple(i for i, edge in enumerate(node.edges) if mine[0] is not None and edge == mine)[:1]
    if not own and node.edges and type(node).__name__ not in ("CopyBackwards",):
        own = (0,)
    before = base.node, base.number
    base.node, base.number, base.leaf_grad = CopySlices(base, view, node, own), 0, False
    if base.retains:
        keep_retaining(base, *before)


def keep_retaining(tensor: Tensor, node: Node | None, number: int) -> None:
    """A tensor that retains its gradient does so at its new node, no longer at the one before."""
    keep = None if node is None or node.retained is None else node.retained.pop(number, None)
    now = tensor.node
    if keep is not None and now is not None:
        now.direct = None
        if now.retained is None:
            now.retained = {}
        now.retained[tensor.number] = keep


node_class("AsStridedBackward0")
