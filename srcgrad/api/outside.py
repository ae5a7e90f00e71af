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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.runtime.isolation import contained, shares_memory
from srcgrad.runtime.objects import fields_of, is_object
from srcgrad.runtime.reaching import leads_nowhere, places_read, read_by

COPIED = 1 << 20  # bytes
_FIXED = (bool, int, float, complex, str, bytes, type(None), np.generic)


Names = tuple[frozenset[str], frozenset[str]]


class Outside:
    """The state of what the halves of a program read outside; ``names`` are those that the backward half reads, and
    those that either reads."""

    def __init__(self, forward: FunctionType, backward: FunctionType, names: Names) -> None:
        watched = vars(backward).get(_NAME)
        if not isinstance(watched, _Watched) or watched.forward is not forward or not watched.is_unchanged():
            watched = _Watched(forward, backward, names)
            vars(backward)[_NAME] = watched
        self._watched: _Watched = watched
        copies: dict[int, Any] = {}
        for held in (watched.back, watched.all):
            size = 0
            for value in held.arrays:
                size += value.nbytes
                if id(value) not in copies:
                    copies[id(value)] = value.copy() if size <= COPIED else _checksum(value)
        self._copies = copies

    def changed(self, saved: Any) -> str | None:
        """What has changed that the backward half reads, or finds in ``saved``; None where nothing has."""
        watched = self._watched
        if watched.is_unchanged() and all(map(self._is_as_before, watched.all.arrays)):
            return None
        for value in watched.back.values_changed(self._is_as_before):
            return _spelled(value)
        others = list(watched.all.values_changed(self._is_as_before))
        kept = {id(part) for part in contained([saved])} if others else set()
        for value in others:
            if id(value) in kept or isinstance(value, np.ndarray) and shares_memory([saved], [value]):
                return _spelled(value)
        return None

    def _is_as_before(self, array: np.ndarray) -> bool:
        before = self._copies[id(array)]
        if isinstance(before, tuple):
            return bool(before == _checksum(array))
        return bool(before.shape == array.shape and before.tobytes() == array.tobytes())


@dataclass(frozen=True)
class _Reached:
    """What functions lead to by the names that are read: what may change, each with what it holds, and arrays."""

    names: frozenset[str]
    found: list[tuple[Any, list[Any] | None]]  # None of arrays

    @cached_property
    def arrays(self) -> list[np.ndarray]:
        return [value for value, held in self.found if held is None]

    def values_changed(self, is_as_before: Callable[[np.ndarray], bool]) -> Iterator[Any]:
        for value, before in self.found:
            if before is None:
                is_same = is_as_before(value)
            else:
                now = list(_held(value, self.names))
                is_same = len(now) == len(before) and all(map(_is_same, before, now))
            if not is_same:
                yield value


class _Watched:
    """What the halves of a program lead to, kept beside the program, and whether it is so still.

    Objects are gone through once.  From then on the places at which they were found are compared, as guards are: by
    identity, each place once.  Where one is another, what it holds may be equal, so that the objects are compared.
    """

    def __init__(self, forward: FunctionType, backward: FunctionType, names: Names) -> None:
        self.forward = forward
        self.back = _Reached(names[0], _reached([backward], names[0]))
        self.all = _Reached(names[1], _reached([forward, backward], names[1]))
        self._places: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._cells: dict[int, tuple[CellType, Any]] = {}
        self._absent: dict[int, tuple[Mapping[str, Any], frozenset[str]]] = {}
        self._keywords: list[tuple[dict[str, Any], list[str]]] = []
        self._functions: list[tuple[FunctionType, list[Any]]] = []
        self._orders: list[tuple[type, tuple[type, ...]]] = []
        self._others: list[tuple[Any, list[Any]]] = []
        for value, held in self.all.found:
            if isinstance(value, FunctionType):
                self._function(value)
            elif isinstance(value, type):
                self._orders.append((value, value.__mro__))
                for base in value.__mro__:
                    self._space(vars(base), names[1], identity=id(base))
            elif isinstance(value, ModuleType):
                self._space(vars(value), names[1])
            elif held is not None:
                self._others.append((value, held))

    def _function(self, function: FunctionType) -> None:
        self._functions.append((function, _own(function)))
        if function.__kwdefaults__ is not None:
            self._keywords.append((function.__kwdefaults__, list(function.__kwdefaults__)))
            self._named(function.__kwdefaults__, function.__kwdefaults__, id(function.__kwdefaults__))
        for cell in function.__closure__ or ():
            self._cells[id(cell)] = cell, _content(cell)
        for space, names, is_whole in places_read(function):
            if is_whole:
                self._space(space, names)
            else:
                self._named(space, names, id(space))

    def _space(self, space: Mapping[str, Any], names: Collection[str], identity: int = 0) -> None:
        """A namespace in which names are looked up that may not be there, and most are not."""
        there = [name for name in names if name in space]
        place = identity or id(space)
        _, known = self._absent.get(place, (space, frozenset()))
        self._absent[place] = space, known.union(name for name in names if name not in space)
        self._named(space, there, place)

    def _named(self, space: Mapping[str, Any], names: Iterable[str], identity: int) -> None:
        self._places.update({(identity, name): (space, name, space.get(name, _ABSENT)) for name in names})

    def is_unchanged(self) -> bool:
        """Whether each object holds the very things that it held; False where it may hold equal ones."""
        try:
            return self._check()
        except (KeyError, RuntimeError):  # it is not there, or another thread puts something into what is gone through
            return False

    @cached_property
    def _check(self) -> Callable[[], bool]:
        """One expression where it is short, as guards have it, else a loop of three times the cost."""
        if len(self._places) + len(self._functions) > _SPELLED:
            return self._look
        from srcgrad.frontend.kind_tests import Spelling

        text = Spelling()
        spell = text.of
        tests = [
            f"{spell(space)}[{name!r}] is {spell(value)}" for space, name, value in self._places.values()
            if value is not _ABSENT
        ]  # fmt: skip
        absent = [(space, name) for space, name, value in self._places.values() if value is _ABSENT]
        tests += [f"{name!r} not in {spell(space)}" for space, name in absent]
        tests += [f"{spell(space)}.keys().isdisjoint({spell(names)})" for space, names in self._absent.values()]
        for function, own in self._functions:
            named = spell(function)
            tests.append(f"{named}.__code__ is {spell(own[0])} and {named}.__defaults__ is {spell(own[1])}")
            tests.append(f"{named}.__kwdefaults__ is {spell(own[2])}")
            if len(own) > 3:
                tests.append(f"{spell(_are)}({spell(_own)}({named}), {spell(own)})")
            else:  # it has no attributes but for what is kept beside it
                tests.append(f"{named}.__dict__.keys() <= {spell(frozenset(vars(function)) | {_NAME})}")
        made: Callable[[], bool] = text.function(
            f"def made():\n    return {' and '.join(['True', *tests])} and {spell(self._look_at_others)}()\n"
        )
        return made

    def _look(self) -> bool:
        return (
            all(space.get(name, _ABSENT) is value for space, name, value in self._places.values())
            and all(_are(_own(function), before) for function, before in self._functions)
            and all(space.keys().isdisjoint(absent) for space, absent in self._absent.values())
            and self._look_at_others()
        )

    def _look_at_others(self) -> bool:
        return (
            all(kind.__mro__ is order for kind, order in self._orders)
            and all(_content(cell) is value for cell, value in self._cells.values())
            and all(list(given) == keys for given, keys in self._keywords)
            and all(_are(list(_held(value, self.all.names)), before) for value, before in self._others)
        )


#: So many places are compared by one expression, which takes some 20 us a place to compile.
_SPELLED = 1000
_NAME = "__srcgrad_outside__"
_ABSENT = object()


def _are(now: list[Any], before: list[Any]) -> bool:
    return len(now) == len(before) and all(map(is_, now, before))


def _own(function: FunctionType) -> list[Any]:
    """What a function has itself, but for what is kept beside it."""
    attributes = [held for name, held in vars(function).items() if not name.startswith("__srcgrad")]
    return [function.__code__, function.__defaults__, function.__kwdefaults__, *attributes]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


def _reached(functions: list[Any], names: frozenset[str]) -> list[tuple[Any, list[Any] | None]]:
    """What may change that functions lead to, each with what it holds."""
    found: list[tuple[Any, list[Any] | None]] = []
    pending, seen = functions, set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, _FIXED) or id(value) in seen or leads_nowhere(value):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            found.append((value, None))
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
