"""Nodes whose gradients are written for plain memory, given lifted ones: run for each example."""

from __future__ import annotations

import copy
from typing import Any

from srcgrad.eager.func.batched import Batched, each, one
from srcgrad.eager.lifted_arrays import Escape, is_lifted, topmost
from srcgrad.eager.tensor import SavedResult


def recovered(node: Any, g: Any, error: Exception) -> Any:
    """What a node makes of gradients of which some, or what it saved, are batched; others cannot be helped."""
    saved = node.saved or ()
    top: Any = topmost(g, [getattr(item, "array", item) for item in saved])
    if top is None or not issubclass(type(top), Batched):
        raise Escape("a gradient that is written for plain memory") from error
    numbers = iter(range(top.count))

    def of_example(part: Any) -> Any:
        i = next(numbers)
        twin = copy.copy(node)
        twin.versions = None
        twin.saved = tuple(_example(item, top.level, i) for item in saved) if node.saved is not None else None
        return tuple(twin.apply(part))

    return each(top, of_example, (g,), {})


def _example(item: Any, level: int, i: int) -> Any:
    """What was saved, for one example."""
    array = getattr(item, "array", item)
    if isinstance(array, list | tuple) or not is_lifted(array):
        return item if array is not item else one(item, level, i)
    if array.level != level:
        return item
    return SavedResult(array.values[i], [0], getattr(item, "number", 0))
