"""Arguments that keep their memory layout: strides decide what is a view of what."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle import is_inexact, rebuild


def fresh(tree: Any) -> Any:
    """A copy that shares nothing and has the strides of what it copies, negative ones and gaps included."""

    def alike(leaf: Any) -> Any:
        return laid_out(leaf, leaf) if isinstance(leaf, np.ndarray) else set(leaf) if isinstance(leaf, set) else leaf

    return rebuild(tree, alike)


def laid_out(values: Any, like: np.ndarray) -> np.ndarray:
    """``values`` as an array that is laid out as ``like``, in elements of their own dtype."""
    values = np.asarray(values)
    steps = [step // like.itemsize for step in like.strides]
    reach = [(length - 1) * step for length, step in zip(like.shape, steps, strict=True)]
    block = np.zeros(1 + sum(map(abs, reach)), values.dtype)
    start = -sum(length for length in reach if length < 0) * values.itemsize
    if not like.size:
        return values.reshape(like.shape).copy()
    made: Any = np.ndarray(like.shape, values.dtype, block, start, [step * values.itemsize for step in steps])
    made[...] = values.reshape(like.shape)
    return made


def unravelled(tree: Any, point: np.ndarray) -> Any:
    """``tests.oracle.unravel`` with every array laid out as it is in the tree."""
    position = 0

    def make(leaf: Any) -> Any:
        nonlocal position
        if not is_inexact(leaf):
            return leaf
        values = point[position : position + np.size(leaf)]
        position += np.size(leaf)
        if isinstance(leaf, np.ndarray):
            return laid_out(values, leaf)
        return values[0] if np.iscomplexobj(point) else float(values[0])

    return rebuild(tree, make)
