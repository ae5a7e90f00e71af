"""Methods of lists, deques and dicts that put what they hold, and what they are given, into another order; copies.

Enters: a method's name, its receiver and arguments.  Leaves: what it returns, and the heap after it; ``NotImplemented``
of another method, or of arguments that may run code of the user's::

    items.insert(n, y)      items: list, of what it held and y
    items.clear()           items: []
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.items import is_index
from srcgrad.infer.iteration import elements
from srcgrad.infer.objects import container, is_plain
from srcgrad.infer.values import NEVER, At, Exact, Value, exact, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.parameters import Given
    from srcgrad.ir.regions import Statement

#: How many arguments each takes; the last one of those that add is what they add.
_ADDING = {"append": 1, "appendleft": 1, "insert": 2}
_REARRANGING = {"reverse": (0,), "clear": (0,), "rotate": (0, 1)}


def rearranged(
    analysis: Analysis, frame: Frame, statement: Statement, atom: At, name: str, given: Given, heap: Heap
) -> Any:
    kind: Any = atom.site.kind
    values, contents = given.positional, heap[atom.site]
    if given.keywords or given.more is not None or not hasattr(kind, name):
        return NotImplemented
    if name == "copy" and kind in (list, deque, dict, defaultdict, OrderedDict) and not values:
        return container(frame, statement, heap, kind, replace(contents, single=True))
    if kind is dict and name == "popitem" and not values and contents.entries and contents.single:
        (*others, (key, value)) = contents.entries
        heap = analysis.store(heap, atom.site, replace(contents, entries=tuple(others)))
        return container(frame, statement, heap, tuple, Contents(parts=(exact(key), value)))
    if kind is dict and name == "popitem" and not values and contents.sides is not None:
        heap = analysis.store(heap, atom.site, contents.with_sides(NEVER, NEVER))
        return container(frame, statement, heap, tuple, Contents(parts=contents.sides))
    if kind not in (list, deque):
        return NotImplemented
    if len(values) == _ADDING.get(name) and all(map(is_index, values[:-1])):
        if contents.parts is not None and kind is list and (at := _place(name, values, contents.parts)) is not None:
            made = replace(contents, parts=(*contents.parts[:at], values[-1], *contents.parts[at:]))
        else:
            made = replace(contents, parts=None, rest=union(contents.items, values[-1]))
    elif kind is list and name == "reverse" and contents.parts is not None and not values:
        made = replace(contents, parts=contents.parts[::-1])
    elif len(values) in _REARRANGING.get(name, ()) and all(map(is_index, values)):
        made = Contents(contents.single, parts=()) if name == "clear" else replace(
            contents, parts=None, rest=contents.items
        )
    else:
        return NotImplemented
    return exact(None), analysis.store(heap, atom.site, made)


def _place(name: str, values: tuple[Value, ...], parts: tuple[Value, ...]) -> int | None:
    """Where ``append`` and ``insert`` put an item; None where that is not known."""
    if name == "append":
        return len(parts)
    found = next(iter(values[0].atoms)) if len(values[0].atoms) == 1 else None
    place = found.value if isinstance(found, Exact) else None
    return range(len(parts))[slice(place, None)].start if type(place) is int else None


def contents_of_dict(given: Given, heap: Heap) -> Contents | None:
    """What ``dict(other, k=v)`` holds, where the other one is a dict; None where it may be anything else."""
    named = tuple((Exact(name), value) for name, value in given.keywords)
    if not given.positional:
        return Contents(entries=tuple((key.value, value) for key, value in named))
    (source, *more) = given.positional
    sites = [atom.site for atom in source.atoms if isinstance(atom, At) and atom.site.kind is dict]
    if more or source.is_any or not sites or len(sites) < len(source.atoms):
        return None
    entries = heap[sites[0]].entries if len(sites) == 1 else None
    if entries is not None:
        together = {**{Exact(key): value for key, value in entries}, **dict(named)}
        return Contents(entries=tuple((key.value, value) for key, value in together.items()))
    made = Contents(entries=tuple((key.value, value) for key, value in named))
    for site in sites:
        sides = heap[site].sides
        if sides is None:
            return Contents(rest=union(made.items, *(heap[site].items for site in sites)))
        made = made.with_sides(*sides)
    return made


def dict_of_pairs(
    analysis: Analysis, frame: Frame, statement: Statement, given: Given, heap: Heap
) -> tuple[Value, Heap] | None:
    """What ``dict(pairs, k=v)`` gives; None where methods of the user's may run, or a pair may be anything."""
    if given.more is not None or len(given.positional) != 1:
        return None
    held, after = elements(analysis, frame, statement, given.positional[0], heap)
    contents = _contents_of_pairs(given, held, after) if is_plain(analysis, after, held) else None
    return None if contents is None else container(frame, statement, after, dict, contents)


def _contents_of_pairs(given: Given, pair: Value, heap: Heap) -> Contents | None:
    """What ``dict(pairs, k=v)`` holds; None where a pair may be anything but a tuple or a list."""
    named = tuple((Exact(name), value) for name, value in given.keywords)
    (source,) = given.positional
    each = _parts(source, heap)
    found = None if each is None else [_parts(one, heap) for one in each]
    if found is not None and all(one is not None and len(one) == 2 and _is_text(one[0]) for one in found):
        together = {next(iter(one[0].atoms)): one[1] for one in found if one is not None} | dict(named)
        return Contents(entries=tuple((key.value, value) for key, value in together.items()))  # type: ignore[union-attr]
    sites = [atom.site for atom in pair.atoms if isinstance(atom, At) and atom.site.kind in (list, tuple)]
    if pair.is_any or len(sites) < len(pair.atoms):
        return None
    made = Contents(entries=tuple((key.value, value) for key, value in named))
    for site in sites:
        parts = heap[site].parts
        if parts is None or len(parts) != 2:
            return Contents(rest=union(made.items, *(heap[other].items for other in sites)))
        made = made.with_sides(*parts)
    return made


def _parts(value: Value, heap: Heap) -> tuple[Value, ...] | None:
    """The items of a list or tuple that is known, one by one."""
    atom = next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None
    return heap[atom.site].parts if isinstance(atom, At) and atom.site.kind in (list, tuple) else None


def _is_text(value: Value) -> bool:
    return len(value.atoms) == 1 and not value.is_any and all(
        isinstance(atom, Exact) and type(atom.value) is str for atom in value.atoms
    )  # fmt: skip
