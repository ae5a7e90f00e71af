"""Items of containers and arrays: read, stored.

Enters: operands.  Leaves: what an item may be, and the heap after it; None where it raises whatever the operands are.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import replace
from enum import EnumType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.classes import is_plain_class
from srcgrad.infer.applying import parts_of
from srcgrad.infer.classes import has_identity
from srcgrad.infer.data import besides_data
from srcgrad.infer.enumerations import member_of_name
from srcgrad.infer.examples import Result, outcomes
from srcgrad.infer.heap import Contents, Heap, Site, sites_of
from srcgrad.infer.iteration import elements
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import (
    MAPPINGS,
    Made,
    class_of,
    container,
    data,
    is_method,
    is_plain,
    looked_up,
    of_each,
    shown,
)
from srcgrad.infer.outside import INDEXED
from srcgrad.infer.values import (
    ANY,
    FUNCTIONS,
    NEVER,
    SCALARS,
    Array,
    At,
    Atom,
    Bound,
    Exact,
    Of,
    Value,
    are_arrays,
    at,
    exact,
    of,
    union,
)
from srcgrad.language.models import MODELS

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


def _is_place(index: Value) -> bool:
    """Whether a value is an integer of an index of arrays, where truth values are masks."""
    return is_index(index) and not any(class_of(atom) in (bool, np.bool_) for atom in index.atoms)


def get_item(analysis: Analysis, frame: Frame, statement: Statement, base: Value, index: Value, heap: Heap) -> Made:
    frame.may_raise(heap)
    if base.is_any:
        return ANY, analysis.unknown([base, index], heap)
    made = of_each(base, heap, lambda atom, heap: _item(analysis, frame, statement, atom, index, heap))
    return made if made is not None and made[0] else None  # it has no such item


def _item(analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, index: Value, heap: Heap) -> Made:
    """An item of one object."""
    receiver = Value(frozenset((atom,)))
    match atom:
        case Array(site=site, type_string=dtype):
            seen = _seen(frame, statement, atom, index, heap)
            if seen is not NotImplemented:
                return seen  # type: ignore[no-any-return]
            if not is_plain(analysis, heap, index):
                heap = analysis.unknown([index], heap)
            value, heap = data(frame, statement, heap, heap[site].items)
            return union(value, Value(frozenset((Array(site, dtype),)))), heap
        case At(site=Site(kind=kind) as site) if kind in (list, tuple, deque) or is_named_tuple(kind):
            contents = heap[site]
            places = [a.value for a in index.atoms if isinstance(a, Exact) and isinstance(a.value, int)]
            if contents.parts is not None and len(places) == len(index.atoms) and not index.is_any:
                inside = [p for p in places if -len(contents.parts) <= p < len(contents.parts)]
                return union(*(contents.parts[p] for p in inside)), heap
            if is_index(index):
                return contents.items, heap
            if not is_plain(analysis, heap, index):
                heap = analysis.unknown([index], heap)
            sliced: Any = tuple if is_named_tuple(kind) else kind
            bounds = None if kind is deque or contents.parts is None else _bounds(index, heap)
            part = Contents(rest=contents.items) if bounds is None else Contents(parts=(contents.parts or ())[bounds])
            slice_, heap = container(frame, statement, heap, sliced, part, kind)
            return (slice_ if is_slice(index) else union(contents.items, slice_)), heap
        case At(site=Site(kind=kind) as site) if kind in MAPPINGS:
            contents = heap[site]
            keys = [a for a in index.atoms if isinstance(a, Exact) and type(a.value) in KEYS]
            if contents.entries is not None and len(keys) == len(index.atoms) and not index.is_any:
                held = {Exact(k): v for k, v in contents.entries}
                found = union(*(held[key] for key in keys if key in held))
                if all(key in held for key in keys):
                    return found, heap
                return _or_missing(analysis, frame, statement, receiver, kind, index, found, heap)
            if contents.entries is not None and is_plain(analysis, heap, index):  # its keys are constants
                return _or_missing(analysis, frame, statement, receiver, kind, index, contents.held, heap)
            if not (is_plain(analysis, heap, index) and compares_plainly(analysis, heap, contents.keys)):
                heap = analysis.unknown([index, receiver], heap)
            return _or_missing(analysis, frame, statement, receiver, kind, index, heap[site].held, heap)
        case At(site=Site(kind=kind)) if kind is not None and is_method(looked_up(kind, "__getitem__")):
            method = exact(looked_up(kind, "__getitem__"))
            return analysis.call(frame, statement, method, (receiver, index), heap)
        case At(site=Site(kind=kind)) if kind is range and is_index(index):
            return of(int), heap
        case At(site=Site(kind=kind)) if kind is range and is_slice(index) and is_plain(analysis, heap, index):
            return container(frame, statement, heap, range, Contents())
        case At(site=Site(kind=np.flatiter) as site) if is_plain(analysis, heap, index):
            arrays = heap[site].get("of")
            if is_index(index) and are_arrays(arrays, of_numbers=True):
                return union(*(a.number for a in arrays.atoms if isinstance(a, Array) and a.number)), heap
            return data(frame, statement, heap, *(heap[s].items for s in sites_of(arrays)))
        case At(site=Site(kind=None) as site) if is_plain(analysis, heap, index):
            return union(heap[site].items, Value(frozenset((Array(site),)))), heap
        case Of(kind=kind) if issubclass(kind, np.number | np.bool_) and _is_empty(index, heap):
            return receiver, heap
        case Of() if _is_number(atom) and is_slice(index):
            return None
        case Of(kind=kind) if _is_number(atom) and (form := index_of(index, heap)) is not None:
            try:
                made = np.ones(())[form]
            except IndexError:  # numbers of NumPy have items by None, ``...``, masks and ``()`` alone
                return None
            return shown(frame, statement, heap, [Result(np.ndarray, np.dtype(kind).str, np.ndim(made))])
        case Exact(value=EnumType() as kind) if type(kind) is EnumType and is_plain(analysis, heap, index):
            return member_of_name(frame, kind, index, heap)
        case Exact(value=str()):
            return of(str), heap
        case Of(kind=kind) if kind is str:
            return of(str), heap
        case Exact() | Of() if class_of(atom) in SCALARS and not hasattr(class_of(atom), "__getitem__"):
            return None  # it has no items
        case At(site=Site(kind=kind)) if kind is slice:
            return None
        case Exact(value=np.dtype(names=None)) | Bound(function=None):
            return None
        case Exact(value=found_) if isinstance(found_, FUNCTIONS) or _is_plain_class(found_):
            return None
        case Exact(value=joining) if any(joining is each for each in INDEXED) and is_plain(analysis, heap, index):
            parts = parts_of(index, heap)
            joined: Any = joining
            known = outcomes(lambda *items: joined[items], (index,) if parts is None else parts, heap)
            return data(frame, statement, heap) if known is None else shown(frame, statement, heap, known)
    return ANY, analysis.unknown([receiver, index], heap)


def _is_plain_class(found: Any) -> bool:
    """Whether an object is a class that is not subscripted."""
    return is_plain_class(found) and not hasattr(found, "__class_getitem__")


def compares_plainly(analysis: Analysis, heap: Heap, held: Value) -> bool:
    """Whether comparing a key with the keys among these, each of which was hashed, runs no code of the user's."""
    return not held.is_any and all(
        is_plain(analysis, heap, Value(frozenset((atom,)))) or isinstance(atom, At) and (
            atom.site.kind in (list, dict, set) or has_identity(analysis, atom.site.kind)
        )
        for atom in held.atoms
    )  # fmt: skip


def _is_number(atom: Atom) -> bool:
    """Whether an atom is a number of NumPy's."""
    return isinstance(atom, Of) and issubclass(atom.kind, np.number | np.bool_)


def is_slice(index: Value) -> bool:
    """Whether a value is a slice."""
    return not index.is_any and all(isinstance(a, At) and a.site.kind is slice for a in index.atoms)


def _is_empty(index: Value, heap: Heap) -> bool:
    """Whether an index is ``()``."""
    (atom,) = index.atoms if len(index.atoms) == 1 and not index.is_any else (None,)
    return isinstance(atom, At) and atom.site.kind is tuple and heap[atom.site].parts == ()


def _or_missing(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, kind: Any, key: Value, found: Value,
    heap: Heap,
) -> Made:  # fmt: skip
    """What a mapping gives of a key that it may not hold."""
    if kind is Counter:
        return union(found, exact(0)), heap
    factories = union(*(heap[atom.site].get("default_factory") for atom in receiver.atoms if isinstance(atom, At)))
    if kind is not defaultdict or factories == exact(None):
        return found, heap
    made = analysis.call(frame, statement, exact(MODELS[defaultdict.__missing__]), (receiver, key), heap)
    return (found, heap) if made is None else (union(found, made[0]), heap.join(made[1]))


def _seen(frame: Frame, statement: Statement, array: Array, index: Value, heap: Heap) -> Any:
    """What integers, slices, None, ``...``, masks and arrays of integers select of an array, a view, a copy or a
    number, or None of more than there are axes; ``NotImplemented`` of other indices."""
    form = index_of(index, heap)
    if array.number is None or array.rank is None or form is None:
        return NotImplemented
    try:
        made = np.ones((2,) * array.rank, bool)[form]
    except IndexError:
        return NotImplemented if _copies(form) else None
    if not isinstance(made, np.ndarray):
        return array.number, heap
    if _copies(form):
        value, heap = shown(frame, statement, heap, [Result(np.ndarray, array.type_string, made.ndim)], "selected")
        return (value if made.ndim else union(value, array.number)), heap
    view = Value(frozenset((Array(array.site, array.type_string, made.ndim),)))
    return (view if made.ndim else union(view, array.number)), heap


def _copies(index: Any) -> bool:
    """Whether NumPy copies what such an index selects."""
    return any(isinstance(part, np.ndarray) for part in (index if isinstance(index, tuple) else (index,)))


def index_of(index: Value, heap: Heap) -> Any:
    """An index of the same form; None where it is not known to be one of integers, slices, None, ``...``, masks and
    arrays of integers."""
    if _is_place(index):
        return 0
    kinds = {_of_array(atom, heap) for atom in index.atoms}
    if len(kinds) == 1 and not index.is_any and (form := kinds.pop()) is not None:
        return np.ones((2,) * form[0], bool) if form[1] else np.zeros((2,) * form[0], int)
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
            if any(part is None or isinstance(part, tuple) and part != (None,) for part in parts):
                return None
            return tuple(None if isinstance(part, tuple) else part for part in parts)
    return None


def _of_array(atom: Atom, heap: Heap) -> tuple[int, bool] | None:
    """The rank of an array of places or of a mask, and whether it is a mask; None of others.  So is a list of integers
    or of such lists."""
    if isinstance(atom, At) and atom.site.kind is list:
        items = heap[atom.site].items
        if is_index(items):
            kinds = {class_of(item) in (bool, np.bool_) for item in items.atoms}
            return (1, kinds.pop()) if len(kinds) == 1 else None
        if not heap[atom.site].parts:  # an empty list has one axis
            return None
        inner = {_of_array(item, heap) if isinstance(item, At) else None for item in items.atoms}
        found = inner.pop() if len(inner) == 1 and not items.is_any else None
        return None if found is None or found[1] else (found[0] + 1, False)
    if not isinstance(atom, Array) or atom.dtype is None or atom.rank is None or atom.dtype.kind not in "biu":
        return None
    return atom.rank, atom.dtype.kind == "b"


def set_item(
    analysis: Analysis, frame: Frame, statement: Statement, base: Value, index: Value, value: Value, heap: Heap
) -> Heap | None:
    frame.may_raise(heap)
    if base.is_any:
        return analysis.unknown([base, index, value], heap)
    made = of_each(base, heap, lambda atom, heap: _put(analysis, frame, statement, atom, index, value, heap))
    return None if made is None else made[1]


def _put(
    analysis: Analysis, frame: Frame, statement: Statement, atom: Atom, index: Value, value: Value, heap: Heap
) -> Made:
    """A store into an item of one object."""
    done, receiver = exact(None), Value(frozenset((atom,)))
    match atom:
        case Exact() | Of() if class_of(atom) in SCALARS or _is_number(atom):
            return None
        case Bound(function=None) | Exact(value=np.dtype()):
            return None
        case Exact(value=found) if isinstance(found, FUNCTIONS) or is_plain_class(found):
            return None
        case At(site=Site(kind=kind)) if kind in (tuple, slice):
            return None
        case At(site=Site(kind=np.flatiter) as site):
            arrays = heap[site].get("of")
            return of_each(arrays, heap, lambda one, heap: _put(analysis, frame, statement, one, index, value, heap))
        case Array(site=site) if is_plain(analysis, heap, index, value):
            if atom.dtype is None or atom.dtype.hasobject:
                more = replace(heap[site], single=False, rest=union(heap[site].items, value))
                heap = analysis.store(heap, site, more)
            return done, heap
        case At(site=Site(kind=kind) as site) if kind in (list, deque, None, *MAPPINGS):
            keys = heap[site].keys if kind in MAPPINGS and heap[site].entries is None else NEVER
            is_compared = is_plain(analysis, heap, index) and compares_plainly(analysis, heap, keys)
            if not is_compared or kind is None and not is_plain(analysis, heap, value):
                return done, analysis.unknown([receiver, index, value], heap)
            if kind in (list, deque, None) and not is_index(index):  # a slice takes what the value holds
                held, heap = elements(analysis, frame, statement, value, heap)
                if kind is list and is_slice(index):
                    return done, analysis.store(heap, site, _spliced(heap[site], index, value, held, heap))
                value = union(value, held)
            if kind is None:
                index, value = _key(site, index, heap), besides_data(frame, value, heap)
            new = _stored(heap[site], index, value, is_key=kind not in (list, deque))
            return done, analysis.store(heap, site, replace(new, single=False) if kind is None else new)
        case At(site=Site(kind=kind)) if kind is not None and is_method(looked_up(kind, "__setitem__")):
            method = exact(looked_up(kind, "__setitem__"))
            return analysis.call(frame, statement, method, (receiver, index, value), heap)
    return done, analysis.unknown([receiver, index, value], heap)


def _key(site: Site, index: Value, heap: Heap) -> Value:
    """What of an index may be kept as a key by objects of a site of no class: slices and tuples, which nothing changes,
    as other such objects; nothing that has no hash."""
    made = [replace(index, atoms=frozenset(a for a in index.atoms if getattr(class_of(a), "__hash__", 0) is not None))]
    for atom in index.atoms:
        if isinstance(atom, At) and atom.site.kind in (slice, tuple):
            made = [replace(made[0], atoms=made[0].atoms - {atom}), *made[1:], at(site)]
            made.append(_key(site, heap[atom.site].items, heap))
    return union(*made)


def _spliced(before: Contents, index: Value, value: Value, held: Value, heap: Heap) -> Contents:
    """What a list holds after a store into a slice of it: one by one, where the slice and what is stored are known."""
    bounds = _bounds(index, heap)
    new = parts_of(value, heap)
    if before.parts is not None and before.single and bounds is not None and new is not None:
        parts = list(before.parts)
        try:
            parts[bounds] = new
        except ValueError:  # of another length than a slice with steps
            pass
        else:
            return replace(before, parts=tuple(parts))
    return replace(before, parts=None, entries=None, rest=union(before.items, held))


def _bounds(index: Value, heap: Heap) -> slice | None:
    """The slice that an index is, where it is known."""
    (atom,) = index.atoms if len(index.atoms) == 1 and not index.is_any else (None,)
    if not isinstance(atom, At) or atom.site.kind is not slice:
        return None
    parts = [next(iter(part.atoms), None) for part in heap[atom.site].parts or () if len(part.atoms) == 1]
    found = [part.value for part in parts if isinstance(part, Exact) and type(part.value) in (int, type(None))]
    return slice(*found) if len(found) == 3 and found[2] != 0 else None


def _stored(contents: Contents, index: Value, value: Value, *, is_key: bool) -> Contents:
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
    if contents.parts is not None and not is_key and is_index(index):  # one of them
        return replace(contents, parts=tuple(union(part, value) for part in contents.parts))
    keys = {atom for atom in atoms if isinstance(atom, Exact) and type(atom.value) in KEYS}
    if contents.entries is not None and len(keys) == len(atoms) and keys <= {Exact(k) for k, _ in contents.entries}:
        one_of = [(k, union(v, value) if Exact(k) in keys else v) for k, v in contents.entries]
        return replace(contents, entries=tuple(one_of))
    if is_key:
        return contents.with_sides(index, value)
    held = (value,) if is_index(index) else (value, index)
    return replace(contents, parts=None, rest=union(contents.items, *held))


def delete_item(
    analysis: Analysis, frame: Frame, statement: Statement, base: Value, index: Value, heap: Heap
) -> Made:
    """``del base[index]``."""
    frame.may_raise(heap)
    kinds = {class_of(atom) for atom in base.atoms}
    if len(kinds) == 1 and not base.is_any:
        (kind,) = kinds
        if kind is not None and is_method(looked_up(kind, "__delitem__")):
            return analysis.call(frame, statement, exact(looked_up(kind, "__delitem__")), (base, index), heap)
    held = base
    if not base.is_any and all(_asks_nothing(analysis, heap, atom) for atom in base.atoms):
        held = NEVER
    if not is_plain(analysis, heap, held, index):
        return exact(None), analysis.unknown([base, index], heap)
    for atom in base.atoms:
        if isinstance(atom, At):
            heap = analysis.store(heap, atom.site, _without(heap[atom.site], index))
    return exact(None), heap


def _asks_nothing(analysis: Analysis, heap: Heap, atom: Atom) -> bool:
    """Whether looking for an item under what runs no code of the user's runs none in a list, deque or mapping."""
    if not isinstance(atom, At) or heap.is_seen(atom.site):
        return False
    if atom.site.kind in MAPPINGS:
        return heap[atom.site].entries is not None or compares_plainly(analysis, heap, heap[atom.site].items)
    return atom.site.kind in (list, deque)


def _without(contents: Contents, index: Value) -> Contents:
    """What a list or dict holds after ``del``."""
    atom = next(iter(index.atoms)) if len(index.atoms) == 1 and not index.is_any else None
    key: Any = atom.value if isinstance(atom, Exact) else _NO_KEY
    if contents.entries is not None and contents.single and type(key) in KEYS:
        return replace(contents, entries=tuple((k, v) for k, v in contents.entries if Exact(k) != Exact(key)))
    count = -1 if contents.parts is None else len(contents.parts)
    if contents.parts is not None and contents.single and type(key) is int and -count <= key < count:
        place = range(count)[key]
        return replace(contents, parts=(*contents.parts[:place], *contents.parts[place + 1 :]))
    return contents.with_sides(NEVER, NEVER)
