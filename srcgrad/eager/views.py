"""Views: tensors that share another's memory, and what an in-place operation on one of them means for the graph.

A view remembers its root (``base``) and how it is made from the root's array.  Whether it requires grad, its version
and its node follow from the root: all aliases share one version counter, a view requires grad where its root does, and
when the version has moved on, a view gets a new node, lazily, that gathers from the root (``AsStridedBackward0``).
A write to a view changes the root's node alone (``CopySlices``), so that there is nobody to be told of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.graph import AccumulateGrad, Node, mixed, node_class, sequence
from srcgrad.eager.lifted_arrays import check_shared, elements, in_order, is_lifted, with_memory
from srcgrad.eager.modes import state
from srcgrad.eager.slices import CopySlices, Replay, gathered
from srcgrad.eager.tensor import Tensor, new, stripped

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

    __slots__ = ("base", "circumstance", "is_written", "name", "replay", "version")

    def __init__(
        self, base: Tensor, replay: Replay, circumstance: str, version: int, name: str = "AsStridedBackward0"
    ) -> None:
        self.base = base
        self.replay = replay
        self.circumstance = circumstance
        self.version = version
        self.name = name  # of the node that it gets when the base has changed
        self.is_written = False  # a write to it was recorded at the base: it is no leaf, though its node is still due

    @property
    def of_base(self) -> Replay:
        """How it is made from the base's array as that is shaped now."""
        return self.replay if self.base.turned is None else Then(self.base.turned[1], self.replay)

    def refresh(self, tensor: Tensor) -> None:
        """Give the view a new node if its memory was written to since the old one was made."""
        counter = tensor.counter
        if counter is None or counter[0] == self.version:
            return
        if tensor.node is None and not self.base.requires_grad:
            return
        check_circumstance(tensor, messages.VIEW_WRITTEN_ELSEWHERE)
        before = tensor.node, tensor.number
        with recording():
            made = gathered(self.base, self.of_base, tensor.array, self.name)
        self.version = counter[0]
        tensor.node, tensor.number = made.node, 0
        if tensor.retains:
            keep_retaining(tensor, *before)


class recording:
    """Operations inside are recorded, whatever the mode."""

    def __init__(self, now: bool = True) -> None:
        self.now = now

    def __enter__(self) -> None:
        self.before = state.recording
        state.recording = self.now

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
    array = replay(with_memory(input.storage_array()))
    check_shared(array, input.array)
    made: Tensor = call(operation, values, array=array, saved=saved)
    return attach(made, input, replay, several=several)


def attach(
    made: Tensor, input: Tensor, replay: Replay, name: str = "AsStridedBackward0", *, several: bool = False
) -> Tensor:
    """Make a tensor a view of ``input``; ``name`` is that of the node that it gets when the base has changed."""
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
        base, whole = input, replay if input.turned is None else Then(input.turned[0], replay)
    circumstance = ONE_OF_SEVERAL if several else NORMAL
    if not state.recording:
        circumstance = IN_INFERENCE if state.inference else WITHOUT_GRAD
    if input.alias is not None and circumstance == NORMAL and input.alias.circumstance != NORMAL:
        circumstance = input.alias.circumstance
    made.base = base
    made.alias = View(base, whole, circumstance, made.counter[0], name)
    return made


# --- writing ---------------------------------------------------------------------------------------------------------
def check_writable(tensor: Tensor, *read: Any) -> None:
    """Refuse to write where PyTorch does: to leaves that require grad, and to views that forbid it.

    ``read`` are the operands that are read while the tensor is written to.
    """
    if tensor.inference and not state.inference:
        raise RuntimeError(messages.INFERENCE_INPLACE)
    if (tensor if tensor.alias is None else tensor.alias.base).conjugated:
        raise RuntimeError(messages.CONJUGATE_INPLACE)
    if state.recording and any(isinstance(one, Tensor) and one.requires_grad for one in (tensor, *read)):
        check_recordable(tensor)


def age(tensor: Tensor) -> int:
    """When the memory of a tensor was made, or last took part in the graph, among the nodes; -1 for long ago."""
    root = tensor if tensor.alias is None else tensor.alias.base
    node = root.edge()[0]
    return root.born if node is None or type(node) is AccumulateGrad else max(node.sequence, root.born)


def check_captured(tensor: Tensor) -> None:
    """Refuse to write inside ``grad``, ``vjp`` and ``jvp`` to what was there before, other than by ``out=``."""
    if not state.transform_level:
        return
    level = next((one for one in reversed(state.transforms) if one.kind in ("grad", "jvp")), None)
    if level is not None and age(tensor) < level.start:
        raise RuntimeError(messages.CAPTURED_INPLACE)


def check_free(tensor: Tensor, *read: Any) -> None:
    """Both checks of a tensor that is about to be written to."""
    check_writable(tensor, *read)
    check_memory(tensor.array, read)


def check_recordable(tensor: Tensor) -> None:
    """Refuse to record a write to a tensor whose graph cannot take it."""
    view: View | None = tensor.alias
    if view is not None:
        check_circumstance(tensor)
    if not tensor.requires_grad:
        return
    if view is not None and view.base.node is None:
        raise RuntimeError(messages.LEAF_VIEW_INPLACE)
    if tensor.node is None and not (view is not None and view.is_written):
        raise RuntimeError(messages.LEAF_INPLACE)


def check_memory(array: Any, read: tuple[Any, ...] = (), apart: bool = False) -> None:
    """Refuse to write to elements that share a place, and to places that are read as other elements.

    ``apart``: elements are read in another order than they are written, so that no place may be read.
    """
    if not isinstance(array, np.ndarray):
        return
    if array.ndim and array.size and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        raise RuntimeError(messages.OVERLAPPING)
    for other in read:
        if isinstance(other, Tensor) and _meet(array, other.array, apart):
            raise RuntimeError(messages.PARTLY_OVERLAPPING)


def _meet(a: Any, b: Any, apart: bool) -> bool:
    """Whether arrays without gaps share memory; unless ``apart``, otherwise than element by element."""
    if a is b:
        return apart
    if not isinstance(b, np.ndarray) or not np.may_share_memory(a, b) or not (_is_dense(a) and _is_dense(b)):
        return False
    if apart or a.shape != b.shape or _start(a) != _start(b):
        return True
    return any(s != t for s, t, n in zip(a.strides, b.strides, a.shape, strict=True) if n > 1)


def _start(array: Any) -> Any:
    """Where the memory of an array begins; of a lifted one, that of its primals, or of its first example."""
    return elements(array).__array_interface__["data"]


def _is_dense(array: Any) -> bool:
    """Whether the elements fill a stretch of memory."""
    if array.flags.forc:
        return True
    size = array.itemsize
    for stride, n in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != size:
            return False
        size *= n
    return True


def check_circumstance(tensor: Tensor, what: str = messages.VIEW_WRITTEN) -> None:
    """Refuse to record a write to a view, or to what it shares memory with, that cannot be followed."""
    circumstance = tensor.alias.circumstance
    if circumstance == NORMAL:
        return
    node = tensor.node
    origin = "" if node is None else f"Output {tensor.number} of {stripped(node.name())} is a view"
    if circumstance == IN_INFERENCE:
        prefix = f"{origin} of a view which was created in" if origin else "A view was created in"
        text = f"{prefix} inference mode and {what} modified inplace in normal mode."
    elif circumstance == WITHOUT_GRAD or node is None:
        prefix = f"{origin} of a view which was created in" if origin else "A view was created in"
        text = f"{prefix} no_grad mode and {what} modified inplace with grad mode enabled."
    else:
        text = f"{origin} and {what} modified inplace."
    raise RuntimeError(text + messages.VIEW_FORBIDS[circumstance])


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


class _Replacing(Node):
    """A node whose first input is what was overwritten: zeros go there."""

    def apply(self, g: Any) -> Any:
        return (np.zeros(self.shape, self.dtype), *super().apply(g))

    def apply_to_tensors(self, g: Any) -> Any:
        return (Tensor.of(np.zeros(self.shape, self.dtype)), *super().apply_to_tensors(g))


def replaces(node: Node, old: Tensor) -> None:
    """Make a node that of values that take the place of others, which get a gradient of zeros."""
    node.__class__ = mixed(_Replacing, type(node))
    node.edges = (old.edge(), *node.edges)
    node.direct = None


def write(
    tensor: Tensor,
    compute: Callable[[Tensor], Tensor],
    *operands: Any,
    check_dtype: bool = True,
    name: str = "torch::autograd::CopyBackwards",
    copies: bool = True,
    reads: bool = True,
    apart: bool = False,
) -> Tensor:
    """``tensor`` becomes ``compute(tensor)`` in place, recorded like the operation out of place.

    ``reads``: the operands are read while the tensor is written to; ``apart``: in another order of elements.
    ``copies``: what is recorded may keep the old values, otherwise than as what one node has saved.
    """
    check_captured(tensor)
    check_writable(tensor, *operands)
    storage = tensor.storage_array()
    old: Tensor = new(Tensor)
    old.array = in_order(storage) if copies and state.recording else storage
    start = 0
    if state.recording:
        old.node, old.number, old.leaf_grad = tensor.grad_node(), tensor.number, tensor.leaf_grad
        for one in operands:
            if isinstance(one, Tensor):
                one.grad_node()  # one that is due is no step of the computation
        start = next(sequence)
    made = compute(old)
    check_memory(storage, operands if reads else (), apart)
    if check_dtype:
        check_cast(made, tensor)
    if made.array.shape != storage.shape:
        if np.broadcast_shapes(made.array.shape, storage.shape) != storage.shape:
            raise RuntimeError(
                f"output with shape {list(storage.shape)} doesn't match the broadcast shape {list(made.array.shape)}"
            )
    if is_lifted(made.array) and not is_lifted(storage):
        from srcgrad.eager.stored_tangents import take_tangent

        storage = take_tangent(tensor, made.array, 1 + (old.array is storage))
    node = made.node
    if node is None and state.recording and tensor.requires_grad:
        node = forgetful(name, old)  # the old values are gone, and nothing takes their place that has a derivative
    if node is not None:
        check_recordable(tensor)
        keep_old(node, old)
    storage[...] = made.array
    bump(tensor)
    if node is None:
        return tensor
    assert tensor.counter is not None
    alone = node.sequence > start and all(e is None or not start < e.sequence < node.sequence for e, _ in node.edges)
    if node.sequence > start:
        redirect_result(node, tensor)
    if alone and node.outputs == 1:
        rebase(tensor, node, 0, old.edge())
    else:
        rebase(tensor, node, made.number)
    return tensor


def rebase(tensor: Tensor, node: Node, number: int, old: Any = None) -> None:
    """Record that a tensor's values are now those of an output of a node: at the tensor, or at its base.

    ``old``: the node read the tensor itself, whose edge was this, and no others that were made of it on the way.
    """
    view: View | None = tensor.alias
    if view is None:
        before = tensor.node, tensor.number
        tensor.node, tensor.number, tensor.leaf_grad = node, number, False
        if tensor.retains:
            keep_retaining(tensor, *before)
        return
    base = view.base
    before = base.node, base.number
    if old is None:
        base.node = CopySlices(base, view.of_base, None, edge=(node, number))
    else:
        own = tuple(i for i, edge in enumerate(node.edges) if edge == old and (i == 0 or old[0] is not None))[:1]
        base.node = CopySlices(base, view.of_base, node, own)
    base.number, base.leaf_grad = 0, False
    view.is_written = True
    if base.retains:
        keep_retaining(base, *before)
    if tensor.retains:
        tensor.grad_node()  # its gradient is that of the new values


def keep_old(node: Node, old: Tensor) -> None:
    """What a node saved of the memory that is about to change gets a copy of its own."""
    if node.saved is not None and any(item is old for item in node.saved):
        old.array = np.copy(old.array)


def redirect_result(node: Node, tensor: Tensor) -> None:
    """A saved result is the tensor that was written to: it has that tensor's memory and versions."""
    counter = tensor.counter
    assert counter is not None
    if node.saved is None:
        return
    versions = list(node.versions or (0,) * len(node.saved))
    for place, item in enumerate(node.saved):
        if type(item).__name__ == "SavedResult":
            item.counter = counter
            if item.array.shape == tensor.array.shape and item.array.dtype == tensor.array.dtype:
                item.array = tensor.array
            versions[place] = counter[0]
    node.versions = tuple(versions)


def check_cast(made: Tensor, tensor: Tensor) -> None:
    """Refuse a result of a higher category than the tensor it is written to."""
    if made.dtype.category > tensor.dtype.category:
        raise RuntimeError(
            f"result type {made.dtype.long_name} can't be cast to the desired output type {tensor.dtype.long_name}"
        )


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
