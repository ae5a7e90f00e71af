"""One layout in memory for arrays that have come different ways.

BLAS adds in another order for another layout: of a transposed matrix, of one with gaps between its rows, of one whose
elements do not lie at multiples of their size, which is how they lie in a message of Dask's.  So that the way changes
no bit, a worker of any kind, threads included, brings what it computes with into the layout in which arrays arrive when
they are pickled: rows one after the other, or columns where the array has them so.

>>> x = np.ones((4, 6))
>>> [laid_out(a).strides for a in (x, x.T, x[:, ::2], x[1:])]
[(48, 8), (8, 48), (24, 8), (48, 8)]
"""

from __future__ import annotations

import copy
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from srcgrad.runtime.objects import fields_of, is_object

_ATOMIC = (bool, int, float, complex, str, bytes, type(None), object)
_SHARED = FunctionType | BuiltinFunctionType | ModuleType | type | np.ufunc


class Copies:
    """Copies of values, with ``array(a)`` for an array a; what is one object stays one, in all of them together."""

    def __init__(self, array: Callable[[Any], Any], *, whole: bool) -> None:
        self._array = array
        self._whole = whole  # also of what holds no arrays
        self._memo: dict[int, Any] = {}
        self._alive: list[Any] = []  # so that no other object gets the identity of one of them

    def __call__(self, value: Any) -> Any:
        """The copy of a value; what cannot be copied stands for itself."""
        if type(value) in _ATOMIC or isinstance(value, _SHARED):  # an object without a class of its own is a mark
            return value
        if id(value) in self._memo:
            return self._memo[id(value)]
        self._alive.append(value)
        if isinstance(value, np.ndarray):
            made = self._array(value)
            if value.dtype.hasobject:
                made = value.copy()
                made[...] = np.frompyfunc(self, 1, 1)(value)
        elif isinstance(value, tuple):
            parts = [self(part) for part in value]
            same = all(part is before for part, before in zip(parts, value, strict=True))
            made = value if same else _tuple(type(value), parts)
        elif isinstance(value, list | deque | dict):
            made = self._memo[id(value)] = _emptied(value)
            if isinstance(value, list):
                list.extend(made, map(self, list.__iter__(value)))
            elif isinstance(value, deque):
                deque.extend(made, map(self, deque.__iter__(value)))
            else:
                for key, part in dict.items(value):
                    dict.__setitem__(made, self(key), self(part))
            for name, part in getattr(value, "__dict__", {}).items():
                made.__dict__[name] = self(part)
        elif is_object(value) and (made := _blank(type(value))) is not None:
            self._memo[id(value)] = made
            for name, part in fields_of(value).items():
                object.__setattr__(made, name, self(part))
        elif isinstance(value, MethodType):
            made = MethodType(value.__func__, self(value.__self__))
        elif type(value) is partial:
            words = {name: self(part) for name, part in value.keywords.items()}
            made = partial(self(value.func), *map(self, value.args), **words)
        else:
            made = self._other(value)
        self._memo[id(value)] = made
        return made

    def _other(self, value: Any) -> Any:
        if not self._whole:
            return value
        try:
            return copy.deepcopy(value, self._memo)
        except Exception:  # whatever its class does: a lock, a file
            return value


def _tuple(kind: type, parts: list[Any]) -> Any:
    make: Any = getattr(kind, "_make", None)
    return tuple.__new__(kind, parts) if make is None else make(parts)


def _emptied(value: Any) -> Any:
    """A container of the same class without items; no method of the user's runs."""
    base: Any = next(kind for kind in type(value).__mro__ if kind.__module__ in ("builtins", "collections"))
    made = base.__new__(type(value))
    if isinstance(value, deque):
        deque.__init__(made, (), value.maxlen)
    if isinstance(value, defaultdict):
        made.default_factory = value.default_factory
    return made


def _blank(kind: type) -> Any:
    """An object without fields; None where only its class can make one."""
    base: Any = SimpleNamespace if issubclass(kind, SimpleNamespace) else object
    try:
        return base.__new__(kind)
    except TypeError:
        return None


def _in_layout() -> Copies:
    return Copies(lambda array: array if _is_regular(array) else _copy(array), whole=False)


def snapshot() -> Copies:
    """Copies values that belong together, as they are now, laid out so.  An array of a file that is only read stays
    what it is."""
    return Copies(lambda array: array if _is_read_only_file(array) else _copy(array), whole=True)


def laid_out(value: Any) -> Any:
    """The value itself where its arrays are laid out so, else one like it with copies of those that are not."""
    return value if _is_laid_out(value, set()) else _in_layout()(value)


def _is_read_only_file(array: np.ndarray[Any, Any]) -> bool:
    return isinstance(array, np.memmap) and array.mode == "r"


def _copy(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    return np.array(array, order="F" if by_columns else "C", copy=True, subok=True)


def _is_laid_out(value: Any, seen: set[int]) -> bool:
    if isinstance(value, np.ndarray):
        return _is_regular(value)
    if isinstance(value, tuple | list | deque):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    elif is_object(value):
        parts = list(fields_of(value).values())
    else:
        return True
    if id(value) in seen:
        return True
    seen.add(id(value))
    return all(_is_laid_out(part, seen) for part in parts)


def _is_regular(array: np.ndarray[Any, Any]) -> bool:
    """Whether elements lie as in a new array; of axes of length 1 the strides say nothing, and BLAS reads them."""
    if array.dtype.hasobject:
        return True
    if not array.flags.aligned or not (array.flags.c_contiguous or array.flags.f_contiguous):
        return False
    order = reversed(range(array.ndim)) if array.flags.c_contiguous else range(array.ndim)
    stride = array.itemsize
    for axis in order:
        if array.strides[axis] != stride:
            return array.size == 0
        stride *= array.shape[axis]
    return True
