"""Operations that are one node in PyTorch and several functions of the rule table here.

``composed("AddmmBackward0", f, x, a, b)`` computes ``f`` with a graph of its own, on aliases of the inputs, and puts
one node in front of it: its gradients are those of the inner graph.  Where derivatives are recorded themselves, ``f``
is computed again on the inputs and differentiated with ``create_graph``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad.eager import messages
from srcgrad.eager.constants import check_captured_constants
from srcgrad.eager.dispatch import Operation, call, watched_among
from srcgrad.eager.graph import Node, modified, node_class, sequence
from srcgrad.eager.lifted_arrays import in_order
from srcgrad.eager.modes import state
from srcgrad.eager.saved_names import NAMES
from srcgrad.eager.tensor import SavedResult, Tensor, new

_same = Operation(np.positive, "AliasBackward0")
_classes: dict[str, type[Node]] = {}


class Composed(Node):
    """A node whose gradients come from a graph of its own."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...] | None  # the tensors that were given, for derivatives of derivatives
    leaves: tuple[Any, ...]  # the aliases that the inner graph ends at
    made_at: tuple[int, ...]  # the versions of the inputs
    roots: tuple[Any, ...]  # (node, output number) of each result in the inner graph

    def apply(self, g: Any) -> Any:
        from srcgrad.eager import engine

        self._check_kept()
        given = g if isinstance(g, list) else [g]
        roots = [
            (node, number, one)
            for (node, number), one in zip(self.roots, given, strict=True)
            if one is not None and node is not None
        ]
        wanted = [leaf for leaf in self.leaves if leaf.leaf_grad]
        places, targets = engine.wanted(wanted)
        found = iter(engine.run(roots, keep=True, create=False, captures=places, accumulate=False, targets=targets))
        return [next(found) if leaf.leaf_grad else None for leaf in self.leaves]

    def apply_to_tensors(self, g: Any) -> Any:
        from srcgrad.eager import engine

        self._check_kept()
        for node in self._inner():
            node.check_versions()
        inputs = [call(_same, {"x": t}) if t.requires_grad else t for t in self._unchanged()]
        made = self.function(*inputs)
        outputs = made if isinstance(made, tuple) else (made,)
        pairs = [
            (output, one)
            for output, one in zip(outputs, g if isinstance(g, list) else [g], strict=True)
            if one is not None and output.requires_grad
        ]
        wanted = [t for t in inputs if t.requires_grad]
        grads = engine.grad(
            [output for output, _ in pairs], wanted, [one for _, one in pairs], create_graph=True, allow_unused=True
        )
        found = iter(grads)
        return [next(found) if t.requires_grad else None for t in inputs]

    def _unchanged(self) -> list[Any]:
        """The inputs to compute from again; one that was written to since only where its numbers do not matter."""
        assert self.inputs is not None
        made: list[Any] = []
        for t, leaf, then in zip(self.inputs, self.leaves, self.made_at, strict=True):
            now = 0 if t.counter is None else t.counter[0]
            if now != then and not self.keeps:
                raise modified(self, t, now, then)
            if now != then:
                t = new(Tensor)
                t.array, t.leaf_grad = leaf.array, leaf.leaf_grad
            made.append(t)
        return made

    def _check_kept(self) -> None:
        if self.inputs is None:
            raise RuntimeError(messages.FREED)
        if self.watched is not None:
            self.check_versions()

    def _inner(self) -> Iterator[Node]:
        """The nodes of the inner graph, without its leaves."""
        stack, seen = [node for node, _ in self.roots if node is not None], set()
        while stack:
            node = stack.pop()
            if id(node) in seen or not hasattr(node, "formula"):
                if id(node) in seen or not isinstance(node, Composed):
                    continue
            seen.add(id(node))
            yield node
            stack += [target for target, _ in node.edges if target is not None]

    def release(self) -> None:
        """Let go of the inner graph, if PyTorch's node frees anything at all."""
        if self.inputs is not None and not self.keeps and not all(node.keeps for node in self._inner()):
            self.inputs = self.saved = None
            self.roots = self.leaves = ()

    def saved_attribute(self, name: str) -> Any:
        """What was saved under a name of PyTorch's."""
        if self.slots and name in self.slots and self.inputs is not None:
            return self.inputs[self.slots[name]]
        if self.slots and name in self.slots:
            raise RuntimeError(messages.FREED)
        return super().saved_attribute(name)


def composed_class(name: str) -> type[Node]:
    """The class of composed nodes of one name."""
    if name not in _classes:
        kind = node_class(name)
        members = {"public_name": kind.public_name, "__module__": kind.__module__}
        _classes[name] = type(kind.__name__, (Composed, kind), members)
    return _classes[name]


def composed(
    name: str,
    function: Callable[..., Any],
    *inputs: Any,
    saved: dict[str, Any] | None = None,
    slots: tuple[str, ...] = (),
    keeps: bool = False,
    copied: tuple[int, ...] = (),
) -> Any:
    """``function(*inputs)``, a tensor or a tuple of them, recorded as one node.

    ``slots`` names the inputs that PyTorch's node saves, by position; ``saved`` are further ``_saved_`` attributes;
    ``keeps``: PyTorch's node saves no tensor, and can be gone through again; ``copied``: inputs, by position, that
    PyTorch's node does not save, while the inner graph reads them: it is given copies, as they may be written to.
    """
    if not state.recording or not any(t.requires_grad for t in inputs):
        return function(*inputs)
    check_captured_constants(name, function, inputs)
    aliases = tuple(_copy(t) if i in copied else _alias(t) for i, t in enumerate(inputs))
    made = function(*aliases)
    outputs = made if isinstance(made, tuple) else (made,)
    if not any(output.requires_grad for output in outputs):
        return made
    node: Any = new(composed_class(name))
    node.function, node.inputs, node.leaves = function, inputs, aliases
    node.made_at = tuple(0 if t.counter is None else t.counter[0] for t in inputs)
    node.roots = tuple((output.node, output.number) for output in outputs)
    node.edges = tuple(t.edge() for t in inputs)
    node.keeps = keeps
    node.sequence = next(sequence)
    node.slots = {slot: place for place, slot in enumerate(slots[: len(inputs)]) if slot}
    node.statics = saved
    watched = () if saved is None else watched_among(saved.values()) or ()
    names = NAMES.get(type(node).__name__, ("", ""))[0].split()
    if not keeps and all(t.requires_grad for t in inputs):
        watched += watched_among([t for t, slot in zip(inputs, slots, strict=False) if slot in names]) or ()
        if "result" in names:
            watched += (_watched_result(outputs[0]),)
    node.watched = watched or None
    arrays = [output.array for output in outputs]
    several = isinstance(made, tuple)
    node.outputs = len(arrays)
    node.shape = tuple(a.shape for a in arrays) if len(arrays) > 1 else arrays[0].shape
    node.dtype = tuple(a.dtype for a in arrays) if len(arrays) > 1 else arrays[0].dtype
    results = []
    for number, output in enumerate(outputs):
        result: Tensor = new(Tensor)
        result.array, result.counter = output.array, output.counter
        if output.requires_grad:
            result.node, result.number = node, number
        elif state.transform_level:
            result.born = next(sequence)
        results.append(result)
    return tuple(results) if several else results[0]


def _watched_result(output: Tensor) -> tuple[Any, int]:
    """What tells of a write to a result, without the tensor, which would make a cycle."""
    if output.counter is None:
        output.counter = [0]
    return SavedResult(output.array, output.counter, 0), output.counter[0]


def _copy(t: Tensor) -> Tensor:
    """The input as a leaf of the inner graph, in memory of its own."""
    made = Tensor.of(in_order(t.array))
    made.leaf_grad = t.requires_grad
    return made


def _alias(t: Tensor) -> Tensor:
    """The input as a leaf of the inner graph: same memory, same versions."""
    if t.counter is None:
        t.counter = [0]
    made: Tensor = new(Tensor)
    made.array, made.counter, made.inference = t.array, t.counter, t.inference
    made.leaf_grad = t.requires_grad
    return made
