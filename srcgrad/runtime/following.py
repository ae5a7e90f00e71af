"""Loops over dicts, sets and deques that may change meanwhile: Python's own iterator goes along, and says when.

>>> d = {"a": 1}
>>> items = followed(d)
>>> d["b"] = 2
>>> step(items, "m.py:4")  # doctest: +ELLIPSIS
Traceback (most recent call last):
srcgrad.runtime.refusals.RefusedValue: m.py:4: dictionary changed size during iteration; ... [E0402]
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import repeat
from typing import Any

from srcgrad.runtime.refusals import RefusedValue

_ITERATED = [kind.__iter__ for kind in (dict, OrderedDict, set, deque)]


def followed(x: Any) -> Iterator[None]:
    """What goes along with a loop over ``x``: it has given the first item, and each ``step`` is the loop's next."""
    items = _followed(x)
    next(items)
    return items


def alongside(x: Any) -> Iterator[None]:
    """What goes along with an iterator over ``x`` that has given nothing yet: each ``step`` is its next item."""
    return _followed(x)


def step(items: Iterator[None], place: str) -> None:
    """Refuse to go on with a loop at ``place`` where Python raises, since what it goes over has changed; or where
    Python goes on with other items than there were."""
    try:
        next(items)
    except RuntimeError as raised:
        raise RefusedValue("E0402", f"{place}: {raised}; loop over a copy, list(...)") from raised


def _followed(x: Any) -> Iterator[None]:
    if not isinstance(x, dict | set | deque) or type(x).__iter__ not in _ITERATED:
        yield from repeat(None)
    live, kept = iter(x), iter(list(x))
    while True:
        item, before = next(live, live), next(kept, live)
        if item is not before and not isinstance(x, deque):  # items of a deque may be replaced
            raise RuntimeError(f"keys of a {type(x).__name__} were exchanged during iteration")
        yield None
