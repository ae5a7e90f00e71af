"""Stores whose result depends on the order in which NumPy moves the elements.

NumPy copies what overlaps before it stores it, but not where both are vectors with strides of one sign, nor through
``flat``: then elements may be read that were written before.  Which, differs with the strides:

>>> a = np.arange(9.0).reshape(3, 3)
>>> a[1] = a[:, 2]
>>> a[1]                                                                              # not 2, 5, 8
array([2., 8., 8.])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.runtime.isolation import shares_memory
from srcgrad.runtime.refusals import RefusedValue

_OVERLAPS = (
    "what is stored overlaps where it is stored, and NumPy may read elements that it has written before;"
    " store a copy, made with .copy()"
)


def require_order(base: Any, index: Any, value: Any, place: str) -> None:
    """Refuse ``base[index] = value`` at ``place`` where NumPy reads elements that it has written."""
    if not isinstance(base, np.ndarray) or not isinstance(value, np.ndarray) or not np.may_share_memory(base, value):
        return
    part = base[index]
    if not isinstance(part, np.ndarray) or part.ndim != 1 or not np.may_share_memory(part, value):
        return
    if value.ndim == 1 and part.strides == value.strides and part.dtype == value.dtype:
        return
    if part.dtype != value.dtype or _differs(part, value):
        raise RefusedValue("E0702", f"{place}: {_OVERLAPS}")


def require_disjoint(base: Any, value: Any, place: str) -> None:
    """Refuse ``base.flat[...] = value`` at ``place`` of what lies in the same memory: elements go one after another."""
    if isinstance(base, np.ndarray) and isinstance(value, np.ndarray) and shares_memory((base,), (value,)):
        raise RefusedValue("E0702", f"{place}: {_OVERLAPS}")


def _differs(part: np.ndarray, value: np.ndarray) -> bool:
    """Whether NumPy stores anything else than it does from a copy, seen on memory whose elements are numbered."""
    size = part.itemsize
    starts = [array.__array_interface__["data"][0] for array in (part, value)]
    spans = [_span(start, array) for start, array in zip(starts, (part, value), strict=True)]
    low, high = min(first for first, _ in spans), max(last for _, last in spans)
    if not part.size or any((start - low) % size for start in starts):
        return bool(part.size)
    kind: Any = f"i{size}" if size <= 8 else part.dtype
    made: list[Any] = []
    for copies in (False, True):
        memory = np.arange((high - low) // size).astype(kind)
        target, source = (
            np.ndarray(array.shape, kind, memory, start - low, array.strides)
            for start, array in zip(starts, (part, value), strict=True)
        )
        target[...] = source.copy() if copies else source
        made.append(memory)
    return not np.array_equal(made[0], made[1])


def _span(start: int, array: np.ndarray) -> tuple[int, int]:
    """The addresses of the first byte of an array and of that behind its last one."""
    ends = [step * (count - 1) for count, step in zip(array.shape, array.strides, strict=True)]
    return start + sum(min(0, end) for end in ends), start + sum(max(0, end) for end in ends) + array.itemsize
