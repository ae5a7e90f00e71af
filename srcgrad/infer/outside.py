"""Abstraction of what is there before the program runs: arguments, globals, captured cells, attributes of modules.

Enters: an object.  Leaves: its ``Value``, and what the sites of it hold.  An array is a site for its memory, so that
views of one base share it; containers and objects of the user's are looked into, to a depth; the rest is data.

>>> outside, x = Outside(), np.zeros((2, 3))
>>> outside.value(2.0), outside.value(x), outside.value([x[0]])
(2.0, float64[2]@ndarray, list)
>>> next(iter(outside.value([x[0]]).atoms)).site in outside.contents
True
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.infer.examples import is_named
from srcgrad.infer.heap import Contents, Site
from srcgrad.infer.values import ANY, SCALARS, Array, At, Bound, Of, Value, exact, union
from srcgrad.runtime.objects import LIBRARIES, fields_of, is_object

#: Containers whose items are looked at one by one.
SEQUENCES = (list, tuple, deque)
_LONGEST, _DEEPEST = 50, 6


def is_of_library(value: object) -> bool:
    """Whether Python or a library defines a function, class or module, or the class of an object."""
    if isinstance(value, ModuleType):
        home: Any = value.__name__
    elif isinstance(value, FunctionType | BuiltinFunctionType | type):
        home = value.__module__
    else:
        home = type(value).__module__
    return isinstance(home, str) and home.partition(".")[0] in LIBRARIES or home is None


def runs_no_code(value: object) -> bool:
    """Whether an object, and what it holds, is data: nothing of the user's runs when its methods are called."""
    return all(is_of_library(part) and not isinstance(part, FunctionType | type) for part in _parts(value))


def _parts(value: object) -> Iterator[object]:
    pending, seen = [value], set[int]()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            pending += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | deque | set | frozenset):
            pending += part
        elif isinstance(part, np.ndarray) and part.dtype.hasobject:
            pending += part.ravel().tolist()


class Outside:
    """The sites of objects from outside, and what they hold."""

    def __init__(self) -> None:
        self.contents: dict[Site, Contents] = {}
        self._values: dict[int, Value] = {}
        self._alive: list[object] = []  # so that no other object gets the identity of one of them

    def value(self, found: Any, depth: int = 0) -> Value:
        """The abstraction of an object, which is the same each time."""
        kind = type(found)
        if kind in SCALARS or isinstance(found, FunctionType | BuiltinFunctionType | ModuleType | type | np.ufunc):
            return exact(found)
        if isinstance(found, np.generic):
            return Value(frozenset((Of(kind),)))
        if id(found) in self._values:
            return self._values[id(found)]
        self._alive.append(found)
        if kind is np.ndarray and found.dtype.kind in "biufcSUmM" and is_named(found.dtype):
            site = self._site(np.ndarray, _base(found))
            return self._noted(found, Value(frozenset((Array(site, found.dtype.str, found.ndim),))), Contents())
        if isinstance(found, MethodType) and isinstance(found.__func__, FunctionType):
            return Value(frozenset((Bound(self.value(found.__self__, depth + 1), found.__name__, found.__func__),)))
        if callable(found) and is_of_library(found) and not hasattr(kind, "__getitem__"):
            return self._noted(found, exact(found), None)
        return self._container(found, depth)

    def _container(self, found: Any, depth: int) -> Value:
        kind = type(found)
        site = self._site(kind, found)
        value = Value(frozenset((At(site),)))
        if kind in (*SEQUENCES, dict, set, frozenset) and len(found) <= _LONGEST and depth < _DEEPEST:
            self._noted(found, value, Contents())
            if kind is dict:
                keys = all(type(key) in (str, int) for key in found)
                items = [(key, self.value(item, depth + 1)) for key, item in found.items()]
                if keys:
                    made = Contents(entries=tuple(items))
                else:
                    made = Contents(rest=union(*(self.value(k, depth + 1) for k in found), *(v for _, v in items)))
            else:
                parts = tuple(self.value(item, depth + 1) for item in found)
                made = Contents(parts=parts) if kind in SEQUENCES else Contents(rest=union(*parts))
            self.contents[site] = made
            return value
        if is_object(found) and not is_of_library(found) and depth < _DEEPEST:
            self._noted(found, value, Contents())
            fields = {name: self.value(item, depth + 1) for name, item in fields_of(found).items()}
            self.contents[site] = Contents(fields=fields)
            return value
        if runs_no_code(found):
            site = self._site(None, found)
            value = Value(frozenset((At(site),)))
            return self._noted(found, value, Contents(single=False, rest=value, others=value))
        return self._noted(found, ANY, None)

    def cell(self, cell: CellType) -> Site:
        """The site of a cell that a function from outside captures."""
        site = self._site(CellType, cell)
        if site not in self.contents:
            self._alive.append(cell)
            try:
                held = self.value(cell.cell_contents)
            except ValueError:
                held = Value(frozenset())
            self.contents[site] = Contents(fields={"cell": held})
        return site

    def _site(self, kind: type | None, found: object) -> Site:
        return Site(kind, id(found), "outside")

    def _noted(self, found: object, value: Value, contents: Contents | None) -> Value:
        self._values[id(found)] = value
        if contents is not None:
            for atom in value.atoms:
                if isinstance(atom, At | Array):
                    self.contents.setdefault(atom.site, contents)
        return value


def _base(array: np.ndarray[Any, Any]) -> object:
    """What owns the memory of an array."""
    found: Any = array
    while isinstance(found, np.ndarray) and found.base is not None:
        found = found.base
    return found

