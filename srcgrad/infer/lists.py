"""Methods of lists, deques and dicts that put what they hold, and what they are given, into another order; copies.

Enters: a method's name, its receiver and arguments.  Leaves: what it returns, and the heap after it; ``NotImplemented``
of another method, or of arguments that may run code of the user's::

    items.insert(n, y)      items: list, of what it held and y
    items.clear()           items: []
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.items import is_index
from srcgrad.infer.objects import container
from srcgrad.infer.values import At, Exact, Value, exact, union

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
    if name == "copy" and kind in (list, deque, dict) and not values:
        return container(frame, statement, heap, kind, replace(contents, single=True))
    if kind is dict and name == "popitem" and not values and contents.entries and contents.single:
        (*others, (key, value)) = contents.entries
        heap = analysis.store(heap, atom.site, replace(contents, entries=tuple(others)))
        return container(frame, statement, heap, tuple, Contents(parts=(exact(key), value)))
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
    held = [heap[site].items for site in sites]
    return Contents(rest=union(*held, *(exact(key.value) for key, _ in named), *(value for _, value in named)))
