"""What the two halves of a program read outside of it, as it was when the forward half ran.

Enters: two emitted functions.  Leaves: whether what the backward half reads has changed since: a name or attribute is
bound again, an item of a container or a field of an object is another one, or an array holds other numbers, which may
also be in what was saved.  Arrays of more than ``LARGEST`` bytes are not looked into, as a copy of them would cost more
than the pullback.

>>> namespace = {"w": np.ones(2)}
>>> exec("def forward(x): return x, (x, w)", namespace)
>>> exec("def backward(saved, value_bar): return value_bar * saved[1]", namespace)
>>> outside = Outside(namespace["forward"], namespace["backward"], {"w"})
>>> _, saved = namespace["forward"](1.0)
>>> outside.changed(saved)
>>> namespace["w"][0] = 2.0
>>> outside.changed(saved)
'w'
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.runtime.isolation import shares_memory
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object

LARGEST = 1 << 20  # bytes of an array that is compared
_MOST = 10_000  # parts of one value that are looked at
_NOTHING = object()


class Outside:
    """What the halves, and the functions of their module that they call, read outside.

    ``names`` are those of their module that are the user's: data, classes and modules.
    """

    def __init__(self, forward: FunctionType, backward: FunctionType, names: Collection[str]) -> None:
        self._namespace = backward.__globals__
        self._read_back = frozenset(_names_of(backward))
        self._read = self._read_back.union(_names_of(forward)) if names else self._read_back
        self._before = {name: list(self._parts(name)) for name in names if name in self._read}
        arrays = [part for parts in self._before.values() for part in parts if _is_compared(part)]
        self._copies = {id(array): array.copy() for array in arrays}

    def changed(self, saved: Any) -> str | None:
        """The name under which something has changed that the backward half reads, or finds in ``saved``."""
        for name, before in self._before.items():
            if name in self._read_back:
                now = list(self._parts(name))
                if len(now) != len(before) or any(a is not b or self._is_other(a) for a, b in zip(before, now)):
                    return name
            elif others := [part for part in before if self._is_other(part)]:
                if shares_memory([saved], others):
                    return name
        return None

    def _is_other(self, part: Any) -> bool:
        """Whether an array holds other numbers than before."""
        copy = self._copies.get(id(part))
        if copy is None:
            return False
        return copy.shape != part.shape or not np.array_equal(copy, part, equal_nan=copy.dtype.kind in "fc")

    def _parts(self, name: str) -> Iterator[Any]:
        """What a name leads to: of modules and classes the attributes that may be read."""
        pending, seen = deque([self._namespace.get(name, _NOTHING)]), set[int]()
        while pending and len(seen) < _MOST:
            value = pending.popleft()
            yield value
            if id(value) in seen:
                continue
            if isinstance(value, ModuleType | type):
                if str(getattr(value, "__module__", value.__name__)).partition(".")[0] in LIBRARIES:
                    continue
                own = [vars(base) for base in value.__mro__] if isinstance(value, type) else [vars(value)]
                pending += [held[name] for held in own for name in sorted(self._read & held.keys())]
            elif isinstance(value, list | tuple | deque):
                pending += value
            elif isinstance(value, dict):
                pending += value.values()
            elif is_object(value):
                pending += fields_of(value).values()
            else:
                continue
            seen.add(id(value))


def _is_compared(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind in "biufc" and part.nbytes <= LARGEST


def _names_of(function: FunctionType) -> Iterator[str]:
    """The names and attributes that a function and those of its module that it calls read."""
    namespace, seen = function.__globals__, set[CodeType]()
    pending = [function.__code__]
    while pending:
        code = pending.pop()
        if code in seen:
            continue
        seen.add(code)
        yield from code.co_names
        called = [namespace.get(name) for name in code.co_names]
        pending += [f.__code__ for f in called if isinstance(f, FunctionType) and f.__globals__ is namespace]
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
