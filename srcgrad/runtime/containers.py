"""Transposes of what moves values between numbers, arrays and containers.

>>> spread(np.ones(2), [3.0, np.zeros(2)])
[2.0, array([1., 1.])]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from srcgrad.runtime.attempts import contents, is_as_before
from srcgrad.runtime.broadcasting import rebroadcast, unbroadcast
from srcgrad.runtime.cotangents import REAL, add_at, zeros_like
from srcgrad.runtime.objects import has_operators, is_object
from srcgrad.runtime.reducing import unreduce
from srcgrad.runtime.refusals import RefusedType

_NUMBERS = frozenset({float, int, bool, str, np.float64, np.int64})


def spread(g: Any, items: Any) -> Any:
    """The cotangents of ``items`` where ``g`` is that of their sum: a list, or an array like ``items``."""
    if isinstance(items, dict):
        return zeros_like(items)  # the sum is that of the keys
    if isinstance(items, np.ndarray):
        return unreduce(unbroadcast(g, items[0]) if items.shape[0] else g, items, 0 if items.ndim > 1 else None)
    return [unbroadcast(g, item) for item in items]


def total(items: Any, like: Any) -> Any:
    """The sum of ``items``, repeated up to the shape of ``like``; zero when there are none."""
    result = zeros_like(like)
    for item in () if isinstance(items, dict) else items:  # a dict was summed over its keys
        result = result + item
    return rebroadcast(result, like)


def chosen(items: Sequence[Any], largest: bool) -> int:
    """The position of what ``max`` (or ``min``) returns of ``items``: the first of equals."""
    if isinstance(items, dict):
        raise RefusedType("E0418", "max() and min() of a dict give a key, which has no derivative; write max(d.keys())")
    if len(items) and isinstance(items[0], list | deque):  # which is asked again, and may have changed by then
        kind = type(items[0]).__name__
        raise RefusedType("E0415", f"max() and min() of a {kind} compare what may change; write max(..., key=...)")
    if not len(items):
        max(()) if largest else min(())  # raises what Python raises
    best = 0
    with _compared(items):
        for i in range(1, len(items)):
            if items[i] > items[best] if largest else items[i] < items[best]:
                best = i
    return best


def chosen_number(items: Sequence[Any], largest: bool) -> int:
    """The same of numbers, which ``max(a, b)`` is given one by one."""
    if any(isinstance(item, tuple) for item in items):
        function = "max" if largest else "min"
        raise RefusedType("E0415", f"{function}(p, q) of tuples that have names; write {function}([p, q])")
    return chosen(items, largest)


def is_exact(key: tuple[Any, ...]) -> bool:
    """Whether no part of a key is a floating-point number, which may vary; and it is not True alone, which is not 1."""
    if len(key) == 1 and isinstance(key[0], bool):
        return False
    return not any(isinstance(part, float | complex | np.inexact) or _is_inexact_tuple(part) for part in key)


def _is_unchanging(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(_is_unchanging, x))
    return x is None or isinstance(x, int | float | complex | str | np.generic)


def _is_inexact_tuple(part: Any) -> bool:
    return isinstance(part, tuple | frozenset) and not is_exact(tuple(part))


def shortest(rows: Sequence[Any]) -> int:
    """The number of elements of ``zip(*rows)``."""
    for row in rows:
        if not isinstance(row, np.ndarray | list | tuple | range | deque):
            raise RefusedType(
                "E0401", f"the columns of rows that hold a {type(row).__name__}; make each row a list, or an array"
            )
    return min(map(len, rows), default=0)


def places_of(items: Any) -> Any:
    """What ``for k in items`` runs through: the keys of a dict as they are now, any other container itself."""
    return list(items) if isinstance(items, dict) else items


def all_places(*shape: Any) -> list[tuple[int, ...]]:
    """The indices of all elements of an array of this shape, in the order of ``np.ndindex``."""
    return list(np.ndindex(*shape))


def dtype_of_first(made: Sequence[Any]) -> np.dtype[Any]:
    """The dtype of the array that NumPy puts the results of a function into: that of the first of them.

    Raises ``RefusedType`` of a function of several results.
    """
    if isinstance(made[0], tuple):
        raise RefusedType("E0205", "a function under np.vectorize returns a tuple: give each of its results a function")
    return np.asarray(made[0]).dtype


def argsorted(items: Any, reverse: bool = False) -> list[int]:
    """The positions of ``items`` in the order of ``sorted``, equals in their old order."""
    with _compared(items):
        return sorted(range(len(items)), key=places_of(items).__getitem__, reverse=reverse)


def are_numbers(items: Any) -> bool:
    """Whether items are compared by what they are, and by no method of the user's."""
    return all(type(item) in _NUMBERS for item in items)


@contextmanager
def _compared(items: Any) -> Iterator[None]:
    """Around comparisons of objects by methods of theirs, which are run as they are: they may store nothing."""
    before = contents([item for item in items if type(item) not in _NUMBERS])
    yield
    if not all(is_as_before(part, held) for part, held in before):
        raise RefusedType(
            "E0415", "objects are compared by a method that stores into them; sort by a key computed before"
        )


def gather(items: Any, places: Sequence[int]) -> list[Any]:
    """The items at ``places``; of the tangent of a dict, whose keys were sorted, the zeros that keys have."""
    if isinstance(items, dict):
        return [zeros_like(key) for key in gather(list(items), places)]
    return [items[place] for place in places]


def ungather(g: Any, items: Any, places: Sequence[int]) -> Any:
    """The cotangent of ``items`` where ``g`` is that of ``[items[p] for p in places]``."""
    result = zeros_like(items)
    if isinstance(items, dict):
        return result  # its keys were sorted
    for part, place in zip(g, places, strict=True):
        add_at(result, place, part)
    return result


def unarray(g: Any, object: Any) -> Any:
    """The cotangent of ``object``, a number, array or nested sequence, where ``g`` is that of ``np.array(object)``."""
    if isinstance(object, tuple | list | deque):
        if len(g) != len(object):
            raise ValueError(f"a cotangent of length {len(g)} does not fit a sequence of length {len(object)}")
        if type(g) is np.ndarray and g.ndim == 1 and g.dtype == np.float64 and set(map(type, object)) <= REAL:
            return g.tolist()
        return [unarray(part, item) for part, item in zip(g, object, strict=True)]
    if isinstance(object, dict):  # its copy is no array
        return {key: g.get(key) for key in object}
    if is_object(object):  # the copy of a list holds the same ones
        return g
    if not isinstance(object, np.ndarray) and zeros_like(object) is None:
        return None
    return unbroadcast(g, object)


def rearray(g: Any, like: Any) -> Any:
    """The array of a nested cotangent ``g``, None counting as zero, in the shape and dtype of ``like``."""
    if isinstance(like, dict):  # the copy of a dict
        return {key: g.get(key) for key in like}
    if isinstance(like, tuple | list | deque):  # or of a list
        return [rearray(part, item) for part, item in zip(g, like, strict=True)]
    if is_object(like):
        return g
    if not np.shape(like):
        return rebroadcast(g, like)
    try:
        made = np.asarray(g)
    except ValueError:  # None in place of a sequence
        made = None
    if made is not None and made.dtype.kind in "biufc" and made.shape == np.shape(like):
        return rebroadcast(made, like)
    return _fill(zeros_like(like), g)


def operand(x: Any) -> Any:
    """``x`` as NumPy computes with it: a list or tuple is made an array, a number keeps its kind.

    Raises ``RefusedType`` of a list or tuple of which NumPy makes an array of objects.
    """
    if not isinstance(x, tuple | list):
        return x
    made = np.array(x)
    if made.dtype.kind == "O" and any(is_object(item) or has_operators(type(item)) for item in made.flat):
        kind = type(x).__name__
        raise RefusedType(
            "E0418", f"NumPy makes an array of objects of a {kind} here, and objects in arrays have no derivative"
        )
    return made


def widened(x: Any, like: Any = None) -> Any:
    """An operand as formulas compute with it: integers of few bits, or without a sign, as floats of the dtype of the
    cotangent ``like``, or as ``int64``; lists as arrays; anything else as it is.

    >>> widened(np.array([200], np.uint8)) ** 2, widened(np.uint8(0), 1.0) - 1
    (array([40000]), np.float64(-1.0))
    """
    if isinstance(x, list | tuple):
        x = np.asarray(x)
    if not isinstance(x, np.ndarray | np.generic) or x.dtype.kind not in "biu":
        return x
    if x.dtype == np.int64 or like is None and x.dtype.kind == "b":
        return x
    dtype = getattr(like, "dtype", None)
    is_float = isinstance(dtype, np.dtype) and dtype.kind in "fc"
    return x.astype(np.int64 if like is None else np.finfo(dtype).dtype if is_float else np.float64)


def tolist(a: Any) -> Any:
    """``a.tolist()``, for numbers too."""
    return a.tolist() if isinstance(a, np.ndarray | np.generic) else a


def _fill(place: Any, g: Any) -> Any:
    if isinstance(g, tuple | list | deque):
        if len(g) != len(place):
            raise ValueError(f"a cotangent of length {len(g)} does not fit an array of length {len(place)}")
        for i, part in enumerate(g):
            if np.ndim(place) > 1:
                _fill(place[i], part)
            elif part is not None:
                place[i] = part
    elif g is not None:
        place[...] = g
    return place


def pack_like(parts: Sequence[Any], like: Any) -> Any:
    """The cotangent of ``like`` from those of its items: an array for an array, else a list; None is zero."""
    if len(parts) != len(like):
        raise ValueError(f"{len(parts)} cotangents do not fit a sequence of length {len(like)}")
    result = zeros_like(like)
    if isinstance(result, dict):
        raise TypeError("a dict is unpacked to its keys, which have no cotangent")
    for i, part in enumerate(parts):
        if type(part) is np.ndarray and isinstance(result, list) and np.shape(result[i]) == part.shape:
            result[i] = part  # items are replaced, never changed: no copy is needed
        else:
            add_at(result, i, part)
    return result


def unpack_like(g: Any, parts: Sequence[Any]) -> list[Any]:
    """The cotangents of ``parts`` where ``g`` is that of ``pack_like(parts, ...)``."""
    return [None if part is None else g[i] for i, part in enumerate(parts)]
