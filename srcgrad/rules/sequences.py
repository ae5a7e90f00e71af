"""Rules of lists and tuples that are joined and repeated, and of dicts whose keys are computed."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import copy
from collections import deque

from srcgrad import runtime
from srcgrad.rules.facts import Array, Sequence, Unknown, broadcast
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    joined,
    keyed,
    merged,
    remerged,
    repairs,
    repeated,
    union,
    unjoined,
    unkeyed,
    unmerged,
    unpairs,
    unrepeated,
)


@rule(runtime.joined)
def joined_(*parts, y, y_bar):
    """Sequences, one after the other: each receives its part."""
    return unjoined(y_bar, *parts)


@joined_.tangent
def joined_(*parts, y, parts_dot):
    return joined(*parts_dot)


@joined_.infer
def joined_(arguments, literals):
    parts = arguments["parts"].items or ()
    sequences = [part for part in parts if isinstance(part, Sequence)]
    is_list = any(part.kind == "list" for part in sequences)
    if not is_list and len(sequences) < len(parts):
        return Unknown()
    known = [part.items for part in sequences if part.items is not None]
    items = tuple(item for each in known for item in each) if len(known) == len(parts) else None
    return Sequence("list" if is_list else "tuple", items)


@linear(runtime.repeated, "items")
def repeated_(items, times, *, y, y_bar):
    """A sequence repeated: the sum over its repetitions."""
    return unrepeated(y_bar, items, times)


@linear(runtime.unrepeated, "g")
def unrepeated_(g, items, times, *, y, y_bar):
    """Summed up; repeated again."""
    return repeated(y_bar, times)


@linear(runtime.keyed, "values")
def keyed_(keys, values, *, y, y_bar):
    """Values under their keys."""
    return unkeyed(y_bar, keys)


@linear(runtime.unkeyed, "g")
def unkeyed_(g, keys, *, y, y_bar):
    """Read by their keys; put under them again."""
    return keyed(keys, y_bar)


@rule(runtime.merged)
def merged_(*parts, y, y_bar):
    """Several dicts in one: of a key the last value counts."""
    return unmerged(y_bar, *parts)


@merged_.tangent
def merged_(*parts, y, parts_dot):
    return merged(*parts_dot)


@linear(runtime.unjoined, "g")
def unjoined_(g, *parts, y, y_bar):
    """Taken apart; joined again."""
    return joined(*y_bar)


@linear(runtime.unmerged, "g")
def unmerged_(g, *parts, y, y_bar):
    """Taken apart; merged again."""
    return remerged(y_bar, *parts)


@linear(runtime.remerged, "bars")
def remerged_(bars, *parts, y, y_bar):
    """Merged; taken apart again."""
    return unmerged(y_bar, *parts)


@rule(runtime.from_pairs)
def from_pairs_(pairs, *, y, y_bar):
    """Values under their keys."""
    return unpairs(y_bar, pairs)


@from_pairs_.tangent
def from_pairs_(pairs, *, y, pairs_dot):
    return repairs(pairs_dot, pairs)


@linear(runtime.unpairs, "g")
def unpairs_(g, pairs, like=None, *, y, y_bar):
    """Read by their keys; put under them again."""
    return repairs(y_bar, pairs)


@linear(runtime.repairs, "moved")
def repairs_(moved, pairs, *, y, y_bar):
    """Put under their keys; read by them again."""
    return unpairs(y_bar, pairs, moved)


@linear(deque, "iterable")
def deque_(iterable=(), maxlen=None, *, y, y_bar):
    """The last items."""
    return runtime.unqueue(y_bar, iterable)


@linear(copy.copy, "x")
def copied(x, *, y, y_bar):
    """An array or a number again, a container of the same items."""
    return y_bar


@copied.infer
def copied(arguments, literals):
    return arguments["x"]


@linear(copy.deepcopy, "x")
def deeply_copied(x, *, y, y_bar):
    """An array or a number again, a container of copies of the items."""
    return y_bar


@deeply_copied.infer
def deeply_copied(arguments, literals):
    return arguments["x"]


@rule(tuple)
def tuple_(iterable=(), *, y, y_bar):
    """The items of a list, the rows of an array."""
    return runtime.pack_like(y_bar, iterable)


@tuple_.tangent
def tuple_(iterable=(), *, y, iterable_dot):
    return tuple(iterable_dot)


@tuple_.infer
def tuple_(arguments, literals):
    match arguments.get("iterable"):
        case Sequence(_, items, item):
            return Sequence("tuple", items, item)
    return Unknown()


@linear(runtime.unqueue, "g")
def unqueue_(g, items, *, y, y_bar):
    """Back to their places; the last items again."""
    return y_bar[len(y_bar) - len(g) :]


@rule(runtime.union)
def union_(*parts, y, y_bar):
    """Several dicts in one: of a key the last value counts."""
    return unmerged(y_bar, *parts)


@union_.tangent
def union_(*parts, y, parts_dot):
    return union(*parts_dot)


@union_.infer
def union_(arguments, literals):
    parts = arguments["parts"].items or ()
    arrays = len(parts) == 2 and all(isinstance(part, Array) for part in parts)
    return broadcast(*parts) if arrays else Unknown()
