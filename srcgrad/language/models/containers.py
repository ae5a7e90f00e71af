# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of methods of lists, dicts and deques that are compositions of others.

>>> held = {"a": 1}
>>> setdefault(held, "b", 2), pop(held, "a"), held
(2, 1, {'b': 2})
"""

from __future__ import annotations

from collections import deque

from srcgrad.language.models.folds import sort
from srcgrad.language.models.table import Absent, models


@models(list.extend)
def extend(self, iterable, /):
    for item in tuple(iterable) if isinstance(iterable, list | tuple) else iterable:
        self.append(item)


@models(list.sort)
def sort_in_place(self, /, *, key=None, reverse=False):
    sort(self, key, reverse)


@models(deque.extend)
def extend_right(self, iterable, /):
    for item in tuple(iterable) if iterable is self else iterable:
        self.append(item)


@models(deque.extendleft)
def extend_left(self, iterable, /):
    for item in tuple(iterable) if iterable is self else iterable:
        self.appendleft(item)


@models(dict.get)
def get(self, key, default=None, /):
    return self[key] if key in self else default


@models(dict.setdefault)
def setdefault(self, key, default=None, /):
    if key not in self:
        self[key] = default
    return self[key]


@models(dict.pop)
def pop(self, key, default=Absent, /):
    if default is not Absent and key not in self:
        return default
    found = self[key]
    del self[key]
    return found
