# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of methods of lists, dicts and deques that are compositions of others.

>>> held = {"a": 1}
>>> setdefault(held, "b", 2), pop(held, "a"), held
(2, 1, {'b': 2})
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque

from srcgrad.language.models.folds import sort
from srcgrad.language.models.table import Absent, models


@models(list.extend)
def extend(self, iterable, /):
    for item in tuple(iterable) if isinstance(iterable, (list, tuple)) else iterable:
        self.append(item)


@models(list.sort)
def sort_in_place(self, /, *, key=None, reverse=False):
    sort(self, key, reverse)


@models(list.index)
def index(self, value, start=0, stop=sys.maxsize, /):
    for place in range(*slice(start, stop).indices(len(self))):
        if place < len(self) and (self[place] is value or self[place] == value):
            return place
    raise ValueError("it is not in the list")


@models(list.pop)
def taken(self, index=-1, /):
    found = self[index]
    del self[index]
    return found


@models(deque.pop)
def last(self, /):
    return taken(self, -1)


@models(deque.popleft)
def first(self, /):
    return taken(self, 0)


@models(list.count)
def count(self, value, /):
    found = 0
    for item in self:
        if item is value or item == value:
            found = found + 1
    return found


@models(list.remove)
def remove(self, value, /):
    for place in range(len(self)):
        if place < len(self) and (self[place] is value or self[place] == value):
            del self[place]
            return
    raise ValueError("it is not in the list")


@models(set.update)
def add_all(self, *others):
    for other in others:
        for item in tuple(other) if other is self else other:
            self.add(item)


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


@models(dict.update, OrderedDict.update)
def update(self, other=(), /, **named):
    if isinstance(other, dict):
        for key, value in other.items():
            self[key] = value
    elif hasattr(other, "keys"):
        for key in other.keys():
            self[key] = other[key]
    else:
        for pair in other:
            key, value = pair
            self[key] = value
    for key, value in named.items():
        self[key] = value


@models(dict.fromkeys)
def from_keys(iterable, value=None, /):
    made = {}
    for key in iterable:
        made[key] = value
    return made


@models(dict.pop)
def pop(self, key, default=Absent, /):
    if default is not Absent and key not in self:
        return default
    found = self[key]
    del self[key]
    return found
