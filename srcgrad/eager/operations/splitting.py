"""Tensors taken apart: several views of one tensor, made by one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from srcgrad import runtime
from srcgrad.eager.formulas import stand_in
from srcgrad.eager.graph import Node, node_class, sequence
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor, new
from srcgrad.eager.views import attach


class _Parts(Node):
    """The node of several views: each part's gradient goes back to its place."""

    places: Sequence[Any]
    like: Any

    def apply(self, g: Any) -> Any:
        total = runtime.zeros_like(self.like)
        for place, part in zip(self.places, g, strict=True):
            if part is not None:
                total[place] += part
        return (total,)

    def apply_to_tensors(self, g: Any) -> Any:
        from srcgrad.eager.lifting import lifted

        untake = lifted(runtime.untake)
        terms = [untake(p, self.like, place) for place, p in zip(self.places, g, strict=True) if p is not None]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return (total,)

    def release(self) -> None:
        """Nothing is saved."""


def _at(place: tuple[Any, ...]) -> Callable[[Any], Any]:
    """How the part at a place is made from the whole."""
    return lambda array: array[place]


def split_views(input: Tensor, places: Sequence[Any], name: str, saved: dict[str, Any]) -> tuple[Tensor, ...]:
    """Views of the input at several places, outputs of one node."""
    storage = input.storage_array()
    node: Any = None
    if state.recording and input.requires_grad:
        kind = node_class(name)
        node = new(type(kind.__name__, (_Parts, kind), {}))
        node.edges = (input.edge(),)
        node.sequence = next(sequence)
        node.places = tuple(places)
        node.like = stand_in(storage.shape, storage.dtype)
        node.outputs = len(places)
        node.statics = {**saved, "self_sym_sizes": tuple(storage.shape)}
        node.keeps = True
    results = []
    for number, place in enumerate(places):
        part: Tensor = new(Tensor)
        part.array = storage[(*place, ...)]
        if node is not None:
            part.node, part.number = node, number
        results.append(attach(part, input, _at((*place, ...)), several=True))
    if node is not None:
        node.shape = tuple(part.array.shape for part in results)
        node.dtype = tuple(part.array.dtype for part in results)
    return tuple(results)
