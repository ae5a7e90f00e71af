"""Tuples, lists and dicts whose items are known one by one: joined, repeated, compared.

Enters: operands.  Leaves: what the operator gives; None where it depends on more than constants::

    shape = (2,) + (1,) * (x.ndim - 1)      (2, 1), of an array of rank 2
    axis == (-1,), "f" in ("f", "c")        True, True
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from srcgrad.infer.enumerations import is_compared_plainly
from srcgrad.infer.heap import Contents, Heap, Site, joined, sites_of
from srcgrad.infer.named import is_named_tuple, joins_as_tuple
from srcgrad.infer.outside import MAPPINGS
from srcgrad.infer.values import NEVER, SCALARS, At, Exact, Of, Value, are_of, is_unchanging, union
from srcgrad.ir.evaluating import COMPARING

_LONGEST = 50  # of tuples whose items are told apart


def joined_sequences(symbol: str, operands: tuple[Value, ...], heap: Heap) -> tuple[type, Contents] | None:
    """``(a, b) + (c,)``, ``[a, b] * 2``: the class, and what it holds; None of other operands."""
    sites: list[Site] = []
    count: Any = 1
    for value in operands:
        atom: Any = next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None
        if isinstance(atom, At) and (atom.site.kind in (tuple, list, deque) or joins_as_tuple(atom.site.kind)):
            sites.append(atom.site)
        elif symbol == "*" and _is_count(atom):
            count = atom.value if isinstance(atom, Exact) else None
        else:
            return None
    if len(sites) != (2 if symbol == "+" else 1) or symbol not in ("+", "*"):
        return None
    kind, other = (tuple if is_named_tuple(site.kind) else site.kind for site in (sites[0], sites[-1]))
    if kind is None or other is not kind:
        return None
    parts = [None if kind is deque else heap[site].parts for site in sites]  # which may drop the first
    known = [part for part in parts if part is not None]
    if len(known) == len(parts) and count is not None and count * len(known[0]) < _LONGEST:
        return kind, Contents(parts=tuple(item for part in known for item in part) * count)
    return kind, Contents(rest=union(*(heap[site].items for site in sites)))


def joined_dicts(symbol: str, operands: tuple[Value, ...], heap: Heap) -> Contents | None:
    """What ``left | right`` of dicts holds whose keys are compared by no method of the user's; None of others."""
    if symbol != "|" or len(operands) != 2 or not all(are_of(value, dict) for value in operands):
        return None
    left, right = (reduce(joined, [heap[site] for site in sorted(sites_of(value), key=str)]) for value in operands)
    keys = union(left.keys, right.keys)
    if keys.is_any or not all(map(is_unchanging, keys.atoms)):
        return None
    if left.entries is not None and right.entries is not None:
        entries = {Exact(key): value for key, value in (*left.entries, *right.entries)}
        return replace(left, entries=tuple((key.value, value) for key, value in entries.items()))
    return None if right.sides is None else left.with_sides(*right.sides)


def _is_count(atom: Any) -> bool:
    kind = atom.kind if isinstance(atom, Of) else type(atom.value) if isinstance(atom, Exact) else None
    return kind in (int, bool)


def compared(symbol: str, left: Value, right: Value, heap: Heap) -> bool | None:
    """What ``in`` and equality give of constants, and tuples and lists of them; None of other operands."""
    found = _constant(left, heap), _constant(right, heap)
    if symbol not in ("in", "not in", "==", "!=") or any(isinstance(each, _Unknown) for each in found):
        return None
    if isinstance(found[0], _Keys) or isinstance(found[1], _Keys) and symbol not in ("in", "not in"):
        return None
    try:
        return bool(COMPARING[symbol](*found))
    except TypeError:
        return None


class _Unknown:
    """In place of what is no constant."""


class _Keys(list[Any]):
    """In place of a dict whose keys are known."""


def _constant(value: Value, heap: Heap) -> Any:
    """The object that a value is, where it is a constant or a sequence of constants."""
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    if isinstance(atom, Exact) and (
        type(atom.value) in (*SCALARS, type) or isinstance(atom.value, np.dtype) or is_compared_plainly(atom.value)
    ):
        return atom.value
    if not isinstance(atom, At) or heap.is_seen(atom.site):
        return _Unknown()
    if atom.site.kind in MAPPINGS and (entries := heap[atom.site].entries) is not None:
        return _Keys(key for key, _ in entries)
    if atom.site.kind not in (tuple, list):
        return _Unknown()
    held = heap[atom.site].parts
    parts = [_constant(part, heap) for part in ((NEVER,) if held is None else held)]
    return _Unknown() if any(isinstance(part, _Unknown) for part in parts) else atom.site.kind(parts)
