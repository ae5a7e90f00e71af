"""What the annotations of a function say of its arguments: ``x: float``, ``x: NDArray[np.float64]``.

Enters: a function.  Leaves: for each annotated parameter a sample, where a call with such an argument runs one program
whatever the argument is, or a fact.  Annotations choose which text is shown; what runs is decided by the arguments.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

from srcgrad.rules.facts import Array, Fact, Sequence, fact_of

_NUMBERS: dict[object, object] = {bool: True, int: 1, float: 1.0, complex: 1.0 + 0.0j}
_SIZE = 2  # of each axis of a sample: programs depend on how many axes there are alone


class Told(typing.NamedTuple):
    """What one annotation says."""

    sample: Any = None  # an argument of this kind, if there is only one kind
    fact: Fact | None = None


def told_by_annotations(function: Callable[..., Any]) -> Mapping[str, Told]:
    """What is said of each parameter; one whose annotation says nothing of use is left out."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # names that exist for type checkers only
        hints = {}
    found = {name: told for name, hint in hints.items() if name != "return" and (told := _told(hint, name))}
    return found


def _told(hint: Any, name: str) -> Told | None:
    if hint in _NUMBERS:
        return _sampled(_NUMBERS[hint], name)
    if isinstance(hint, type) and issubclass(hint, np.generic):
        return _scalar(hint, name)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _told(arguments[0], name)
    if hint is np.ndarray:
        return Told(fact=Array())
    if origin is np.ndarray and len(arguments) == 2:
        return _array(*arguments, name)
    if origin is tuple and arguments and not any(isinstance(a, EllipsisType) for a in arguments):
        items = [_told(a, f"{name}[{j}]") for j, a in enumerate(arguments)]
        if all(item is not None and item.sample is not None for item in items):
            return _sampled(tuple(item.sample for item in items if item is not None), name)
    if origin in (list, tuple) and arguments and (item := _told(arguments[0], name)) is not None:
        return Told(fact=Sequence(origin.__name__, None, item.fact))
    return None


def _array(shape: Any, dtype: Any, name: str) -> Told:
    """``np.ndarray[tuple[int, int], np.dtype[np.float64]]``; without how many axes there are, ``NDArray[...]``."""
    (scalar,) = typing.get_args(dtype) or (None,)
    kind = _scalar(scalar, name) if isinstance(scalar, type) and issubclass(scalar, np.generic) else None
    axes = typing.get_args(shape)
    has_rank = typing.get_origin(shape) is tuple and all(axis is int for axis in axes)
    if kind is None or kind.sample is None:
        return Told(fact=Array(tuple(None for _ in axes) if has_rank else None))
    if has_rank:
        return _sampled(np.ones((_SIZE,) * len(axes), type(kind.sample)), name)
    return Told(fact=Array(None, str(np.dtype(type(kind.sample)))))


def _scalar(kind: type[np.generic], name: str) -> Told | None:
    """A concrete class of NumPy's numbers; an abstract one (``np.floating``) says too little."""
    try:
        sample = kind(1)
    except TypeError:
        return None
    return _sampled(sample, name) if isinstance(sample, np.number | np.bool_) else None


def _sampled(sample: Any, name: str) -> Told:
    return Told(sample, fact_of(sample, name))
