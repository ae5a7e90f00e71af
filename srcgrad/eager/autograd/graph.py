"""``torch.autograd.graph``: nodes, edges, saved tensors, hooks on several gradients, versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from srcgrad.eager import messages
from srcgrad.eager.graph import AccumulateGrad, Node
from srcgrad.eager.handles import RemovableHandle, Table
from srcgrad.eager.saved import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from srcgrad.eager.tasks import current_task
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import bump

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """One output of a node: where a gradient comes by, without the tensor itself."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None

    def edge(self) -> tuple[Node, int]:
        """Where the gradient goes, as a tensor says it."""
        return self.node, self.output_nr


GradientEdge.__module__ = "torch.autograd.graph"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge at which a tensor's gradient arrives."""
    node, number = tensor.edge()
    if node is None:
        raise RuntimeError(messages.NO_EDGE)
    return GradientEdge(node, number)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Say that tensors were changed in place by somebody who did not say so."""
    try:
        several = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input") from None
    for one in several:
        bump(one)


class _Handle(RemovableHandle):
    """Several hooks that are removed together."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        super().__init__(Table())
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


_Handle.__name__ = _Handle.__qualname__ = "Handle"
_Handle.__module__ = "torch.autograd.graph"


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn`` once in a backward pass: with the list of all gradients when the last is known, or with the first.

    With ``mode="all"`` the list has None for tensors that the pass does not reach.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    nodes = [tensor.edge()[0] for tensor in tensors]
    if any(node is None for node in nodes):
        raise AssertionError("Expected gradient function to be set")
    watch = _all(nodes, fn) if mode == "all" else _any(fn)
    return _Handle(tuple(tensor.register_hook(watch(place)) for place, tensor in enumerate(tensors)))


def _all(nodes: Sequence[Any], fn: Callable[..., None]) -> Callable[[int], Callable[..., None]]:
    collected: dict[int, list[Any]] = {}  # by the pass
    left: dict[int, int] = {}

    def watch(place: int) -> Callable[..., None]:
        def hook(g: Any) -> None:
            task = current_task()
            assert task is not None
            number = task.number
            if number not in left:
                if task.captures is not None and any(isinstance(node, AccumulateGrad) for node in nodes):
                    raise RuntimeError(messages.LEAF_WILL_EXECUTE)
                left[number] = sum(map(task.reaches, nodes))
                collected[number] = [None] * len(nodes)
            collected[number][place] = g
            left[number] -= 1
            if not left[number]:
                del left[number]
                fn(collected.pop(number))

        return hook

    return watch


def _any(fn: Callable[..., None]) -> Callable[[int], Callable[..., None]]:
    done: list[int] = []  # the pass that has been told last

    def watch(place: int) -> Callable[..., None]:
        def hook(g: Any) -> None:
            task = current_task()
            assert task is not None
            if done != [task.number]:
                done[:] = [task.number]
                fn(g)

        return hook

    return watch
