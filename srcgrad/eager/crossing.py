"""Arrays that cross the border of a level, beneath what younger levels have put around them.

A pullback may run inside of transforms that began after the level that it goes back through had ended (``jacrev`` of a
``vmap``).  Of several levels the youngest always lies outside, as everything that computes with lifted arrays expects:
so a border looks through the younger ones, whose batches are further axes in front, and whose tangents cross as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.batched import Batched, spread
from srcgrad.eager.dual import Dual
from srcgrad.eager.lifted_arrays import is_lifted, levels_of, topmost


def entered(array: Any, level: int, dim: int) -> Any:
    """Axis ``dim`` as the batch of a level."""
    return _beneath(level, lambda lead, a: Batched(level, np.moveaxis(a, dim + lead, 0), dim), array)


def left(array: Any, level: int, count: int, dim: int) -> Any:
    """The batch of a level as axis ``dim``; what is not batched is repeated."""
    return _beneath(level, lambda lead, a: np.moveaxis(spread(a, level, count), 0, dim + lead), array)


def paired(primal: Any, tangent: Any, level: int, is_cotangent: bool = False) -> Any:
    """A primal and a tangent as the dual array of a level, or a pair of cotangents."""
    return _beneath(level, lambda _, a, b: Dual(level, a, b, is_cotangent), primal, tangent)


def part_of(array: Any, level: int, name: str) -> Any:
    """The primal or the tangent of the dual array of a level; of one without a tangent, itself or zeros."""

    def taken(_: int, a: Any) -> Any:
        if is_lifted(a) and a.level == level:
            return getattr(a, name)
        return a if name == "primal" else np.zeros(a.shape, a.dtype)

    return _beneath(level, taken, array)


def dual_in(array: Any, level: int) -> Any:
    """The dual array of a level that lies in an array; None where there is none."""
    while is_lifted(array) and array.level > level:
        if is_batch(array):
            array = array.values
            continue
        found = dual_in(array.primal, level)
        return dual_in(array.tangent, level) if found is None else found
    return array if is_lifted(array) and array.level == level else None


def is_batch(array: Any) -> bool:
    """Whether an array is a batch; ``isinstance`` says that all lifted arrays are NumPy's."""
    return issubclass(type(array), Batched)


def strangers(array: Any, home: Any) -> set[int]:
    """The levels of batches in an array of which another one, in whose place it is to stand, knows nothing."""
    return {*levels_of(array, Batched)} - {*levels_of(home, Batched)}


def _beneath(level: int, change: Callable[..., Any], *arrays: Any, lead: int = 0) -> Any:
    """``change(lead, *arrays)`` of what lies beneath levels younger than one, whose batches are its ``lead`` axes."""
    top: Any = topmost(*arrays)
    if top is None or top.level <= level:
        return change(lead, *arrays)
    if is_batch(top):
        rows = [spread(array, top.level, top.count) for array in arrays]
        return Batched(top.level, _beneath(level, change, *rows, lead=lead + 1), top.dim)

    def side(name: str) -> Any:
        return _beneath(level, change, *(part_of(array, top.level, name) for array in arrays), lead=lead)

    return Dual(top.level, side("primal"), side("tangent"), top.paired)
