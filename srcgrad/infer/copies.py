"""Copies of objects: ``copy.copy``, ``copy.deepcopy``, ``dataclasses.replace``, ``asdict`` and ``astuple``.

Enters: the function and its arguments.  Leaves: what it returns, and the heap after it; ``NotImplemented`` where a
method of the user's may take part, or not enough is known::

    other = copy.copy(layer)               other: Layer, another site that holds the same array
    own = copy.copy(gauge)                 own: what Gauge.__copy__(gauge) returns
    whole = copy.deepcopy([layer])         whole: list, which holds a Layer of its own, with an array of its own
    wide = replace(layer, scale=2.0)       wide: Layer, as calling its class gives it
    held = asdict(layer)                   held: dict, with an entry for each field
"""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter, OrderedDict, deque
from copyreg import dispatch_table
from dataclasses import replace
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.classes import captured_by, is_plain_class
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import (
    MAPPINGS,
    Made,
    class_of,
    container,
    get_attribute,
    is_method,
    looked_up,
    of_each,
)
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import NEVER, SCALARS, Array, At, Atom, Bound, Exact, Of, Value, at, exact, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

#: Containers of which a copy is one of the same class with the same items.
_COPIED = (list, dict, set, deque, OrderedDict, Counter)
#: Methods by which a class decides itself how it is copied.
_COPYING = (
    "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__",
    "__getnewargs_ex__",
)  # fmt: skip
_DEEPEST = 6  # dataclasses in each other


class Unknown(Exception):
    """Not enough is known of what is copied."""


def copied(analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap) -> Any:
    """What a call of one of these functions does."""
    one = _FUNCTIONS.get(function)
    if one is None or len(given.positional) != 1 or given.more is not None or given.positional[0].is_any:
        return NotImplemented
    if given.keywords and function is not dataclasses.replace:
        return NotImplemented
    try:
        return one(analysis, frame, statement, given, heap)
    except Unknown:
        return NotImplemented


def is_copied_by_fields(analysis: Analysis, kind: Any) -> bool:
    """Whether a copy of an object of a class of the user's is an object with the same fields, made by no method."""
    if not is_plain_class(kind) or is_of_library(kind) or analysis.assigned.is_open(kind):
        return False
    made = looked_up(kind, "__new__") is object.__new__
    has_slots = any("__slots__" in vars(base) for base in kind.__mro__)
    stores = looked_up(kind, "__setattr__") is object.__setattr__ or not has_slots
    reads = looked_up(kind, "__getattribute__") is object.__getattribute__ and not hasattr(kind, "__getattr__")
    return _is_copied_as_usual(kind) and made and stores and reads


def _is_copied_as_usual(kind: Any, *others: str) -> bool:
    """Whether a class has no method of its own by which its objects are copied, but for others that are known."""
    names = [name for name in _COPYING if name not in others]
    return kind not in dispatch_table and all(looked_up(kind, name) is looked_up(object, name) for name in names)


def _is_copied_by_items(analysis: Analysis, kind: Any) -> bool:
    """Whether a copy of a named tuple is one of its items, or of copies of them."""
    return is_named_tuple(kind) and not analysis.assigned.is_open(kind) and _is_copied_as_usual(kind, "__getnewargs__")


def _is_itself(atom: Atom) -> bool:
    """Whether a copy of an object is the object."""
    return isinstance(atom, Exact | Of) and class_of(atom) in (*SCALARS, FunctionType, type)


# --- copy ------------------------------------------------------------------------------------------------------------
def _copy(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    return of_each(given.positional[0], heap, lambda atom, heap: _copy_of(analysis, frame, statement, atom, heap))


def _copy_of(analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, heap: Heap) -> Made:
    one = Value(frozenset((atom,)))
    if _is_itself(atom) or isinstance(atom, At) and atom.site.kind in (tuple, frozenset):
        return one, heap
    if not isinstance(atom, At):
        raise Unknown
    if _copies_itself(analysis, atom.site.kind):
        return analysis.call(frame, statement, exact(looked_up(_kind(atom.site), "__copy__")), (one,), heap)
    if heap.is_seen(atom.site):
        raise Unknown
    kind = atom.site.kind
    if kind not in _COPIED and not (is_copied_by_fields(analysis, kind) or _is_copied_by_items(analysis, kind)):
        raise Unknown
    if atom.site.kind in (OrderedDict, Counter) and not _are_plain_keys(heap[atom.site]):
        raise Unknown  # which are made again, item by item
    return container(frame, statement, heap, _kind(atom.site), replace(heap[atom.site], single=True), atom.site)


def _copies_itself(analysis: Analysis, kind: Any) -> bool:
    """Whether a class of the user's has a method that copies its objects, which Python looks up in the class."""
    is_users = is_plain_class(kind) and not is_of_library(kind) and not analysis.assigned.is_open(kind)
    return is_users and is_method(looked_up(kind, "__copy__")) and kind not in dispatch_table


def _kind(site: Site) -> type:
    assert site.kind is not None
    return site.kind


class _Deep:
    """One ``deepcopy``: what is made for each site, once."""

    def __init__(self, analysis: Analysis, frame: Frame, statement: Statement, heap: Heap) -> None:
        self.analysis, self.frame, self.statement, self.before = analysis, frame, statement, heap
        self.heap = heap
        self.made: dict[Site, Value] = {}

    def value(self, value: Value) -> Value:
        if value.is_any:
            raise Unknown
        return union(NEVER, *map(self._atom, value.atoms))

    def _atom(self, atom: Atom) -> Value:
        if _is_itself(atom) or isinstance(atom, Of) or isinstance(atom, At) and atom.site.kind is FunctionType:
            return Value(frozenset((atom,)))
        if isinstance(atom, Array | At) and atom.site == self.frame.facts.data and not self.before.is_seen(atom.site):
            return Value(frozenset((atom,)))  # which stands for its copy, too
        if isinstance(atom, Bound):  # of a copy of its object; of a built-in class it is its own copy
            receiver = atom.receiver if atom.function is None else self.value(atom.receiver)
            return Value(frozenset((replace(atom, receiver=receiver),)))
        if isinstance(atom, Array) and atom.dtype is not None and atom.dtype.kind in "biufc":
            site = self._array(atom.site)
            return Value(frozenset((replace(atom, site=site),)))
        if not isinstance(atom, At) or self.before.is_seen(atom.site):
            raise Unknown
        return self.made[atom.site] if atom.site in self.made else self._object(atom.site)

    def _array(self, site: Site) -> Site:
        made = self.frame.site(np.ndarray, self.statement, ("deep", site))
        if site not in self.made:
            self.made[site] = at(made)
            self.heap = self.heap.allocated(made, Contents())
        return made

    def _object(self, site: Site) -> Value:
        kind: Any = site.kind
        own = self.before[site].fields  # deepcopy asks the object for its methods, and not the class
        if any(name in own for name in _COPYING) or captured_by(kind):  # Python copies no variables of functions
            raise Unknown
        is_own = is_copied_by_fields(self.analysis, kind) or _is_copied_by_items(self.analysis, kind)
        if kind not in (*_COPIED, tuple, frozenset) and not is_own:
            raise Unknown
        made = self.frame.site(kind, self.statement, ("deep", site))
        contents = self.before[site]
        if kind in (dict, OrderedDict, Counter, set, frozenset) and not _are_plain_keys(contents):
            raise Unknown
        unchanged = (*SCALARS, FunctionType, type, tuple, frozenset)
        may_stay = kind in (tuple, frozenset) and all(
            isinstance(atom, Of) or class_of(atom) in unchanged for atom in contents.items.atoms
        )
        self.made[site] = at(made, site) if may_stay else at(made)
        copy_ = Contents(
            contents.single,
            None if contents.parts is None else tuple(map(self.value, contents.parts)),
            None if contents.entries is None else tuple((k, self.value(v)) for k, v in contents.entries),
            self.value(contents.rest),
            {name: self.value(held) for name, held in contents.fields.items()},
            self.value(contents.others),
            None if contents.apart is None else (self.value(contents.apart[0]), self.value(contents.apart[1])),
        )
        self.heap = self.heap.allocated(made, copy_)
        return self.made[site]


def _are_plain_keys(contents: Contents) -> bool:
    """Whether no method of the user's hashes what a mapping or set holds as a key."""
    return all(isinstance(a, Array) or (class_of(a) or object) in (*SCALARS, *_COPIED) for a in contents.rest.atoms)


def _deepcopy(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    deep = _Deep(analysis, frame, statement, heap)
    return deep.value(given.positional[0]), deep.heap


# --- dataclasses -----------------------------------------------------------------------------------------------------
def _fields(analysis: Analysis, atom: Atom) -> tuple[dataclasses.Field[Any], ...]:
    """The fields of an object of a dataclass of the user's, of which reading one runs no code."""
    kind: Any = class_of(atom)
    if not isinstance(atom, At) or kind is None or is_of_library(kind) or "__dataclass_fields__" not in dir(kind):
        raise Unknown
    if analysis.assigned.is_open(kind) or not is_plain_class(kind) or hasattr(kind, "__getattr__"):
        raise Unknown
    if looked_up(kind, "__getattribute__") is not object.__getattribute__:
        raise Unknown
    fields = dataclasses.fields(kind)
    for held in (looked_up(kind, field.name) for field in fields):
        if hasattr(type(held), "__get__") and not isinstance(held, MemberDescriptorType | FunctionType):
            raise Unknown
    return fields


def _replace(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap) -> Any:
    return of_each(
        given.positional[0], heap, lambda atom, heap: _replaced(analysis, frame, statement, atom, given, heap)
    )


def _replaced(
    analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, given: Given, heap: Heap
) -> Made:
    fields, kind = _fields(analysis, atom), class_of(atom)
    named = dict(given.keywords)
    if any(not field.init for field in fields) or len(vars(kind)["__dataclass_fields__"]) != len(fields):
        raise Unknown  # some are refused, or are no fields
    for field in fields:
        if field.name not in named:
            read = get_attribute(analysis, frame, statement, Value(frozenset((atom,))), field.name, heap)
            if read is None:
                return None
            named[field.name], heap = read
    if isinstance(atom, At):
        named |= {name: heap[atom.site].get(name) for name in captured_by(kind)}
    return analysis.call(frame, statement, exact(kind), (), heap, tuple(named.items()))


class _Taken:
    """One ``asdict`` or ``astuple``."""

    def __init__(self, analysis: Analysis, frame: Frame, statement: Statement, heap: Heap, *, named: bool) -> None:
        self.frame, self.statement, self.named, self.analysis = frame, statement, named, analysis
        self.deep = _Deep(analysis, frame, statement, heap)

    def of(self, value: Value, depth: int) -> Value:
        if value.is_any or depth > _DEEPEST:
            raise Unknown
        return union(NEVER, *(self._atom(atom, depth) for atom in value.atoms))

    def _atom(self, atom: Atom, depth: int) -> Value:
        kind: Any = class_of(atom)
        contents = self.deep.before[atom.site] if isinstance(atom, At) else None
        if isinstance(atom, At) and contents is not None and kind in (list, tuple):
            held = None if contents.parts is None else tuple(self.of(part, depth + 1) for part in contents.parts)
            return self._made(kind, Contents(parts=held, rest=self.of(contents.rest, depth + 1)), atom)
        if isinstance(atom, At) and kind is dict and contents is not None:
            if contents.entries is None:
                raise Unknown
            entries = tuple((key, self.of(part, depth + 1)) for key, part in contents.entries)
            return self._made(dict, Contents(entries=entries), atom)
        if kind in MAPPINGS:
            raise Unknown  # made of pairs by their classes
        if kind is None or not dataclasses.is_dataclass(kind):
            return self.deep.value(Value(frozenset((atom,))))
        return self.object(atom, depth)

    def object(self, atom: Atom, depth: int) -> Value:
        names = [field.name for field in _fields(self.analysis, atom)]
        read = [
            get_attribute(
                self.analysis, self.frame, self.statement, Value(frozenset((atom,))), name, self.deep.before
            ) for name in names
        ]  # fmt: skip
        values = [self.of(made[0], depth + 1) for made in read if made is not None]
        if len(values) < len(names):
            raise Unknown
        if not self.named:
            return self._made(tuple, Contents(parts=tuple(values)), atom)
        return self._made(dict, Contents(entries=tuple(zip(names, values, strict=True))), atom)

    def _made(self, kind: type, contents: Contents, atom: Atom) -> Value:
        heap, part = self.deep.heap, ("taken", atom)
        made, self.deep.heap = container(self.frame, self.statement, heap, kind, contents, part)
        return made


def _as(analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap, *, named: bool) -> Any:
    taken = _Taken(analysis, frame, statement, heap, named=named)
    found = [taken.object(atom, 0) for atom in given.positional[0].atoms]
    return union(*found), taken.deep.heap


_FUNCTIONS: dict[Any, Any] = {
    copy.copy: _copy,
    copy.deepcopy: _deepcopy,
    dataclasses.replace: _replace,
    dataclasses.asdict: lambda *given: _as(*given, named=True),
    dataclasses.astuple: lambda *given: _as(*given, named=False),
}
