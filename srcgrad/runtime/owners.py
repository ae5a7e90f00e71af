"""Arrays found by the memory that they lie in: a table by owner, in place of comparisons of all with all.

An array that owns its memory shares it with its views only, which name it as their ``base``.  A table keeps its arrays,
and so their owners, so that no number that ``id`` gave is given to another object meanwhile.

>>> rows, other = np.zeros((3, 2)), np.zeros(2)
>>> table = Table()
>>> table.add(rows[1], "second")
>>> [beside for _, beside in table.near(rows[1:])], list(table.near(other))
(['second'], [])
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

byte_bounds = np.lib.array_utils.byte_bounds


class Part:
    """Memory of ``owner`` as NumPy sees it through the array interface."""

    def __init__(self, owner: Any, address: int, shape: Any, strides: Any, dtype: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (address, False), "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3,
        }  # fmt: skip


def owner_of(array: Any) -> Any:
    """The array that owns the memory of an array; None if that cannot be told, as of memory that is none of NumPy's."""
    while True:
        base = array.base
        if base is None:
            return array if array.flags.owndata else None
        if isinstance(base, Part):
            base = base.owner
        elif isinstance(base, memoryview):
            base = base.obj
        if not isinstance(base, np.ndarray):
            return None
        array = base


@dataclass(eq=False)
class _Extents:
    """Arrays in one memory: those whose extents overlap, also by way of others, are together.

    The extents of the groups are apart, and in order."""

    arrays: list[tuple[Any, Any]] = field(default_factory=list)
    sorted: int = 0  # how many of the arrays are in groups
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    groups: list[list[tuple[Any, Any]]] = field(default_factory=list)

    def near(self, array: Any) -> Iterator[tuple[Any, Any]]:
        if len(self.arrays) == 1:  # the usual case, in which extents are not worth their while
            yield self.arrays[0]
            return
        while self.sorted < len(self.arrays):
            self._put(self.arrays[self.sorted])
            self.sorted += 1
        first, last = self._meeting(*byte_bounds(array))
        for group in self.groups[first:last]:
            yield from group

    def _meeting(self, low: int, high: int) -> tuple[int, int]:
        return bisect_right(self.ends, low), bisect_left(self.starts, high)

    def _put(self, item: tuple[Any, Any]) -> None:
        low, high = byte_bounds(item[0])
        first, last = self._meeting(low, high)
        if last == first + 1 and self.starts[first] <= low and high <= self.ends[first]:
            self.groups[first].append(item)
            return
        others = [each for group in self.groups[first:last] for each in group]
        if others and (self.starts[first] < low or high < self.ends[last - 1]):
            low, high = min(low, self.starts[first]), max(high, self.ends[last - 1])
            others.append(item)
        else:
            others.insert(0, item)  # the whole stands before its parts, and is found at once
        self.groups[first:last], self.starts[first:last], self.ends[first:last] = [others], [low], [high]


class Table:
    """Arrays, each with what stands beside it."""

    def __init__(self) -> None:
        self._beside: dict[int, tuple[Any, Any]] = {}
        self._owners: dict[int, _Extents] = {}
        self._is_owned = True  # else the addresses alone say what overlaps

    def add(self, array: Any, beside: Any) -> None:
        if id(array) not in self._beside:
            owner = self._owner(array)
            self._beside[id(array)] = array, beside
            self._owners.setdefault(owner, _Extents()).arrays.append((array, beside))

    def __contains__(self, array: Any) -> bool:
        return id(array) in self._beside

    def beside(self, array: Any) -> Any:
        """What stands beside this array itself."""
        return self._beside[id(array)][1]

    def near(self, array: Any) -> Iterator[tuple[Any, Any]]:
        """The arrays that may share memory with this one, each with what stands beside it."""
        owner = self._owner(array)  # which may change how they are kept
        known = self._owners.get(owner)
        return iter(()) if known is None else known.near(array)

    def _owner(self, array: Any) -> int:
        if self._is_owned:
            owner = owner_of(array)
            if owner is not None:
                return id(owner)
            self._is_owned = False
            self._owners = {0: _Extents(list(self._beside.values()))} if self._beside else {}
        return 0
