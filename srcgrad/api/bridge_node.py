"""The node of a compiled function in the eager graph; imported when the first is recorded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcgrad.api.bridge import leaves_of, mapped, on_tensors
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import Pullback
from srcgrad.eager import dtypes, messages
from srcgrad.eager.dispatch import watched_among
from srcgrad.eager.graph import Node, sequence
from srcgrad.eager.tensor import Tensor, new
from srcgrad.programs import options


class CompiledNode(Node):
    """One call of a compiled function; its formula is the compiled pullback."""

    pullback: Pullback | None = None
    derivative: Derivative
    given: tuple[Any, ...] | None = None  # the arguments as they were passed, tensors included
    places: tuple[Any, ...] = ()  # per differentiated argument, its structure with numbers of edges
    seeded: Any = None  # the structure of the value with numbers of outputs

    def apply(self, g: Any) -> Any:
        if self.pullback is None:
            raise RuntimeError(messages.FREED)
        grads = g if self.outputs > 1 else [g]

        def seed(number: Any) -> Any:
            if number is None:
                return None
            one = grads[number]
            return np.zeros(*self.kinds[number])[()] if one is None else np.conjugate(one)[()]

        partials = self.pullback(mapped(self.seeded, seed))
        made: list[Any] = [None] * len(self.edges)
        for structure, partial in zip(self.places, partials, strict=True):
            for number, one in _pairs(structure, partial):
                if number is not None and one is not None:
                    made[number] = np.conjugate(one) if isinstance(one, np.ndarray) else np.conjugate(one)[()]
        return made

    def apply_to_tensors(self, g: Any) -> Any:
        if self.given is None:
            raise RuntimeError(messages.FREED)
        self.check_versions()
        grads = g if self.outputs > 1 else [g]

        def seed(number: Any) -> Any:
            if number is None:
                return None
            one = grads[number]
            return Tensor.of(np.zeros(*self.kinds[number])[()]) if one is None else _conjugate(one)

        derivative = self.derivative
        with options(debug=False):  # what is differentiated next is the text
            joint = derivative.program(self._arrays(), "reverse").entry
        arguments = derivative.arguments(self.given)
        seeds = mapped(self.seeded, seed)
        outcome = on_tensors(joint, (*arguments, seeds), {}, f"{type(self).__name__}Backward")
        outcome = self._by_argument(outcome)
        made: list[Any] = [None] * len(self.edges)
        leaves = self.saved or ()
        for structure, partial in zip(self.places, outcome, strict=True):
            for number, one in _pairs(structure, partial):
                if number is not None and isinstance(one, Tensor):
                    made[number] = _fitted(_conjugate(one), leaves[number])
        return made

    def _arrays(self) -> tuple[Any, ...]:
        """The arguments as the derivative was compiled for."""
        assert self.given is not None
        return tuple(mapped(v, lambda leaf: leaf.array[()] if isinstance(leaf, Tensor) else leaf) for v in self.given)

    def _by_argument(self, raw: Any) -> list[Any]:
        """What the gradient program returns, one entry per differentiated argument."""
        derivative = self.derivative
        by_name = dict(zip(derivative.wanted, raw, strict=True))
        return [by_name[name] if inner is None else by_name[name][inner] for name, inner in derivative.chosen]

    def release(self) -> None:
        """Let go of the pullback and of the arguments."""
        self.pullback = self.given = self.saved = self.watched = None


def record(derivative: Derivative, pullback: Pullback, given: tuple[Any, ...], name: str) -> Any:
    """The value of ``pullback`` as tensors of one node called ``name``."""
    node: Any = new(_kind(name))
    edges: list[Any] = []
    saved: list[Tensor] = []

    def edge(leaf: Any) -> Any:
        if not (isinstance(leaf, Tensor) and leaf.requires_grad):
            return None
        edges.append(leaf.edge())
        saved.append(leaf)
        return len(edges) - 1

    positions = derivative.parameters.names
    chosen = []
    for parameter, inner in derivative.chosen:
        value = given[positions.index(parameter)]
        chosen.append(value if inner is None else value[inner])
    node.places = tuple(mapped(value, edge) for value in chosen)
    node.edges = tuple(edges)
    node.saved = tuple(saved)
    node.versions = tuple(0 if leaf.counter is None else leaf.counter[0] for leaf in saved)
    node.derivative, node.pullback = derivative, pullback
    node.given = tuple(mapped(value, _kept) for value in given)  # containers and arrays may change after the call
    node.watched = watched_among(leaves_of(given))
    node.sequence = next(sequence)
    kinds: list[tuple[Any, Any]] = []

    def number(leaf: Any) -> Any:
        found = leaf if isinstance(leaf, np.ndarray | np.generic) else np.asarray(leaf)
        if found.dtype.kind not in "fc":
            return None
        kinds.append((found.shape, found.dtype))
        return len(kinds) - 1

    node.seeded = mapped(pullback.value, number)
    node.kinds = kinds
    node.outputs = len(kinds)
    if len(kinds) == 1:
        node.shape, node.dtype = kinds[0]
    else:
        node.shape, node.dtype = tuple(shape for shape, _ in kinds), tuple(dtype for _, dtype in kinds)
    numbers = iter(range(len(kinds)))

    def output(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray | np.generic | float | complex):
            return leaf
        found = leaf if isinstance(leaf, np.ndarray | np.generic) else np.asarray(leaf)[()]
        made: Tensor = new(Tensor)
        made.array = found.copy() if isinstance(found, np.ndarray) else found
        if found.dtype.kind in "fc":
            made.node, made.number = node, next(numbers)
        return made

    return mapped(pullback.value, output)


_kinds: dict[str, type[CompiledNode]] = {}


def _kind(name: str) -> type[CompiledNode]:
    if name not in _kinds:
        _kinds[name] = type(name, (CompiledNode,), {"__module__": "srcgrad.api.bridge"})
    return _kinds[name]


def _kept(leaf: Any) -> Any:
    """An argument as the gradient's gradient will read it: tensors tell of changes by their versions, arrays do not."""
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def _pairs(structure: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of an argument's structure with those of its cotangent."""
    if isinstance(structure, tuple | list | deque):
        if value is not None:
            for one, part in zip(structure, value, strict=True):
                yield from _pairs(one, part)
    elif isinstance(structure, dict):
        if value is not None:
            for key, one in structure.items():
                yield from _pairs(one, value.get(key))
    else:
        yield structure, value


def _conjugate(tensor: Tensor) -> Tensor:
    """A gradient in the other convention: programs pair without conjugation, tensors with it."""
    return tensor.conj() if tensor.array.dtype.kind == "c" else tensor


def _fitted(g: Tensor, leaf: Tensor) -> Tensor:
    """A gradient in the dtype of its tensor, of a real one the real part."""
    if g.array.dtype.kind == "c" and leaf.array.dtype.kind != "c":
        g = g.real
    return g if g.array.dtype == leaf.array.dtype else g.to(dtypes.OF_NUMPY[leaf.array.dtype])
