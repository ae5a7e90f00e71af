"""Nodes whose gradients are written for plain memory, given lifted ones: run on tensors, or for each example."""

from __future__ import annotations

import copy
from typing import Any

from srcgrad.eager.batched import Batched, each, one
from srcgrad.eager.lifted_arrays import Escape, concerns, is_lifted, topmost
from srcgrad.eager.modes import no_grad
from srcgrad.eager.tensor import SavedResult, Tensor


def recovered(node: Any, g: Any, error: Exception) -> Any:
    """What a node makes of gradients of which some, or what it saved, are lifted."""
    if node.saved is not None:
        node.check_versions()  # an error that says the same is no reason to try another way
    saved = node.saved or ()
    top: Any = topmost(g, [getattr(item, "array", item) for item in saved])
    if top is None:
        raise Escape("a gradient that is written for plain memory") from error
    if not issubclass(type(top), Batched):
        return _on_tensors(node, g)
    numbers = iter(range(top.count))

    def of_example(part: Any) -> Any:
        i = next(numbers)
        twin = copy.copy(node)
        twin.versions = None
        twin.saved = tuple(_example(item, top.level, i) for item in saved) if node.saved is not None else None
        try:
            return tuple(twin.apply(part))
        except Exception as inner:
            if not concerns(inner, (part,), twin.saved):
                raise
            return tuple(recovered(twin, part, inner))

    return each(top, of_example, (g,), {})


def _on_tensors(node: Any, g: Any) -> Any:
    """The gradients computed by operations of tensors, which take tangents along."""
    given = [one if one is None else Tensor.of(one) for one in g] if isinstance(g, list) else Tensor.of(g)
    try:
        with no_grad():
            made = node.apply_to_tensors(given)
    except Exception as error:
        raise Escape("a gradient that is written for plain memory") from error
    return tuple(one.array if isinstance(one, Tensor) else one for one in made)


def _example(item: Any, level: int, i: int) -> Any:
    """What was saved, for one example."""
    array = getattr(item, "array", item)
    if isinstance(array, list | tuple) or not is_lifted(array):
        return item if array is not item else one(item, level, i)
    if array.level != level:
        return item
    return SavedResult(array.values[i], [0], getattr(item, "number", 0))
