"""Abstraction of the arguments of a call by their kinds: it holds of every call that runs the same program.

Enters: arguments, one per parameter.  Leaves: their values, and what is in them.  A program is compiled once for
arguments of the same kinds: types, dtypes, ranks, the lengths of containers, the keys of dicts, the fields of objects.
So nothing depends on what a number is, or on which arguments share memory: all arrays may overlap, and objects and
containers of one kind may be one and the same.  What lies outside otherwise, in globals and cells, may be what is
passed as well, and is known by its kind too.

>>> outside = Outside(Assigned(), print)
>>> kinds = Kinds(outside)
>>> kinds.of(2.0), kinds.of(np.zeros((2, 3)))
(float, float64[2]@ndarray)
>>> one, other = (kinds.of([value]) for value in (1.0, 2.0))
>>> one == other, outside.contents[next(iter(one.atoms)).site].parts
(True, (float,))
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcgrad.frontend.guards import HOLDING, derived_from
from srcgrad.frontend.journal import note_class
from srcgrad.infer.assigned import Assigned
from srcgrad.infer.heap import Contents, Heap, Site, joined
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.outside import Outside, contents_of_sparse, is_known_by_kind, is_of_users, parts_of_model
from srcgrad.infer.reasons import TOO_MANY, hidden, of_class
from srcgrad.infer.values import ANY, NEVER, SCALARS, Array, At, Atom, Exact, Value, at, exact, of, union, unknown
from srcgrad.runtime.exact import is_sparse, overrides
from srcgrad.runtime.objects import fields_of, is_object

#: The memory of all arrays among the arguments, which may overlap.
_MEMORY = Site(np.ndarray, "arguments", "outside")
_DEEPEST, _LONGEST = 30, 50  # objects in each other, and items that are told apart
_MOST = 20_000  # objects that are looked into: some seconds
_SINGLE = (type(None), type(Ellipsis), type(NotImplemented), type(np._NoValue))
#: Classes of objects that hold nothing of the user's, whichever object it is.
_CLOSED = (np.random.Generator, np.random.RandomState, Decimal, Fraction, range)


def described(value: Any) -> object:
    """What a program depends on of a value that it reads from outside: equal of values of one kind.

    >>> described([1.0]) == described([2.0]), described([1.0]) == described([1]), described(min) == described(max)
    (True, False, False)
    """
    if type(value) is np.ndarray:  # of which there are most
        return value.dtype.str, value.ndim
    if isinstance(value, MethodType):
        return exact(value.__func__), described(value.__self__)
    if not is_known_by_kind(value) and is_sparse(type(value)):  # its entries may be replaced by those of another dtype
        return exact(value), value.dtype.str
    return _Described().of(value)


@dataclass(frozen=True)
class Constant:
    """An argument that is the same in all calls that a program is compiled for."""

    value: object


def holds_objects(heap: Heap, value: Value) -> bool:
    """Whether a value is an object of the user's, or leads to one."""
    return any(is_of_users(atom) for atom in map(At, heap.reachable([value])[0]))


@dataclass(frozen=True)
class Inferred:
    """An argument of which another analysis says what it may be."""

    value: Value
    heap: Heap


class Kinds:
    """The values that stand for all objects of a kind.

    ``itself`` gives the value of an object whose class does not tell what it holds, and for which the program is then
    compiled; where there is none, as for arguments, the object may be any, with which nothing can be done.
    """

    def __init__(self, outside: Outside, itself: Callable[[Any], Value] | None = None) -> None:
        self._outside, self._itself = outside, itself
        self._found: dict[int, Value] = {}
        self._begun: set[int] = set()
        self._alive: list[Any] = []

    def of(self, value: Any, depth: int = 0) -> Value:
        """What an object of the same kind may be."""
        kind: Any = type(value)
        if self._outside.data is not None and _is_data(value):
            return at(self._outside.data)  # a program that is saved is not made again where it is of another kind
        if kind is Constant:
            return exact(value.value)
        note_class(kind)
        if kind is Inferred:
            return self._inferred(value.value, value.heap)
        if kind in _SINGLE or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType | ModuleType | Enum):
            return exact(value)  # a program is compiled for this very function
        if isinstance(value, type) and depth:
            note_class(value)
            return exact(value)
        if kind in SCALARS or isinstance(value, np.generic):
            return of(kind)
        is_told = self._itself is not None and self._outside.data is None
        if is_told and kind is tuple and 0 < len(value) < _LONGEST and {*map(type, value)} == {str}:
            names = Contents(single=False, parts=tuple(map(exact, value)))  # of fields, as a rule
            return self._held(value, tuple, ("names", value), names)
        known = self._found.get(id(value))
        if known is None and not depth and id(value) in self._begun:  # a method that it holds leads back to it
            return unknown(hidden(value))
        if known is None and len(self._found) > _MOST:
            self._outside.give_up(TOO_MANY)
            return ANY
        if known is None:
            self._begun.add(id(value))
            known = self._found[id(value)] = self._of_container(kind, value, depth)
            self._begun.discard(id(value))
            self._alive.append(value)
        return known

    def _inferred(self, value: Value, heap: Heap) -> Value:
        """Objects of the user's and what holds some, with their fields and items; all else is data."""
        assert self._outside.data is not None
        if not holds_objects(heap, value):
            return at(self._outside.data)
        return union(*(self._inferred_atom(atom, heap) for atom in value.atoms), ANY if value.is_any else NEVER)

    def _inferred_atom(self, atom: Atom, heap: Heap) -> Value:
        if not isinstance(atom, At) or not holds_objects(heap, Value(frozenset((atom,)))):
            return exact(None) if atom == Exact(None) else self._inferred(Value(frozenset((atom,))), heap)
        kind = atom.site.kind
        if kind is None or not is_of_users(atom) and kind not in (list, tuple, dict) or heap.is_seen(atom.site):
            return ANY
        found = Site(kind, ("argument", atom.site), "outside")
        if found not in self._outside.contents:
            note_class(kind)
            self._outside.objects[found] = found  # for the object that it stands for, of which there is none
            self._outside.contents[found] = Contents(single=False)
            inside = heap[atom.site].mapped(lambda held: self._inferred(held, heap) if held else held)
            self._outside.contents[found] = replace(inside, single=False)
        return at(found)

    def _of_container(self, kind: Any, value: Any, depth: int) -> Value:
        def inside(held: Any) -> Value:
            return self.of(held, depth + 1)

        is_open = self._outside.data is not None and self._itself is not None  # how many there are is not decided
        is_any_key = self._itself is not None  # the key of a program tells of strings and integers alone
        if depth > _DEEPEST:
            return self._lost(value)
        is_array = kind is np.ndarray or isinstance(value, np.ndarray) and overrides(kind) is None
        if is_array and value.dtype.kind in "biufcSUmM":
            self._outside.contents.setdefault(_MEMORY, Contents(single=False))
            self._outside.objects.setdefault(_MEMORY, value)
            dtype = value.dtype.str if value.dtype.isnative else ""  # copies keep the order of bytes, results do not
            array = Value(frozenset((Array(_MEMORY, dtype, value.ndim),)))
            return array if kind is np.ndarray else union(array, self._of_library(kind, value))  # of another class
        if kind in (list, tuple, deque) or is_named_tuple(kind):
            note_class(kind)
            if len(value) <= _LONGEST and not is_open:
                parts = tuple(map(inside, value))
                return self._held(value, kind, parts, Contents(single=False, parts=parts))
            return self._of_any_number(value, kind, value, inside)
        if kind in (dict, OrderedDict, Counter) and not is_open and all(type(key) in (str, int) for key in value):
            entries = tuple((key, inside(item)) for key, item in value.items())
            return self._held(value, kind, entries, Contents(single=False, entries=entries))
        if kind is defaultdict and not depth and self._itself is None and all(type(key) in (str, int) for key in value):
            # What is missing in an argument is refused when the program runs: it makes nothing.
            entries = tuple((key, inside(item)) for key, item in value.items())
            held = Contents(single=False, entries=entries, fields={"default_factory": exact(None)})
            return self._held(value, kind, entries, held)
        if kind in (dict, OrderedDict) and is_any_key:
            made = Contents().with_sides(union(*map(inside, value)), union(*map(inside, value.values())))
            return self._held(value, kind, ("any number", made.keys, made.held), replace(made, single=False))
        if kind in (set, frozenset):
            return self._of_any_number(value, kind, value, inside)
        if is_known_by_kind(value) and is_object(value) and not self._outside.is_open(kind):
            note_class(kind)
            fields = {name: inside(held) for name, held in fields_of(value).items()}
            held = Contents(single=False, fields=fields, order=tuple(fields))
            return self._held(value, kind, tuple(fields.items()), held)
        if is_sparse(kind) and (matrix := contents_of_sparse(value)) is not None:
            return self._held(value, kind, ("sparse", value.dtype.str), matrix)
        is_slice = kind is slice and {*map(type, (value.start, value.stop, value.step))} <= {int, type(None)}
        is_dtype = isinstance(value, np.dtype) or kind is type and value in (bool, int, float, complex, object)
        if kind is np.flatiter:
            return union(self._of_library(kind, value), inside(value.base))
        if kind in _CLOSED or is_slice or is_dtype or isinstance(value, type) and issubclass(value, np.generic):
            return self._of_library(np.dtype if is_dtype or kind is type else kind, value)
        return self._lost(value)

    def _of_library(self, kind: Any, value: Any) -> Value:
        """Any object of a class that holds nothing but its like."""
        site = Site(None, ("argument", kind), "outside")
        self._outside.objects.setdefault(site, value)
        self._outside.contents[site] = Contents(single=False, rest=at(site), others=at(site))
        return at(site)

    def _of_any_number(self, value: Any, kind: Any, items: Iterable[Any], inside: Callable[[Any], Value]) -> Value:
        rest = union(*map(inside, items))
        return self._held(value, kind, ("any number", rest), Contents(single=False, rest=rest))

    def _held(self, value: Any, kind: Any, origin: object, contents: Contents) -> Value:
        site = Site(kind, ("argument", origin), "outside")
        self._outside.objects.setdefault(site, value)
        before = self._outside.contents.get(site)
        self._outside.contents[site] = contents if before is None else joined(before, contents)
        return at(site)

    def _lost(self, value: Any) -> Value:
        if self._itself is not None:
            return self._itself(value)
        return unknown(of_class(value) or hidden(value))


class _Described(Kinds):
    """Of an object whose class does not tell what it holds, itself, and the kinds of what is looked into."""

    def __init__(self) -> None:
        super().__init__(Outside(Assigned(), list[Any].clear), exact)
        self._entered: set[int] = set()

    def _lost(self, value: Any) -> Value:
        kind: Any = type(value)
        parts = [(name, getattr(value, name)) for name in HOLDING.get(kind, ())]
        parts += (value if kind is defaultdict else parts_of_model(value) or {}).items()
        parts += [("derived", derived_from(value))]
        if id(value) in self._entered or all(part is None for _, part in parts):
            return exact(value)
        self._entered.add(id(value))
        held = tuple((name, self.of(part, 1)) for name, part in parts)
        self._entered.discard(id(value))
        return union(exact(value), at(Site(kind, ("held", held), "outside")))


def _is_data(value: Any, depth: int = 0) -> bool:
    """Whether an object is a number, an array of numbers, or a list or dict of such."""
    kind = type(value)
    if kind is np.ndarray:
        return bool(value.dtype.kind in "iufc")
    if kind in (list, tuple, dict) and value and depth < 4:
        items = value.values() if isinstance(value, dict) else value
        if isinstance(value, dict) and any(type(key) not in (str, int) for key in value):
            return False
        return len(value) <= _LONGEST and all(_is_data(item, depth + 1) for item in items)
    return kind in (int, float, complex) or issubclass(kind, np.number)
