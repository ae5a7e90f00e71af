"""What nodes save, under hooks that pack it away and unpack it again.

``saved_tensors_hooks(pack, unpack)`` holds for operations recorded inside it, per thread; ``_raw_saved_self`` is
the slot of a node itself, on which hooks can be set later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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

    __slots__ = ("content", "edge", "unpack")
    counter = None

    def __init__(self, content: Any, unpack: Hook, edge: tuple[Any, int]) -> None:
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
        opened = self.opened()
        made = Tensor.of(opened.array)
        made.node, made.number = self.edge
        if isinstance(made.node, AccumulateGrad):
            return made.node.variable
        return made

    def origin(self, node: Node) -> tuple[str, int]:
        return "", 0


def pack(node: Node, formula: Formula) -> None:
    """Send what a node saved through the hooks that hold now."""
    if state.saved_hooks_disabled is not None and any(kind in (INPUT, RESULT) for kind, _ in formula.sources):
        raise RuntimeError(state.saved_hooks_disabled)
    if not state.saved_hooks:
        return
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
            edge = item.edge()
            given = Tensor.of(item.storage_array()) if item.node is not None else item
            given = _alias(item)
        else:
            edge = (node, item.number)
            given = Tensor.of(item.array)
        version = given._version
        content = hooks[0](given)
        if given._version != version:
            raise RuntimeError(messages.PACK_MODIFIED)
    finally:
        state.recording, state.saved_hooks = before
    return Packed(content, hooks[1], edge)


def _alias(tensor: Tensor) -> Tensor:
    made = Tensor.of(tensor.storage_array())
    made.counter = tensor.counter
    if tensor.counter is None:
        made.counter = tensor.counter = [0]
    return made


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


class disable_saved_tensors_hooks:
    """Refuse saved-tensor hooks inside, with a message."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message
        self.before: str | None = None

    def __enter__(self) -> None:
        self.before = state.saved_hooks_disabled
        state.saved_hooks_disabled = self.message

    def __exit__(self, *_: object) -> None:
        state.saved_hooks_disabled = self.before


class SavedTensor:
    """One slot of a node; hooks registered on it replace what is there."""

    def __init__(self, node: Node, place: int | None) -> None:
        self.node, self.place = node, place

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Pack what is saved in this slot."""
        saved = self.node.saved
        if saved is None:
            raise RuntimeError(messages.FREED)
        item = None if self.place is None else saved[self.place]
        if isinstance(item, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose value has already been packed is forbidden."
            )
        if not isinstance(item, Tensor | SavedResult):
            raise RuntimeError("Calling register_hooks on a saved value that is not a tensor is forbidden.")
        made = packed(self.node, item, (pack_hook, unpack_hook))
        self.node.saved = tuple(made if i == self.place else one for i, one in enumerate(saved))


SavedTensor.__module__ = "torch._C._autograd"
