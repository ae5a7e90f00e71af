"""Functions of nested lists or of dicts, or with such results, as nodes: ``np.block`` and its like.

The edges and outputs of such a node are the leaves of the structures, in order; the partials of its rule are trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gast
import numpy as np

from srcgrad.eager.graph import Node, conjugated, node_class, sequence
from srcgrad.eager.tensor import Tensor, new
from srcgrad.rules.template import Rule


class TreeNode(Node):
    """A node whose inputs and outputs are leaves of trees."""

    adjoint: Callable[..., Any]
    arguments: tuple[Any, ...] | None = None
    result: Any = None
    inputs: tuple[Any, ...] = ()  # for each partial, its structure: numbers of edges, None where nothing is wanted

    def apply(self, g: Any) -> Any:
        grads = iter(g if self.outputs > 1 else [g])
        seed = filled(self.result, grads)
        assert self.arguments is not None
        partials = self.adjoint(*self.arguments, self.result, seed)
        made: list[Any] = [None] * len(self.edges)
        for structure, partial in zip(self.inputs, partials, strict=True):
            _collect(structure, partial, made)
        return conjugated(made, np.conjugate)

    def apply_to_tensors(self, g: Any) -> Any:
        raise NotImplementedError(f"the derivative of {self.name()} of nested lists is not recorded")

    def release(self) -> None:
        """Nothing that PyTorch would count as saved."""


def is_nested(value: Any) -> bool:
    """Whether a value is a dict, or a list or tuple that holds lists, tuples or dicts."""
    if isinstance(value, dict):
        return True
    return isinstance(value, list | tuple) and any(isinstance(item, list | tuple | dict) for item in value)


def leaves(value: Any) -> Iterator[Any]:
    """What nested lists and dicts hold, in order."""
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    elif value is not None:
        yield value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The structure of nested lists and dicts with every leaf changed."""
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return None if value is None else change(value)


def filled(value: Any, grads: Iterator[Any]) -> Any:
    """The gradients of the leaves of a result in its structure, zeros where none has arrived."""

    def at(leaf: Any) -> Any:
        g = next(grads)
        return np.zeros(np.shape(leaf), np.asarray(leaf).dtype)[()] if g is None else np.conjugate(g)

    return mapped(value, at)


def _collect(structure: Any, partial: Any, made: list[Any]) -> None:
    if isinstance(structure, int):
        made[structure] = None if partial is None else np.asarray(partial)[()]
    elif isinstance(structure, dict) and partial is not None:
        for key, part in partial.items():
            _collect(structure[key], part, made)
    elif structure is not None and partial is not None:
        for one, part in zip(structure, partial, strict=True):
            _collect(one, part, made)


def recorded_tree(
    rule: Rule, expressions: Mapping[str, gast.expr], values: Mapping[str, Any], result: Any, kind: type[Node]
) -> Any:
    """``result``, which a function made of ``values``, as tensors of one node, in the structure of the result."""
    wanted = [p for p in rule.parameters if p in rule.differentiable and any(map(_requires, leaves(values.get(p))))]
    edges: list[Any] = []

    def numbered(value: Any) -> Any:
        if not _requires(value):
            return None
        edges.append(value.edge())
        return len(edges) - 1

    name = f"{kind.__name__} of trees"
    node: Any = new(_classes.setdefault(name, type(kind.__name__, (TreeNode,), {"__module__": node_class.__module__})))
    node.inputs = tuple(mapped(values[p], numbered) for p in wanted)
    node.edges = tuple(edges)
    node.adjoint = rule.compile_adjoint(wanted, expressions)
    names = [p for p in (*rule.parameters, *rule.options) if p in values]
    node.arguments = tuple(mapped(values[p], lambda v: v.array if isinstance(v, Tensor) else v) for p in names)
    node.result = result
    node.sequence = next(sequence)
    parts = [*leaves(result)]
    node.outputs = len(parts)
    node.shape = tuple(np.shape(part) for part in parts) if len(parts) > 1 else np.shape(parts[0])
    node.dtype = tuple(part.dtype for part in parts) if len(parts) > 1 else parts[0].dtype
    numbers = iter(range(len(parts)))

    def output(part: Any) -> Any:
        made: Tensor = new(Tensor)
        made.array = part
        number = next(numbers)
        if part.dtype.kind in "fc" and edges:
            made.node, made.number = node, number
        return made

    return mapped(result, output)


_classes: dict[str, type[Node]] = {}


def _requires(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad
