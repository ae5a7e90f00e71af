"""Lists and tuples that are joined and repeated, dicts of computed keys: Python's operators and their transposes.

>>> unrepeated([1.0, 2.0, 3.0, 4.0], [0.1, 0.2], 2)
[4.0, 6.0]
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from srcgrad.runtime.cotangents import add, zeros_like
from srcgrad.runtime.objects import require_same
from srcgrad.runtime.refusals import RefusedType, RefusedValue


def joined(*parts: Any) -> Any:
    """Lists or tuples, one after the other; a list unless all are tuples."""
    for part in parts:
        if not isinstance(part, list | tuple):
            raise RefusedType(
                "E0710", f"a list or tuple is joined with a {type(part).__name__}; make both arrays with np.array"
            )
    items = [item for part in parts for item in part]
    return tuple(items) if all(isinstance(part, tuple) for part in parts) else items


def unjoined(g: Sequence[Any], *parts: Any) -> list[Any]:
    """The cotangents of ``parts`` where ``g`` is that of ``joined(*parts)``."""
    found = []
    start = 0
    for part in parts:
        found.append(list(g[start : start + len(part)]))
        start += len(part)
    return found


def repeated(items: Any, times: int) -> Any:
    """``items * times`` of a list, or of a tuple, which stays one."""
    if isinstance(times, np.ndarray):
        raise RefusedType(
            "E0710", "a list or tuple is multiplied by an array, not by an integer; make both arrays with np.array"
        )
    held = tuple(items) if isinstance(items, tuple) else list(items)
    return held * operator.index(times)


def unrepeated(g: Sequence[Any], items: Sequence[Any], times: int) -> list[Any]:
    """The cotangent of ``items`` where ``g`` is that of ``items * times``."""
    count = len(items)
    result = [zeros_like(item) for item in items]
    for place, part in enumerate(g):
        result[place % count] = add(result[place % count], part)
    return result


def keyed(keys: Sequence[Any], values: Sequence[Any]) -> dict[Any, Any]:
    """The dict of these keys and values; of a key that comes twice the last value counts."""
    return dict(zip(keys, values, strict=True))


def unkeyed(g: Mapping[Any, Any], keys: Sequence[Any]) -> list[Any]:
    """The cotangents of the values where ``g`` is that of ``keyed(keys, values)``."""
    if len(set(keys)) < len(keys):
        raise RefusedValue("E0603", "a key comes twice in the display of a dict: give its last value alone")
    return _unkeyed(g, keys)


def _unkeyed(g: Mapping[Any, Any], keys: Sequence[Any]) -> list[Any]:
    """The cotangents of the values that have these keys, None of those that a later one replaced."""
    last = {key: place for place, key in enumerate(keys)}
    for key in last:
        if g and key not in g:
            require_same(key)
    return [g.get(key) if last[key] == place else None for place, key in enumerate(keys)]


def from_pairs(pairs: Sequence[Any]) -> dict[Any, Any]:
    """The dict of pairs of a key and a value."""
    return dict(pairs)


def unpairs(g: Mapping[Any, Any], pairs: Sequence[Any], like: Sequence[Any] | None = None) -> list[Any]:
    """The cotangents of ``pairs`` where ``g`` is that of ``from_pairs(pairs)``: zero of what a later pair replaced, and
    of keys, as of those of pairs ``like`` them."""
    keys = [key for key, _ in pairs]
    zeros = map(zeros_like, keys if like is None else [None if part is None else part[0] for part in like])
    parts = zip(zeros, _unkeyed(g, keys), pairs, strict=True)
    return [(zero, zeros_like(value) if part is None else part) for zero, part, (_, value) in parts]


def repairs(moved: Sequence[Any], pairs: Sequence[Any]) -> dict[Any, Any]:
    """The tangent of ``from_pairs(pairs)``: those of the values under the keys."""
    return {
        key: zeros_like(value) if part is None else part[1] for (key, value), part in zip(pairs, moved, strict=True)
    }


def unqueue(g: Sequence[Any], items: Sequence[Any]) -> list[Any]:
    """The cotangents of ``items`` where ``g`` is that of ``deque(items, maxlen)``: the first may have been dropped."""
    return [zeros_like(item) for item in items[: len(items) - len(g)]] + list(g)


def union(*parts: Any) -> Any:
    """``a | b`` of dicts, truth values or integers; zero of the tangents of these numbers."""
    if not isinstance(parts[0], Mapping) and any(np.asarray(part).dtype.kind in "fc" for part in parts):
        return np.zeros(np.broadcast_shapes(*map(np.shape, parts)))
    result = parts[0]
    for part in parts[1:]:
        result = result | part
    return result


def merged(*parts: Mapping[Any, Any]) -> dict[Any, Any]:
    """``{**a, **b, ...}``."""
    for part in parts:
        if not isinstance(part, Mapping):
            raise RefusedType(
                "E0406", f"a dict is made of a {type(part).__name__}; write {{key: value for key, value in ...}}"
            )
    return {key: value for part in parts for key, value in part.items()}


def remerged(bars: Any, *parts: Any) -> Any:
    """The transpose of ``unmerged``: of a key the adjoint in the last part that has it, if that part has one at all."""
    if not isinstance(parts[0], Mapping):
        return None
    last = {key: place for place, part in enumerate(parts) for key in part}
    return {key: bars[place][key] for key, place in last.items() if bars[place] is not None and key in bars[place]}


def unmerged(g: Any, *parts: Any) -> list[Any]:
    """The cotangents of ``parts`` where ``g`` is that of ``merged(*parts)``: of a key the last value counts.

    Truth values and integers, which ``union`` takes as well, have zeros.
    """
    if not isinstance(parts[0], Mapping):
        return [zeros_like(part) for part in parts]
    found: list[Any] = []
    for place, part in enumerate(parts):
        later = parts[place + 1 :]
        gone = {key for key in part if any(key in other for other in later)}
        found.append({key: zeros_like(item) if key in gone else g.get(key) for key, item in part.items()})
    return found
