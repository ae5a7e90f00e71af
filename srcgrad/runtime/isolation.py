"""Arguments that a function stores into: private copies at the door, so that the caller's objects stay as they are.

>>> w = np.arange(4.0)
>>> x, y = private(w, w[::2])
>>> x[2] = 9.0
>>> y, w
(array([0., 9.]), array([0., 1., 2., 3.]))
"""

from __future__ import annotations

import copy
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MethodType
from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.defaults import Missing
from srcgrad.runtime.descending import Step, descending
from srcgrad.runtime.objects import fields_of, is_object
from srcgrad.runtime.objects import made as empty
from srcgrad.runtime.owners import owner_of
from srcgrad.runtime.reaching import leads_nowhere, reached
from srcgrad.runtime.refusals import RefusedValue
from srcgrad.runtime.shadows import cloned

WORK: Any = 100_000  # of the exact search for a shared element, whose cost may be exponential in the ranks

_CONTAINERS = (tuple, list, dict, deque)


def private(*values: Any) -> Any:
    """Copies of the values, one value alone or a tuple of several.

    All that is shared stays shared: an array or container that occurs twice, two views of one buffer.  Layouts are
    kept, read-only arrays stay read-only.  An array that shows an element more than once cannot be stored into.
    """
    if (alone := _copies_of_alone(values)) is not None:
        return alone[0] if len(alone) == 1 else alone
    arrays = list({id(a): a for a in _arrays(values)}.values())
    strided = [a for a in arrays if not _shows_twice(a)]
    for array in arrays:
        if _shows_twice(array) and (array.flags.writeable or any(_overlap(array, other) for other in strided)):
            raise RefusedValue(
                "E0702", "an argument that is stored into shows an element more than once (broadcast_to, as_strided);"
                " pass a copy of it"
            )
    copies = _copied_with(values, arrays, dict(zip(map(id, strided), cloned(strided), strict=True)))
    return copies[0] if len(copies) == 1 else copies


def kept_apart(values: tuple[Any, ...], is_stored_into: bool) -> tuple[Any, ...]:
    """Copies of the arguments of a program, in their layouts, and with what they share."""
    if (alone := _copies_of_alone(values)) is not None:
        return alone
    arrays = list({id(a): a for a in _arrays(values)}.values())
    alike = [a for a in arrays if is_stored_into or not _has_wide_gaps(a)]
    copies = dict(zip(map(id, alike), cloned(alike), strict=True))
    sets = {id(part): part for part in contained(values) if isinstance(part, set) and not is_stored_into}
    return _copied_with(values, arrays, copies, sets)


def _copies_of_alone(values: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Copies of numbers, and of arrays each of which has memory of its own; None where there is anything else."""
    if not _are_apart(values):
        return None
    return tuple(_same_array(value) if isinstance(value, np.ndarray) else value for value in values)


def _are_apart(values: Sequence[Any]) -> bool:
    """Whether values are seen to share nothing: numbers, and arrays each of which has memory of its own; none of the
    numbers is the ``id`` of an array."""
    own = [_memory_of(value) for value in values if type(value) is np.ndarray]
    numbers = [value for value in values if isinstance(value, _NUMBERS) and not isinstance(value, np.void)]
    if None in own or len(set(own)) + len(numbers) != len(values):
        return False
    arrays = {id(value) for value in values if type(value) is np.ndarray}
    return not any(type(value) is int and value in arrays for value in numbers)


def _has_wide_gaps(array: Any) -> bool:
    """Whether an array lies in much more memory than it needs, such as a column of a large matrix: of a copy with these
    gaps nobody would read the rest."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return bool(high - low > max(1 << 20, 4 * array.nbytes))


_NUMBERS = (bool, int, float, complex, str, type(None), np.generic)


def _memory_of(array: Any) -> int | None:
    """Which array owns the memory that an array without gaps lies in; None where it has gaps, or holds objects, or that
    is not known."""
    if not array.flags.forc or array.dtype.hasobject:
        return None
    owner = owner_of(array)
    return None if owner is None else id(owner)


def _same_array(array: Any) -> Any:
    made = array.copy("K")
    made.flags.writeable = array.flags.writeable
    return made


def _copied_with(
    values: tuple[Any, ...], arrays: list[Any], made: dict[int, Any], kept: dict[int, Any] | None = None
) -> tuple[Any, ...]:
    """Copies of values in which arrays are those that are made for them; what is not made yet is copied, and what is
    ``kept`` is not."""
    made.update((id(a), np.array(a)) for a in arrays if id(a) not in made)
    for array in arrays:
        made[id(array)].flags.writeable = array.flags.writeable
    memo: dict[int, Any] = dict(kept or {})
    return tuple(copied(value, made, memo) for value in values)


def without_factories(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a call with no ``defaultdict`` that makes something: a derivative changes no argument, and does
    not know what is made.  Containers that hold such a dict are copied; what is shared stays shared."""
    if not any(isinstance(value, _CONTAINERS) or is_object(value) for value in values):
        return values
    parts = list(contained(values))
    if not any(isinstance(part, defaultdict) and part.default_factory is not None for part in parts):
        return values
    memo: dict[int, Any] = {}
    arrays = {id(part): part for part in parts if isinstance(part, np.ndarray)}
    made = tuple(copied(value, arrays, memo) for value in values)
    for part in memo.values():
        if isinstance(part, defaultdict) and part.default_factory is not None:
            part.default_factory = _replaced(part.default_factory)
    return made


def _replaced(factory: Any) -> Missing:
    return factory if isinstance(factory, Missing) else Missing(factory)


def unprivate(g: Any, i: int, count: int) -> Any:
    """The cotangent of argument ``i`` of ``count``, of those of their copies."""
    return g if count == 1 else g[i]


def placed_alone(g: Any, like: Any, i: int, count: int) -> Any:
    """The transpose of ``unprivate``: zeros like ``like``, with ``g`` at place ``i``."""
    if count == 1:
        return g
    return tuple(g if j == i else zeros_like(part) for j, part in enumerate(like))


def require_apart(stored: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse a call in which something that is stored into shares memory with something else: a derivative stores into
    a copy, which what else the program reads does not see, and what varies has one shadow for each argument.  What
    arguments that are stored into share goes on being shared; it may be what has no shadow, as sets have none.

    ``others`` are the other arguments, and what the program reads outside; functions, classes and objects among them
    count with all that their code reads.  Nor may the code that comes with what is stored into read the latter.
    """
    if _are_apart([*stored.values(), *others.values()]):
        return
    memory = _Memory()
    for name, value in stored.items():
        if (before := memory.shared_with(filter(_may_vary, contained([value])))) is not None:
            raise RefusedValue(
                "E0701", f"{before} and {name} are stored into and share memory; pass a copy of one of them"
            )
        memory.add(name, value)
    seen: dict[int, Any] = {}
    for other, value in others.items():
        if (mine := memory.shared_with(reached([value], seen))) is not None:
            raise RefusedValue(
                "E0701", f"{mine} is stored into and shares memory with {other}; pass a copy of one of them"
            )
    for other, value in stored.items():
        if (mine := memory.shared_with(reached(memory.code_in(value), seen))) is not None:
            raise RefusedValue(
                "E0701",
                f"{mine} is stored into and shares memory with what functions or methods in {other} read; pass a copy",
            )


def shared_outside(values: Sequence[Any], outside: Sequence[Any]) -> bool:
    """Whether arguments share memory with what may be read outside of them, by their own code too."""
    memory = _Memory()
    for value in values:
        memory.add("", value)
    code = [part for value in values for part in memory.code_in(value)]
    return memory.shared_with(reached([*outside, *code])) is not None


def _may_vary(part: Any) -> bool:
    """Whether what a derivative depends on may be stored there."""
    return part.dtype.kind in "fcO" if isinstance(part, np.ndarray) else not isinstance(part, set)


class _Memory:
    """The arrays, containers and objects that arguments hold, and the names of the arguments."""

    def __init__(self) -> None:
        self.held: dict[int, str] = {}
        self.arrays: list[tuple[str, Any]] = []

    def add(self, name: str, value: Any) -> None:
        for part in contained([value]):
            if isinstance(part, np.ndarray):
                self.arrays.append((name, part))
            if isinstance(part, np.ndarray) or can_change(part):
                self.held[id(part)] = name

    def shared_with(self, values: Iterable[Any]) -> str | None:
        """The argument that shares something with one of these values, or with all that they hold if this is no list;
        a number that is the ``id`` of what an argument holds is not that of its copy."""
        for value in contained(values) if isinstance(values, list) else values:
            if (name := self.held.get(value if type(value) is int else id(value))) is not None:
                return name
            if isinstance(value, np.ndarray):
                for name, array in self.arrays:
                    if _overlap(array, value):
                        return name
        return None

    def code_in(self, value: Any) -> Iterator[Any]:
        """The functions and classes that come with an argument; a method of what is copied becomes one of the copy."""
        for part in contained([value]):
            if isinstance(part, MethodType) and id(part.__self__) in self.held:
                yield part.__func__
            elif is_object(part):
                yield type(part)
            elif not isinstance(part, (np.ndarray, set, *_CONTAINERS)) and not leads_nowhere(part):
                yield part


def shares_memory(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether an array or container in the values is, or overlaps, one in the others."""
    memory = _Memory()
    for value in others:
        memory.add("", value)
    return memory.shared_with(list(values)) is not None


def is_apart(value: Any, *, memory: bool) -> bool:
    """Whether a copy of a value means the same where it is made of its parts, as pickling does: no number in it is the
    ``id`` of another part, and, with ``memory``, no two arrays in it overlap."""
    parts = list(contained([value]))
    identities = {id(part) for part in parts}
    if any(type(part) is int and part in identities for part in parts):
        return False
    arrays = [part for part in parts if isinstance(part, np.ndarray) and part.size]
    extents = sorted(map(np.lib.array_utils.byte_bounds, arrays))
    return not memory or all(after[0] >= before[1] for before, after in pairwise(extents))


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share an element; what cannot be found out counts as shared."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=WORK))
    except np.exceptions.TooHardError:
        return True


def _shows_twice(array: Any) -> bool:
    """Whether two indices of an array may name one element, by strides in growing order."""
    if not array.size:
        return False
    reach = array.itemsize
    for stride, count in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return True
        reach += (count - 1) * stride
    return False


# --- containers and objects ------------------------------------------------------------------------------------------
def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, _CONTAINERS):
        yield from value
    elif is_object(value):
        yield from fields_of(value).values()


def contained(values: Sequence[Any]) -> Iterator[Any]:
    """The values and all that they contain, each object once."""
    seen: dict[int, Any] = {}
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        yield value
        pending.extend(_parts(value))


def _arrays(values: tuple[Any, ...]) -> Iterator[Any]:
    return (value for value in contained(values) if isinstance(value, np.ndarray))


def can_change(value: Any) -> bool:
    return isinstance(value, list | dict | deque | set) or is_object(value)


@descending
def copied(value: Any, arrays: dict[int, Any], memo: dict[int, Any]) -> Step[Any]:
    """A copy of a value in which the arrays, found by their identities, are others; ``memo`` gets the copies."""
    if isinstance(value, np.ndarray):
        return arrays[id(value)]
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, tuple):
        parts: list[Any] = []
        for part in value:
            parts.append((yield part, arrays, memo))
        made: Any = type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
        memo[id(value)] = made
    elif isinstance(value, list | deque):
        made = memo[id(value)] = copy.copy(value)
        made.clear()
        for part in value:
            made.append((yield part, arrays, memo))
    elif isinstance(value, dict):
        made = memo[id(value)] = copy.copy(value)
        for key, part in value.items():
            made[key] = yield part, arrays, memo
    elif isinstance(value, set):
        made = memo[id(value)] = _same_set(value)
    elif is_object(value):
        made = memo[id(value)] = empty(type(value), {})
        for name, part in fields_of(value).items():
            object.__setattr__(made, name, (yield part, arrays, memo))
    elif isinstance(value, MethodType) and id(value.__self__) in memo:
        made = MethodType(value.__func__, memo[id(value.__self__)])
    else:
        made = value
    return made


def _same_set(value: set[Any]) -> set[Any]:
    """A copy of a set that gives its items in the same order, and is as large, so that it goes on to do so."""
    for made in (type(value)(value), type(value)()):
        if not made:
            for item in value:
                made.add(item)
        if list(made) == list(value) and sys.getsizeof(made) == sys.getsizeof(value):
            return made
    raise RefusedValue(
        "E0701", "an argument that is changed is a set of which no copy has the same order; pass set(sorted(...)) of it"
    )
