"""What nodes save, under hooks that pack it away and unpack it again.

``saved_tensors_hooks(pack, unpack)`` holds for operations recorded inside it, per thread; ``_raw_saved_self`` is
the slot of a node itself, on which hooks can be set later.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.formulas import INPUT, RESULT
from srcgrad.eager.graph import AccumulateGrad
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import SavedResult, Tensor

if TYPE_CHECKING:
    from srcgrad.eager.formulas import Formula
    from srcgrad.eager.graph import Node

Hook = Callable[[Any], Any]


class Packed:
    """What a pack hook made of a saved tensor; unpacked when it is asked for."""

    __slots__ = ("content", "edge", "of_result", "unpack")
    counter = (0,)  # a pack hook's content is its own affair

    def __init__(self, content: Any, unpack: Hook, edge: tuple[Any, int], of_result: bool) -> None:
        self.of_result = of_result
        self.content = content
        self.unpack = unpack
        self.edge = edge

    def opened(self) -> Tensor:
        """The tensor again."""
        made = self.unpack(self.content)
        if not isinstance(made, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(made).__name__}"
            )
        return made

    @property
    def array(self) -> Any:
        return self.opened().array

    def reattached(self, node: Node) -> Tensor:
        """The tensor as a part of the graph."""
        made = Tensor.of(self.opened().array)
        target, made.number = self.edge
        if isinstance(target, AccumulateGrad):  # stands for the leaf without being it
            made.leaf_grad, made._accumulator = True, weakref.ref(target)
        else:
            made.node = node if self.of_result else target
        return made

    def origin(self, node: Node) -> tuple[str, int]:
        return "", 0


def pack(node: Node, formula: Formula) -> None:
    """Send what a node saved through the hooks that hold now."""
    hooks = state.saved_hooks[-1]
    saved: list[Any] = []
    for (kind, _), item in zip(formula.sources, node.saved or (), strict=True):
        saved.append(packed(node, item, hooks) if kind in (INPUT, RESULT) else item)
    node.saved = tuple(saved)
    node.versions = None


def packed(node: Node, item: Any, hooks: tuple[Hook, Hook]) -> Packed:
    """One saved tensor through a pair of hooks."""
    before = state.recording, state.saved_hooks
    state.recording, state.saved_hooks = False, ()
    try:
        if isinstance(item, Tensor):
            edge, given = item.edge(), item
        else:
            # The node's own result, told by None: the node itself would make a cycle.
            edge, given = (None, item.number), Tensor.of(item.array)
        version = given._version
        content = hooks[0](given)
        if given._version != version:
            raise RuntimeError(messages.PACK_MODIFIED)
    finally:
        state.recording, state.saved_hooks = before
    return Packed(content, hooks[1], edge, not isinstance(item, Tensor))


class saved_tensors_hooks:
    """Pack what is saved by operations inside, unpack it when it is needed."""

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if state.saved_hooks_disabled is not None:
            raise RuntimeError(state.saved_hooks_disabled)
        state.saved_hooks = (*state.saved_hooks, self.hooks)

    def __exit__(self, *_: object) -> None:
        state.saved_hooks = state.saved_hooks[:-1]


class save_on_cpu(saved_tensors_hooks):
    """Keep what is saved on the CPU, where everything is here."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.clone()), lambda content: content[1])


class disable_saved_tensors_hooks(ContextDecorator):
    """Refuse saved-tensor hooks inside, with a message."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message
        self.before: str | None = None

    def __enter__(self) -> None:
        if state.saved_hooks:
            raise RuntimeError(self.message)
        self.before = state.saved_hooks_disabled
        state.saved_hooks_disabled = self.message

    def __exit__(self, *_: object) -> None:
        state.saved_hooks_disabled = self.before


class allow_mutation_on_saved_tensors(ContextDecorator):
    """What is saved inside may be changed in place before backward, which must be inside too.

    Saved tensors are copied at once: NumPy tells nobody of a write through another alias, so that a copy on the first
    write, which would save memory, could come too late.
    """

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        if state.mutation_allowed is not None:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        state.mutation_allowed = self
        state.saved_hooks = (*state.saved_hooks, (_cloned, _opened_inside(self)))
        return self

    def __exit__(self, *_: object) -> None:
        state.mutation_allowed = None
        state.saved_hooks = state.saved_hooks[:-1]


def _cloned(tensor: Tensor) -> Tensor:
    return Tensor.of(np.array(tensor.array))


def _opened_inside(allowed: allow_mutation_on_saved_tensors) -> Hook:
    mine = weakref.ref(allowed)

    def opened(content: Tensor) -> Tensor:
        if state.mutation_allowed is None or state.mutation_allowed is not mine():
            raise AssertionError(messages.OUTSIDE_MUTATION)
        return content

    return opened


for _class in (saved_tensors_hooks, save_on_cpu, disable_saved_tensors_hooks, allow_mutation_on_saved_tensors):
    _class.__module__ = "torch.autograd.graph"


class SavedTensor:
    """One slot of a node; hooks registered on it replace what is there."""

    def __init__(self, node: Node, place: int | None) -> None:
        self.node, self.place = node, place

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Pack what is saved in this slot."""
        saved = self.node.saved
        if saved is None:
            raise RuntimeError(messages.HOOKS_ON_FREED)
        item = None if self.place is None else saved[self.place]
        if isinstance(item, Packed):
            raise RuntimeError(messages.HOOKS_TWICE)
        if not isinstance(item, Tensor | SavedResult):
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        made = packed(self.node, item, (pack_hook, unpack_hook))
        self.node.saved = tuple(made if i == self.place else one for i, one in enumerate(saved))
        if self.node.versions is not None:
            self.node.versions = tuple(0 if i == self.place else then for i, then in enumerate(self.node.versions))


SavedTensor.__module__ = "torch._C._autograd"
