"""The operators of followed values, and who is asked where an object of a user's class stands beside one.

Python asks the number first, and the object where the number does not answer.  NumPy's numbers and arrays ask some
objects themselves (``__array_ufunc__``, ``__array__``): what those make is not followed, and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

_KNOWN = (np.ndarray, np.generic, Number, list, tuple, str)
_NONE = object()


class NotFollowed(BaseException):
    """What a program does is not followed eagerly: no ``except`` of the program's own catches this."""


class Operators:
    """What a followed value answers to ``+``, ``<``, ``divmod`` and their kin."""

    __slots__ = ()
    raw: Any
    array: Any

    def _apply(self, function: Callable[..., Any], *given: Any) -> Any:
        """What the function makes, recorded."""
        raise NotImplementedError

    def _replace(self, change: Callable[[np.ndarray, Any], Any], other: Any, made: Any) -> None:
        """Change the array in place, which then holds what was ``made``."""
        raise NotImplementedError


def _asks(value: Operators, other: Any, reflected: str) -> bool:
    """Whether ``value`` leaves an operation to the class of an object beside it."""
    if isinstance(other, (Operators, *_KNOWN)):
        return False
    kind = type(other)
    ufunc = getattr(kind, "__array_ufunc__", _NONE)
    if ufunc is None or type(value.raw) in (bool, int, float, complex):
        return hasattr(kind, reflected)
    if ufunc is not _NONE or hasattr(kind, "__array__"):
        raise NotFollowed(f"how NumPy computes with an object of class {kind.__name__} is not followed")
    return np.ndim(value.raw) == 0 and hasattr(kind, reflected)


def _forward(function: Callable[..., Any], reflected: str) -> Callable[..., Any]:
    def apply(self: Operators, other: Any) -> Any:
        return NotImplemented if _asks(self, other, reflected) else self._apply(function, self, other)

    return apply


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self._apply(function, other, self)


def _in_place(function: Callable[..., Any], reflected: str, change: Callable[..., Any]) -> Callable[..., Any]:
    def apply(self: Operators, other: Any) -> Any:
        if self.array is None or _asks(self, other, reflected):
            return NotImplemented
        if not self.array.flags.writeable:
            return change(self.array, other)  # which raises
        self._replace(change, other, self._apply(function, self, other))
        return self

    return apply


def _simple(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: self._apply(function, self, *others)


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
_FUNCTIONS = {name: getattr(operator, f"{name}_" if name in ("and", "or") else name) for name in _BINARY}
for _name, _function in {**_FUNCTIONS, "divmod": divmod}.items():
    setattr(Operators, f"__{_name}__", _forward(_function, f"__r{_name}__"))
    setattr(Operators, f"__r{_name}__", _reflected(_function))
for _name, _function in _FUNCTIONS.items():
    setattr(Operators, f"__i{_name}__", _in_place(_function, f"__r{_name}__", getattr(operator, f"i{_name}")))
for _name, _reflected_name in {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.items():
    setattr(Operators, f"__{_name}__", _forward(getattr(operator, _name), f"__{_reflected_name}__"))
for _name in "invert neg pos".split():
    setattr(Operators, f"__{_name}__", _simple(getattr(operator, _name)))
