"""Iteration over abstract values.

Enters: what is iterated.  Leaves: its iterator, or what one item may be, and the heap after it.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import replace
from enum import EnumType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.journal import note_class
from srcgrad.infer.generators import resumed
from srcgrad.infer.heap import Contents, Heap, Site, sites_of
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.object_sets import note_operands
from srcgrad.infer.objects import (
    CONTAINERS,
    MAPPINGS,
    Made,
    class_of,
    container,
    data,
    is_method,
    iterates_itself,
    iterating,
    looked_up,
    reversing,
)
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import (
    ANY,
    FUNCTIONS,
    NEVER,
    SCALARS,
    Array,
    At,
    Bound,
    Exact,
    Of,
    Value,
    exact,
    of,
    union,
)
from srcgrad.ir.operations import Iterate
from srcgrad.language.models import CLASSES
from srcgrad.language.models.iterators import indexed
from srcgrad.language.models.ranks import MOMENTS

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement


def elements(analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap) -> tuple[Value, Heap]:
    """One of the items that iterating gives; NEVER of what has none, or cannot be iterated."""
    frame.may_raise(heap)
    if value.is_any:
        return ANY, analysis.unknown([value], heap)
    found: list[Value] = [NEVER]
    for atom in value.atoms:
        match atom:
            case Array(site=site, type_string=dtype, rank=rank):
                if atom.number is not None and rank:
                    view = Value(frozenset((Array(site, dtype, rank - 1),)))
                    found.append(atom.number if rank == 1 else view)
                    continue
                made, heap = data(frame, statement, heap, heap[site].items, part="item")
                found += [made, Value(frozenset((Array(site, dtype),)))]
            case At(site=site) if site in analysis.generators:
                made, _, heap = resumed(analysis, frame, site, heap)
                found.append(made)
            case At(site=Site(kind=kind) as site) if kind in CONTAINERS or is_named_tuple(kind):
                contents = heap[site]
                note_operands(analysis, statement, (value,), heap)
                found.append(contents.keys if kind in MAPPINGS else contents.items)
            case Exact(value=kind) if type(kind) is EnumType:
                note_class(kind)
                found.append(union(*map(exact, kind)))
            case At(site=Site(kind=kind) as site) if kind in ITERATORS:
                made, heap = _of_iterator(analysis, frame, statement, site, heap[site], heap)
                found.append(made)
            case At(site=Site(kind=np.flatiter) as site):
                arrays = heap[site].get("of")
                made, heap = data(frame, statement, heap, *(heap[one].items for one in sites_of(arrays)), part="item")
                numbers = [a.number if isinstance(a, Array) else None for a in arrays.atoms]
                found.append(made if None in numbers else union(*(number for number in numbers if number is not None)))
            case At(site=Site(kind=kind)) if kind is not None and iterates_itself(analysis, kind):
                begun = iterate(analysis, frame, statement, Value(frozenset((atom,))), heap)
                if begun is not None:
                    made, heap = elements(analysis, frame, statement, *begun)
                    found.append(made)
            case At(site=Site(kind=None) as site):
                found += [heap[site].items, Value(frozenset((Array(site),)))]
            case At(site=Site(kind=kind)) if kind is range:
                found.append(of(int))
            case Exact(value=str()) | Of() if isinstance(atom, Exact) or atom.kind is str:
                found.append(of(str))
            case Exact(value=bytes()) | Of() if isinstance(atom, Exact) or atom.kind is bytes:
                found.append(of(int))
            case Exact(value=found_) if type(found_) in (*SCALARS, type) or isinstance(found_, (np.dtype, *FUNCTIONS)):
                pass
            case At(site=Site(kind=kind)) if kind is slice:
                pass
            case Of(kind=kind) if kind in SCALARS or issubclass(kind, np.number | np.bool_):
                pass
            case Bound(function=None):
                pass
            case _:
                found.append(ANY)
                heap = analysis.unknown([Value(frozenset((atom,)))], heap)
    return union(*found), heap


#: Iterables of the class on the left give an iterator of the class on the right.
_SOURCES: tuple[Any, ...] = (*(kind() for kind in CONTAINERS), range(0), "", b"")
_VALUES, _ITEMS, _KEYS = (
    tuple(getattr(kind(), name)() for kind in (dict, OrderedDict)) for name in ("values", "items", "keys")
)
_VIEWS: tuple[Any, ...] = (*_ITEMS, *_VALUES, *_KEYS)
_OF_KIND: dict[Any, type] = {type(source): type(iter(source)) for source in (*_SOURCES, *_VIEWS, np.zeros(1))}
#: Iterators and views whose sources are known.
VIEWS = tuple(map(type, _VIEWS))
_BACKWARDS: dict[Any, type] = {
    type(source): type(reversed(source))
    for source in ([], (), {}, deque(), OrderedDict(), defaultdict(), Counter(), range(0), *_VIEWS)
}
ITERATORS = (*_OF_KIND.values(), *VIEWS, *_BACKWARDS.values(), enumerate, reversed, zip, np.ndindex, np.ndenumerate)


def iterator_of(kind: type | None) -> type | None:
    """The class of the iterators over a built-in container, or of an array."""
    return _OF_KIND.get(kind)


def iterate(analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap) -> Made:
    """``iter(value)``."""
    frame.may_raise(heap)
    note_operands(analysis, statement, (value,), heap)
    if value.is_any:
        return ANY, analysis.unknown([value], heap)
    found: list[Value] = []
    for atom in value.atoms:
        source = Value(frozenset((atom,)))
        kind = atom.site.kind if isinstance(atom, At) else type(getattr(atom, "value", None))
        kind = tuple if isinstance(atom, At) and is_named_tuple(kind) else kind
        kind = atom.kind if isinstance(atom, Of) else np.ndarray if isinstance(atom, Array) else kind
        if kind in _OF_KIND and (isinstance(atom, At | Array) or kind in (str, bytes)):
            made, heap = container(frame, statement, heap, _OF_KIND[kind], Contents(fields={"of": source}), kind)
            found.append(made)
        elif kind is EnumType:
            source, heap = _members(frame, statement, getattr(atom, "value", None), heap)
            made, heap = container(frame, statement, heap, _OF_KIND[tuple], Contents(fields={"of": source}), kind)
            found.append(made)
        elif isinstance(atom, At) and (kind in ITERATORS or atom.site in analysis.generators):
            found.append(source)
        elif kind is np.flatiter:
            found.append(source)
        elif isinstance(atom, At) and kind is None:
            held, heap = elements(analysis, frame, statement, source, heap)
            made, heap = container(frame, statement, heap, None, Contents(single=False, rest=held), "iterator")
            found += [made, source]  # an iterator is its own
        elif isinstance(atom, Exact | Of) and (kind in SCALARS or issubclass(kind or object, np.generic)):
            continue
        elif isinstance(atom, At) and kind is not None and iterates_itself(analysis, kind):
            begun = analysis.call(frame, statement, exact(iterating(kind)), (source,), heap)
            if begun is not None and (
                any(isinstance(a, At) and iterates_itself(analysis, a.site.kind) for a in begun[0].atoms)
                or _is_changed_by_length(analysis, frame, statement, kind, source, heap)
            ):  # an iterator of the user's
                begun = ANY, analysis.unknown([begun[0]], begun[1])
            if begun is not None:
                analysis.facts.note_begun(statement, kind, begun[0])
                found.append(begun[0])
                heap = begun[1]
        else:
            heap = analysis.unknown([source], heap)
            found.append(ANY)
    return (union(*found), heap) if found else None


def _is_changed_by_length(
    analysis: Analysis, frame: Frame, statement: Statement, kind: type, source: Value, heap: Heap
) -> bool:
    """Whether ``__len__`` changes anything, which ``list`` and its like ask for a hint how many items there are."""
    method = looked_up(kind, "__len__")
    is_asked = not isinstance(getattr(statement, "operation", None), Iterate) or iterating(kind) is indexed
    if not is_method(method) or not is_asked:
        return False
    text = analysis.lowered(method)
    analysis.call(frame, statement, exact(method), (source,), heap)
    found = [each for each in frame.calls.get(statement, ()) if each.function is text]
    return not found or any(each.changes for each in found)


#: What goes over its first argument, by an iterator of it alone; ``zip`` does so over all of them.
GOING_OVER = (
    zip, enumerate, list, tuple, set, frozenset, deque, sum, min, max, sorted, any, all, math.fsum, math.prod, *MOMENTS
)


def over_iterators(
    analysis: Analysis, frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap
) -> tuple[Given, Heap]:
    """What a function is given, with iterators in place of objects of the user's that it goes over."""
    positional = list(given.positional)
    for place in places_gone_over(function, len(positional)):
        kinds = [class_of(atom) for atom in positional[place].atoms]
        if not positional[place].is_any and kinds and all(
            kind not in CLASSES and iterates_itself(analysis, kind) for kind in kinds
        ):
            begun = iterate(analysis, frame, statement, positional[place], heap)
            positional[place], heap = (NEVER, heap) if begun is None else begun
    return replace(given, positional=tuple(positional)), heap


def places_gone_over(function: Any, count: int) -> range:
    """Which of its arguments a function goes over."""
    is_alone = not any(function is one for one in (min, max)) or count == 1
    return range(count if function is zip else min(count, 1) * is_alone) if any(
        function is one for one in GOING_OVER) else range(0)


def _members(frame: Frame, statement: Statement, kind: Any, heap: Heap) -> tuple[Value, Heap]:
    """A tuple of the members of an enumeration."""
    note_class(kind)
    return container(frame, statement, heap, tuple, Contents(parts=tuple(map(exact, kind))), "members")


def backwards(analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap) -> Made | Any:
    """``reversed(value)`` of objects of a class; ``NotImplemented`` of others."""
    kinds = {class_of(atom) for atom in value.atoms}
    kind = kinds.pop() if len(kinds) == 1 and not value.is_any else None
    is_users = kind is not None and kind not in CLASSES and not is_of_library(kind)
    if kind is not None and is_users and not analysis.assigned.is_open(kind) and is_method(reversing(kind)):
        made = analysis.call(frame, statement, exact(reversing(kind)), (value,), heap)
        if made is not None:
            analysis.facts.note_begun(statement, kind, made[0])
        return made
    atom = next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None
    if isinstance(atom, Array) and atom.rank:
        return container(frame, statement, heap, reversed, Contents(fields={"of": value}))
    if isinstance(atom, Exact) and type(atom.value) is EnumType:
        value, heap = _members(frame, statement, atom.value, heap)
        return container(frame, statement, heap, reversed, Contents(fields={"of": value}))
    if not isinstance(atom, At) or atom.site.kind not in _BACKWARDS:
        return NotImplemented
    kind = _BACKWARDS[atom.site.kind]
    return container(frame, statement, heap, kind, Contents(fields={"of": value}))


def _of_iterator(
    analysis: Analysis, frame: Frame, statement: Statement, site: Site, contents: Contents, heap: Heap
) -> tuple[Value, Heap]:
    """What an iterator of a known source gives, as the source is now."""
    kind: Any = site.kind
    source = contents.get("of")
    if kind is np.ndindex:
        return contents.items, heap
    if kind is np.ndenumerate:
        return container(frame, statement, heap, tuple, Contents(parts=(contents.items, contents.get("element"))), site)
    if kind is zip:
        parts = []
        for one in contents.parts or (contents.items,):
            held, heap = elements(analysis, frame, statement, one, heap)
            if not held and contents.parts is not None:
                return NEVER, heap
            parts.append(held)
        known = contents.parts is not None
        made = Contents(parts=tuple(parts)) if known else Contents(rest=union(*parts))
        return container(frame, statement, heap, tuple, made, site)
    if kind is enumerate:
        held, heap = elements(analysis, frame, statement, source, heap)
        if not held:
            return NEVER, heap
        return container(frame, statement, heap, tuple, Contents(parts=(of(int), held)), site)
    if kind in map(type, (*_ITEMS, *_VALUES)):
        keys, values = NEVER, NEVER
        if source.is_any:
            return ANY, heap
        for atom in source.atoms:
            if not isinstance(atom, At):
                return ANY, analysis.unknown([source], heap)
            keys, values = union(keys, heap[atom.site].keys), union(values, heap[atom.site].held)
        if kind in map(type, _VALUES):
            return values, heap
        if not keys:
            return NEVER, heap
        return container(frame, statement, heap, tuple, Contents(parts=(keys, values)), site)
    return elements(analysis, frame, statement, source, heap)
