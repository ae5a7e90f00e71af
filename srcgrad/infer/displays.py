"""Displays and comprehensions: containers that are made, and what is put into them.

Enters: the operation that makes a container, or adds to one.  Leaves: the heap with what it holds, one by one where
that is known::

    {"a": x, **other}       dict, of "a" and what the other one holds
    [v * v for v in x]      list, of any number of products
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from srcgrad.infer.frames import Frame
from srcgrad.infer.heap import Contents, Heap, joined
from srcgrad.infer.items import KEYS
from srcgrad.infer.iteration import elements
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.object_sets import note_into, note_objects
from srcgrad.infer.objects import Made, container, is_plain
from srcgrad.infer.values import NEVER, At, Exact, Value, are_of, exact, union
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Statement

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis

_KINDS: dict[str, type] = {"tuple": tuple, "list": list, "set": set, "dict": dict}


def listed(value: Value, heap: Heap) -> Contents | None:
    """What tuples or dicts hold, one by one: where a value is one of several, the items of one of them."""
    sites = [atom.site for atom in value.atoms if isinstance(atom, At)]
    if value.is_any or not sites or len(sites) < len(value.atoms):
        return None
    if not all(site.kind in (tuple, list, dict) or is_named_tuple(site.kind) for site in sites):
        return None
    contents = reduce(joined, (heap[site] for site in sites))
    return None if contents.parts is None and contents.entries is None else contents


def make(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Make, heap: Heap) -> Made:
    values = frame.all(op.elements)
    if op.kind == "slice":
        return container(frame, statement, heap, slice, Contents(parts=values))
    if op.kind != "dict":
        if op.kind == "set":
            note_objects(analysis, None, statement, union(*values))
        if op.kind == "set" and not is_plain(analysis, heap, *values):
            heap = analysis.unknown(values, heap)
        contents = Contents(rest=union(*values)) if op.kind == "set" else Contents(parts=values)
        return container(frame, statement, heap, _KINDS[op.kind], contents)
    keys = frame.all(op.keys)
    made: dict[Any, Value] = {}
    for key, value in zip(keys, values, strict=True):
        atom = next(iter(key.atoms)) if len(key.atoms) == 1 else None
        if not isinstance(atom, Exact) or type(atom.value) not in KEYS:
            if not is_plain(analysis, heap, *keys):
                frame.may_raise(heap)
                heap = analysis.unknown(keys, heap)
            return container(frame, statement, heap, dict, Contents().with_sides(union(*keys), union(*values)))
        made[atom.value] = value
    return container(frame, statement, heap, dict, Contents(entries=tuple(made.items())))


def insert(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Insert, heap: Heap) -> Made:
    value = frame[op.value]
    kinds = {atom.site.kind for atom in frame[op.container].atoms if isinstance(atom, At)}
    note_into(analysis, frame[op.container], statement, value)
    if getattr(statement.node, "is_folded", False) and not frame.is_unknown and not is_plain(analysis, heap, value):
        node: Any = statement.node  # whose methods would run between the items
        analysis.assigned.leave_generator(frame.namespace, (node.lineno, node.col_offset))
    hashed = frame[op.key] if op.key is not None else value if set in kinds else NEVER
    if not is_plain(analysis, heap, hashed):
        heap = analysis.unknown([hashed], heap)
    keys = None if op.key is None else frame[op.key]
    return _into(analysis, frame[op.container], heap, value, keys=keys, alone=op.key is None)


def _into(
    analysis: Analysis, container: Value, heap: Heap, held: Value, *, keys: Value | None = None, alone: bool = False
) -> Made:
    for atom in container.atoms:
        if isinstance(atom, At):
            contents = heap[atom.site]
            if alone and contents.parts is not None and contents.single and atom.site.kind is list:
                contents = replace(contents, parts=(*contents.parts, held))
            elif keys is not None:
                contents = contents.with_sides(keys, held)
            else:
                rest = union(contents.items, held)
                contents = replace(contents, parts=None, entries=None, rest=rest, apart=None)
            heap = analysis.store(heap, atom.site, contents)
    return exact(None), heap


def extend(analysis: Analysis, frame: Frame, statement: Statement, op: ir.Extend, heap: Heap) -> Made:
    source = frame[op.source]
    frame.note_star(statement, "entries" if are_of(frame[op.container], dict) else "parts", source, heap)
    found, into = listed(source, heap), listed(frame[op.container], heap)
    if found is not None and into is not None and into.single and len(frame[op.container].atoms) == 1:
        (atom,) = frame[op.container].atoms
        assert isinstance(atom, At)
        if atom.site.kind is list and found.parts is not None and into.parts is not None:
            made = replace(into, parts=(*into.parts, *found.parts))
            return exact(None), analysis.store(heap, atom.site, made)
        if atom.site.kind is dict and found.entries is not None and into.entries is not None:
            entries = {Exact(key): value for key, value in (*into.entries, *found.entries)}
            made = replace(into, entries=tuple((key.value, value) for key, value in entries.items()))
            return exact(None), analysis.store(heap, atom.site, made)
    held, heap = elements(analysis, frame, statement, source, heap)
    note_into(analysis, frame[op.container], statement, held)
    each = [heap[atom.site] for atom in source.atoms if isinstance(atom, At)]
    if are_of(source, dict) and are_of(frame[op.container], dict) and all(one.sides is not None for one in each):
        return _into(analysis, frame[op.container], heap, union(*(one.held for one in each)), keys=held)
    return _into(analysis, frame[op.container], heap, union(held, *(one.items for one in each)))
