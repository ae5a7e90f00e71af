"""Sums and multiples of results: numbers, arrays, and the containers and objects that hold them.

Unlike ``srcgrad.runtime.add``, whose sums are cotangents inside a program, these keep the structure that a result was
handed out in: a tuple stays a tuple, an object one of its class.

>>> added({"w": (1.0, None)}, {"w": (2.0, None)})
{'w': (3.0, None)}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime.objects import fields_of, is_object, mirrored


def added(left: Any, right: Any) -> Any:
    """The sum of two results of one structure; ``ValueError`` says how they are unlike."""
    return _joined(left, right, "")


def times(result: Any, factor: float) -> Any:
    """A result whose numbers are multiplied."""
    return _each(result, lambda number: number * factor)


def over(result: Any, divisor: float) -> Any:
    """A result whose numbers are divided."""
    return _each(result, lambda number: number / divisor)


def _joined(left: Any, right: Any, place: str) -> Any:
    if _is_number(left) and _is_number(right):
        if np.shape(left) != np.shape(right):
            raise ValueError(f"shapes {np.shape(left)} and {np.shape(right)} differ{_at(place)}")
        if any(np.asarray(number).dtype == bool for number in (left, right)):
            raise ValueError(f"truth values are not added{_at(place)}")
        return _alike(left + right, left)
    if left is None and right is None:
        return None
    if type(left) is not type(right):
        raise ValueError(f"one is {_named(left)}, the other {_named(right)}{_at(place)}")
    if isinstance(left, tuple | list | deque):
        if len(left) != len(right):
            raise ValueError(f"lengths {len(left)} and {len(right)} differ{_at(place)}")
        pairs = enumerate(zip(left, right, strict=True))
        return _remade(left, [_joined(a, b, f"{place}[{k}]") for k, (a, b) in pairs])
    if isinstance(left, dict):
        if left.keys() != right.keys():
            raise ValueError(f"keys {list(left)} and {list(right)} differ{_at(place)}")
        return {key: _joined(item, right[key], f"{place}[{key!r}]") for key, item in left.items()}
    if is_object(left):
        ours, theirs = fields_of(left), fields_of(right)
        if ours.keys() != theirs.keys():
            raise ValueError(f"fields {list(ours)} and {list(theirs)} differ{_at(place)}")
        return mirrored(left, {name: _joined(a, theirs[name], f"{place}.{name}") for name, a in ours.items()})
    raise ValueError(f"{_named(left)} cannot be added{_at(place)}")


def _each(result: Any, change: Callable[[Any], Any]) -> Any:
    if _is_number(result):
        return _alike(change(result), result)
    if isinstance(result, tuple | list | deque):
        return _remade(result, [_each(item, change) for item in result])
    if isinstance(result, dict):
        return {key: _each(item, change) for key, item in result.items()}
    if is_object(result):
        return mirrored(result, {name: _each(item, change) for name, item in fields_of(result).items()})
    return result


def _remade(like: Any, items: list[Any]) -> Any:
    if isinstance(like, list):
        return items
    if isinstance(like, deque):
        return deque(items, like.maxlen)
    return type(like)(*items) if hasattr(like, "_fields") else tuple(items)


def _is_number(value: Any) -> bool:
    """Whether arithmetic is NumPy's or Python's own: the truth value of an ``int | float`` counts as one."""
    return isinstance(value, int | float | complex | np.ndarray | np.generic)


def _alike(number: Any, like: Any) -> Any:
    """An array without dimensions stays one; NumPy's operators make a scalar of it."""
    return np.asarray(number) if isinstance(like, np.ndarray) else number


def _named(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def _at(place: str) -> str:
    return f" at {place}" if place else ""
