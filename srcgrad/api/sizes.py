"""Which dimensions of a call's arguments are equal, which are 0 or 1: the part of their kinds that sizes decide.

Enters: the values of a call.  Leaves: a pattern, under which a program is kept beside the other kinds, the symbols of
its facts, or the shapes in words::

    pattern_of((x, w, b)) == (2, 3, 3, 2, 2)      for x of shape (5, 7), w (7, 5), b (5,)
    shapes_told("xwb", (x, w, b)) == "For x (n, m), w (m, n), b (n,) alone, where n and m differ and are more than 1."

The sizes themselves are no part of it: one program serves all that are equal in the same places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from srcgrad.rules.facts import size
from srcgrad.runtime.exact import inside
from srcgrad.runtime.objects import fields_of, is_object

#: How many patterns of one kind get a program of their own; calls with others run one that knows no sizes.
PATTERNS = 8


def pattern_of(values: tuple[Any, ...]) -> tuple[int, ...]:
    """One number per dimension of each array: 0 and 1 for themselves, others in the order in which they come."""
    given = tuple(dimensions_of(values))
    return _number(given) if given else given


@lru_cache(maxsize=4096)
def _number(given: tuple[int, ...]) -> tuple[int, ...]:
    numbers = {0: 0, 1: 1}
    return tuple([numbers.setdefault(n, len(numbers)) for n in given])


def symbols_of(values: tuple[Any, ...]) -> dict[int, str]:
    """The symbol of each dimension of the arguments that is more than 1."""
    numbers = dict.fromkeys(n for n in dimensions_of(values) if n > 1)
    return {n: size(number) for number, n in enumerate(numbers, 2)}


_WITHOUT = frozenset((float, int, bool, complex, str, type(None)))


def dimensions_of(values: Iterable[Any]) -> list[int]:
    """The dimensions of all arrays, those in containers and in fields of objects included."""
    found: list[int] = []
    for value in values:  # at each call, so that what is frequent comes first
        kind = type(value)
        if kind is np.ndarray:
            found += value.shape
        elif kind in _WITHOUT:
            continue
        elif isinstance(value, tuple | list):
            found += dimensions_of(value)
        elif isinstance(value, dict):
            found += dimensions_of(value.values())
        elif isinstance(value, np.ndarray):
            found += value.shape
        elif is_object(value):
            found += dimensions_of(fields_of(value).values())
    return found


def shapes_told(names: Iterable[str], values: Iterable[Any]) -> str:
    """The shapes of the arguments in words: what a program that was compiled for their pattern is right for."""
    given = dict(zip(names, values, strict=False))
    parts = [(place, part) for name, value in given.items() for part, place in inside(value, name)]
    shapes = [(place, part.shape) for place, part in parts if isinstance(part, np.ndarray) and part.ndim]
    if not shapes:
        return ""
    sizes = dict.fromkeys(n for _, shape in shapes for n in shape if n > 1)
    letters = dict(zip(sizes, _letters(set(given)), strict=False))
    told = [f"{place} {_spelled(shape, letters)}" for place, shape in shapes[:_TOLD]]
    if len(shapes) > _TOLD:
        told.append(f"{len(shapes) - _TOLD} more arrays")
    named = list(letters.values())
    are = f", where {named[0]} is more than 1" if named else ""
    if len(named) > 1:
        are = f", where {', '.join(named[:-1])} and {named[-1]} differ and are more than 1"
    return f"For {', '.join(told)} alone{are}."


_TOLD = 12  # arrays of which the shapes are told


def _letters(taken: set[str]) -> Iterator[str]:
    for number in count():
        yield from (f"{letter}{number or ''}" for letter in "nmkpqrs" if f"{letter}{number or ''}" not in taken)


def _spelled(shape: tuple[int, ...], letters: Mapping[int, str]) -> str:
    inner = ", ".join(letters.get(n, str(n)) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
