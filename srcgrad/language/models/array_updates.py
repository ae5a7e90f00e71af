# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of what SciPy adds to NumPy's arrays in its layer between modules of arrays: updates at a place, functions
that are applied where a condition holds, diagonals.

>>> x = np.array([1.0, 2.0, 3.0])
>>> Place(x, 1).set(5.0) is x, Place(x)[x > 2.0].add(1.0, copy=True), x
(True, array([1., 6., 4.]), array([1., 5., 3.]))
>>> applied_where(x > 2.0, (x,), np.log, fill_value=0.0)
array([0.        , 1.60943791, 1.09861229])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.language.models.table import Absent, stands_for, unknown


def _own(made):
    """The class stands for one of a library that may not be installed, and so for itself."""
    return stands_for(made)(made)


@_own
@dataclass(frozen=True)
class Place:
    """``at``: a place of an array, which is stored into; of a number a copy is made."""

    whole: Any
    index: Any = Absent

    def __getitem__(self, index):
        if self.index is not Absent:
            raise ValueError("Index has already been set")
        return Place(self.whole, index)

    def set(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] = y
        return x

    def add(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] += y
        return x

    def subtract(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] -= y
        return x

    def multiply(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] *= y
        return x

    def divide(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] /= y
        return x

    def power(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] **= y
        return x

    def min(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] = np.minimum(x[self.index], y)
        return x

    def max(self, y, /, copy=None, xp=None):
        x = stored_into(self.whole, self.index, copy)
        x[self.index] = np.maximum(x[self.index], y)
        return x


def stored_into(x, index, copy):
    """The array that is stored into: of a number, a copy."""
    if index is Absent:
        raise ValueError("Index has not been set")
    return x if isinstance(x, np.ndarray) and not copy else np.array(x)


def applied_where(cond, args, f1, f2=None, /, *, fill_value=None, kwargs=None, xp=None):
    """A function of those elements for which a condition holds, and another one, or a value, of the others."""
    if (f2 is None) == (fill_value is None):
        raise TypeError("Exactly one of `fill_value` or `f2` must be given.")
    if kwargs is not None:
        return unknown()
    given = args if isinstance(args, tuple) else (args,)
    if len(given) == 1:
        return _of_one(cond, given[0], f1, f2, fill_value)
    if len(given) == 2:
        return _of_two(cond, given[0], given[1], f1, f2, fill_value)
    return unknown()


def _of_one(cond, one, f1, f2, fill_value):
    if f2 is not None:
        where, one = np.broadcast_arrays(cond, one)
        return _joined(where, f1(one[where]), f2(one[~where]))
    if isinstance(fill_value, (int, float, complex)):
        where, one = np.broadcast_arrays(cond, one)
        return _filled(where, f1(one[where]), fill_value)
    where, fill, one = np.broadcast_arrays(cond, fill_value, one)
    return _over(where, f1(one[where]), fill)


def _of_two(cond, one, other, f1, f2, fill_value):
    if f2 is not None:
        where, one, other = np.broadcast_arrays(cond, one, other)
        return _joined(where, f1(one[where], other[where]), f2(one[~where], other[~where]))
    if isinstance(fill_value, (int, float, complex)):
        where, one, other = np.broadcast_arrays(cond, one, other)
        return _filled(where, f1(one[where], other[where]), fill_value)
    where, fill, one, other = np.broadcast_arrays(cond, fill_value, one, other)
    return _over(where, f1(one[where], other[where]), fill)


def _joined(where, first, second):
    made = np.empty_like(where, dtype=np.result_type(first, second))
    made[~where] = second
    made[where] = first
    return made


def _filled(where, first, fill_value):
    made = np.full_like(where, fill_value, dtype=np.result_type(first, fill_value))
    made[where] = first
    return made


def _over(where, first, fill):
    made = np.array(fill, dtype=np.result_type(first, fill))
    made[where] = first
    return made


def with_diagonal(x, /, *, offset=0, xp=None):
    """A matrix with these numbers on a diagonal."""
    return np.diag(x, k=offset) if x.ndim == 1 else unknown()


FUNCTIONS: dict[str, Callable[..., Any]] = {"apply_where": applied_where, "create_diagonal": with_diagonal}
CLASSES: dict[str, type] = {"at": Place}
