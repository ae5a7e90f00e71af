"""Items of containers and arrays: read, stored.

Enters: operands.  Leaves: what an item may be, and the heap after it; None where it raises whatever the operands are.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.iteration import elements
from srcgrad.infer.objects import Made, container, data, is_method, is_plain, joined_with, looked_up
from srcgrad.infer.values import ANY, Array, At, Exact, Of, Value, exact, of, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement

KEYS = (str, int)  # of dicts whose entries are known one by one; others may be equal to one of another class
_NO_KEY = object()


def is_index(value: Value) -> bool:
    """Whether a value is an integer."""
    return not value.is_any and all(
        isinstance(a, Of) and issubclass(a.kind, int | np.integer) or isinstance(a, Exact) and isinstance(a.value, int)
        for a in value.atoms
    )


def get_item(analysis: Analysis, frame: Frame, statement: Statement, base: Value, index: Value, heap: Heap) -> Made:
    frame.may_raise(heap)
    if base.is_any:
        return ANY, analysis.unknown([base, index], heap)
    found: list[Value] = []
    for atom in base.atoms:
        receiver = Value(frozenset((atom,)))
        match atom:
            case Array(site=site, type_string=dtype):
                seen = _seen(atom, index, heap)
                if seen is not None:
                    found.append(seen)
                    continue
                if not is_plain(analysis, heap, index):
                    heap = analysis.unknown([index], heap)
                value, heap = data(frame, statement, heap, heap[site].items)
                found += [value, Value(frozenset((Array(site, dtype),)))]
            case At(site=Site(kind=kind) as site) if kind in (list, tuple, deque):
                contents, made = heap[site], None
                places = [a.value for a in index.atoms if isinstance(a, Exact) and isinstance(a.value, int)]
                if contents.parts is not None and len(places) == len(index.atoms) and not index.is_any:
                    inside = [p for p in places if -len(contents.parts) <= p < len(contents.parts)]
                    made = union(*(contents.parts[p] for p in inside))
                elif is_index(index):
                    made = contents.items
                if made is not None:
                    found.append(made)
                    continue
                is_slice = not index.is_any and all(isinstance(a, At) and a.site.kind is slice for a in index.atoms)
                if not is_plain(analysis, heap, index):
                    heap = analysis.unknown([index], heap)
                slice_, heap = container(frame, statement, heap, kind, Contents(rest=contents.items), kind)
                found += [slice_] if is_slice else [contents.items, slice_]
            case At(site=Site(kind=kind) as site) if kind in (dict, OrderedDict):
                contents = heap[site]
                keys = [a for a in index.atoms if isinstance(a, Exact) and type(a.value) in KEYS]
                if contents.entries is not None and len(keys) == len(index.atoms) and not index.is_any:
                    found.append(union(*(v for k, v in contents.entries if Exact(k) in keys)))
                    continue
                if not is_plain(analysis, heap, index, contents.items):
                    heap = analysis.unknown([index, receiver], heap)
                found.append(heap[site].items)
            case At(site=Site(kind=kind)) if kind is not None and is_method(looked_up(kind, "__getitem__")):
                made_ = analysis.call(frame, statement, exact(looked_up(kind, "__getitem__")), (receiver, index), heap)
                if made_ is not None:
                    found.append(made_[0])
                    heap = made_[1]
            case At(site=Site(kind=None) as site) if is_plain(analysis, heap, index):
                found += [heap[site].items, Value(frozenset((Array(site),)))]
            case Exact(value=str()):
                found.append(of(str))
            case Of(kind=kind) if kind is str:
                found.append(of(str))
            case _:
                heap = analysis.unknown([receiver, index], heap)
                found.append(ANY)
    return (union(*found), heap) if found else None


def _seen(array: Array, index: Value, heap: Heap) -> Value | None:
    """What integers, slices, None and ``...`` select of an array, a view or a number; None of other indices."""
    if array.number is None or array.rank is None:
        return None
    shown = index_of(index, heap)
    try:
        made = None if shown is None else np.ones((2,) * array.rank, bool)[shown]
    except IndexError:
        return None
    if made is None:
        return None
    if not isinstance(made, np.ndarray):
        return array.number
    view = Value(frozenset((Array(array.site, array.type_string, made.ndim),)))
    return view if made.ndim else union(view, array.number)


def index_of(index: Value, heap: Heap) -> Any:
    """An index of the same form; None where it is not known to be one of integers, slices, None and ``...``."""
    if is_index(index) and not any(isinstance(a, Exact) and isinstance(a.value, bool) for a in index.atoms):
        return 0
    if len(index.atoms) != 1 or index.is_any:
        return None
    match next(iter(index.atoms)):
        case Exact(value=None):
            return (np.newaxis,)
        case Exact(value=found) if found is ...:
            return ...
        case At(site=Site(kind=kind)) if kind is slice:
            return slice(None)
        case At(site=Site(kind=kind) as site) if kind is tuple and heap[site].parts is not None:
            parts = [index_of(part, heap) for part in heap[site].parts or ()]
            if None in parts or any(isinstance(part, tuple) and part != (None,) for part in parts):
                return None
            return tuple(None if isinstance(part, tuple) else part for part in parts)
    return None


def set_item(
    analysis: Analysis, frame: Frame, statement: Statement, base: Value, index: Value, value: Value, heap: Heap
) -> Heap | None:
    frame.may_raise(heap)
    if base.is_any:
        return analysis.unknown([base, index, value], heap)
    for atom in base.atoms:
        receiver = Value(frozenset((atom,)))
        match atom:
            case Array(site=site):
                if not is_plain(analysis, heap, index, value):
                    heap = analysis.unknown([receiver, index, value], heap)
                elif atom.dtype is None or atom.dtype.hasobject:
                    more = replace(heap[site], single=False, rest=union(heap[site].items, value))
                    heap = analysis.store(heap, site, more)
            case At(site=Site(kind=kind) as site) if kind in (list, dict, deque, OrderedDict) or kind is None:
                if not is_plain(analysis, heap, index) or kind is None and not is_plain(analysis, heap, value):
                    heap = analysis.unknown([receiver, index, value], heap)
                    continue
                contents = heap[site]
                if kind in (list, deque, None) and not is_index(index):  # a slice takes what the value holds
                    held, heap = elements(analysis, frame, statement, value, heap)
                    value = union(value, held)
                new = _stored(contents, index, value)
                if len(base.atoms) > 1 or kind is None:
                    new = joined_with(contents, replace(new, single=False))
                heap = analysis.store(heap, site, new)
            case At(site=Site(kind=kind)) if kind is not None and is_method(looked_up(kind, "__setitem__")):
                method = exact(looked_up(kind, "__setitem__"))
                made = analysis.call(frame, statement, method, (receiver, index, value), heap)
                if made is None:
                    return None
                heap = made[1]
            case _:
                heap = analysis.unknown([receiver, index, value], heap)
    return heap


def _stored(contents: Contents, index: Value, value: Value) -> Contents:
    """What a list or dict holds after a store."""
    atoms = list(index.atoms)
    key = atoms[0].value if len(atoms) == 1 and isinstance(atoms[0], Exact) else _NO_KEY
    if contents.parts is not None and isinstance(key, int) and -len(contents.parts) <= key < len(contents.parts):
        parts = list(contents.parts)
        parts[key] = value
        return replace(contents, parts=tuple(parts))
    if contents.entries is not None and type(key) in KEYS:
        entries = dict.fromkeys(Exact(k) for k, _ in contents.entries)
        made = {Exact(k): v for k, v in contents.entries} | {Exact(key): value}
        order = [*entries, *(k for k in made if k not in entries)]
        return replace(contents, entries=tuple((k.value, made[k]) for k in order))
    is_item = is_index(index) and contents.entries is None
    held = (value,) if is_item else (value, index)
    return replace(contents, parts=None, entries=None, rest=union(contents.items, *held))
