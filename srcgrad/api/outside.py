"""What the two halves of a program read outside of it, as it was when the forward half ran.

Enters: two emitted functions.  Leaves: whether what the backward half reads has changed since: a name, an attribute or
an item is another one, or an array holds other numbers; or, of what the forward half reads, something that lies in what
was saved.  Of arrays of more than ``COPIED`` bytes together checksums are kept in place of copies.

>>> namespace = {"w": np.ones(2), "__srcgrad_bindings__": {}}
>>> exec("def forward(x): return x, (x, w)", namespace)
>>> exec("def backward(saved, value_bar): return value_bar * saved[1]", namespace)
>>> outside = Outside(namespace["forward"], namespace["backward"], (frozenset(), frozenset({"w"})))
>>> _, saved = namespace["forward"](1.0)
>>> outside.changed(saved)
>>> namespace["w"][0] = 2.0
>>> outside.changed(saved)
'an array'
"""

from __future__ import annotations

import functools
import zlib
from collections import deque
from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.runtime.isolation import contained, shares_memory
from srcgrad.runtime.objects import fields_of, is_object
from srcgrad.runtime.reaching import leads_nowhere, read_by

COPIED = 1 << 20  # bytes
_FIXED = (bool, int, float, complex, str, bytes, type(None), np.generic)


Names = tuple[frozenset[str], frozenset[str]]


class Outside:
    """The state of what the halves of a program read outside; ``names`` are those that the backward half reads, and
    those that either reads."""

    def __init__(self, forward: FunctionType, backward: FunctionType, names: Names) -> None:
        self._names_back, self._names = names
        copies: dict[int, Any] = {}
        self._back = _state([backward], self._names_back, copies)
        self._all = _state([forward, backward], self._names, copies)

    def changed(self, saved: Any) -> str | None:
        """What has changed that the backward half reads, or finds in ``saved``; None where nothing has."""
        for value, before in self._back:
            if not _is_as_before(value, before, self._names_back):
                return _spelled(value)
        others = [value for value, before in self._all if not _is_as_before(value, before, self._names)]
        kept = {id(part) for part in contained([saved])} if others else set()
        for value in others:
            if id(value) in kept or isinstance(value, np.ndarray) and shares_memory([saved], [value]):
                return _spelled(value)
        return None


def _state(functions: list[Any], names: frozenset[str], copies: dict[int, Any]) -> list[tuple[Any, Any]]:
    """What may change, each with what it holds; ``copies`` of arrays are shared."""
    found: list[tuple[Any, Any]] = []
    pending, seen, size = functions, set[int](), 0
    while pending:
        value = pending.pop()
        if isinstance(value, _FIXED) or id(value) in seen or leads_nowhere(value):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            size += value.nbytes
            if id(value) not in copies:
                copies[id(value)] = value.copy() if size <= COPIED else _checksum(value)
            found.append((value, copies[id(value)]))
            continue
        held = list(_held(value, names))
        found.append((value, held))
        pending += held
    return found


def _held(value: Any, names: frozenset[str]) -> Iterator[Any]:
    """What a value holds itself: of objects, classes and modules what may be read."""
    if isinstance(value, FunctionType):
        yield from read_by(value)
    elif isinstance(value, type):
        yield from (held for base in value.__mro__ for name, held in vars(base).items() if name in names)
    elif isinstance(value, ModuleType):
        yield from (held for name, held in vars(value).items() if name in names)
    elif isinstance(value, MethodType):
        yield from (value.__func__, value.__self__)
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif is_object(value):
        yield from (held for name, held in fields_of(value).items() if name in names)
    elif isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple | deque | set | frozenset):
        yield from value
    elif isinstance(value, np.ndarray):  # of objects
        yield from value.flat
    elif hasattr(value, "__dict__"):  # of a library's class
        yield from (held for name, held in vars(value).items() if name in names)


def _is_as_before(value: Any, before: Any, names: frozenset[str]) -> bool:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        if isinstance(before, tuple):
            return bool(before == _checksum(value))
        return bool(before.shape == value.shape and before.tobytes() == value.tobytes())
    now = list(_held(value, names))
    return len(now) == len(before) and all(map(_is_same, before, now))


def _checksum(array: np.ndarray) -> tuple[Any, ...]:
    return array.shape, zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data)


def _is_same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if type(before) is not type(now) or not isinstance(now, _FIXED):
        return False
    return bool(before == now) if isinstance(now, str | bytes) else repr(before) == repr(now)  # 0.0 is not -0.0


def _spelled(value: Any) -> str:
    if isinstance(value, FunctionType):
        return f"what {value.__name__} reads"
    if isinstance(value, type | ModuleType):
        return str(value.__name__)
    return "an array" if isinstance(value, np.ndarray) else f"an object of class {type(value).__name__}"
