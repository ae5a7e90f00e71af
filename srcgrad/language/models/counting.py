# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return,var-annotated"
"""Models of ``collections``: ``Counter``, ``defaultdict``, ``OrderedDict`` and ``ChainMap``.

What an object holds as a dict it holds in its model too, so that ``dict.__new__`` makes an empty one.

>>> made = counter("abca")
>>> most_common(made, 1), subtracted(made, counter("a")), type(made).__name__
([('a', 2)], Counter({'a': 1, 'b': 1, 'c': 1}), 'Counter')
"""

from __future__ import annotations

from collections import ChainMap, Counter, OrderedDict, defaultdict
from collections.abc import Mapping

from srcgrad.language.models.iterators import chain_from_iterable
from srcgrad.language.models.table import models, stands_for


# --- Counter ---------------------------------------------------------------------------------------------------------
@models(Counter)
def counter(iterable=None, /, **named):
    made = dict.__new__(Counter)
    count(made, iterable, **named)
    return made


@models(Counter.update)
def count(self, iterable=None, /, **named):
    if iterable is not None:
        _counted(self, iterable, True)
    if named:
        _counted(self, named, True)


@models(Counter.subtract)
def subtract(self, iterable=None, /, **named):
    if iterable is not None:
        _counted(self, iterable, False)
    if named:
        _counted(self, named, False)


def _counted(self, iterable, adds):
    if isinstance(iterable, Mapping) and adds and not self:
        for item, number in iterable.items():
            self[item] = number
    elif isinstance(iterable, Mapping):
        for item, number in iterable.items():
            self[item] = number + self.get(item, 0) if adds else self.get(item, 0) - number
    else:
        for item in iterable:
            self[item] = self.get(item, 0) + 1 if adds else self.get(item, 0) - 1


@models(Counter.copy)
def copied(self):
    made = dict.__new__(Counter)
    for item, number in self.items():
        made[item] = number
    return made


@models(Counter.most_common)
def most_common(self, n=None):
    rows = sorted(self.items(), key=lambda row: row[1], reverse=True)
    return rows if n is None else rows[: max(n, 0)]


@models(Counter.elements)
def elements(self):
    return chain_from_iterable([item] * number for item, number in self.items())


@models(Counter.total)
def total(self):
    return sum(self.values())


@models(Counter.__add__)
def added(self, other):
    made = dict.__new__(Counter)
    for item, number in self.items():
        _keep(made, item, number + other[item])
    for item, number in other.items():
        if item not in self:
            _keep(made, item, number)
    return made


@models(Counter.__sub__)
def subtracted(self, other):
    made = dict.__new__(Counter)
    for item, number in self.items():
        _keep(made, item, number - other[item])
    for item, number in other.items():
        if item not in self and number < 0:
            made[item] = 0 - number
    return made


@models(Counter.__or__)
def united(self, other):
    made = dict.__new__(Counter)
    for item, number in self.items():
        second = other[item]
        _keep(made, item, second if number < second else number)
    for item, number in other.items():
        if item not in self:
            _keep(made, item, number)
    return made


@models(Counter.__and__)
def intersected(self, other):
    made = dict.__new__(Counter)
    for item, number in self.items():
        second = other[item]
        _keep(made, item, number if number < second else second)
    return made


def _keep(made, item, number):
    if number > 0:
        made[item] = number


@models(Counter.__pos__)
def positive(self):
    made = dict.__new__(Counter)
    for item, number in self.items():
        _keep(made, item, number)
    return made


@models(Counter.__neg__)
def negative(self):
    made = dict.__new__(Counter)
    for item, number in self.items():
        if number < 0:
            made[item] = 0 - number
    return made


@models(Counter.__iadd__)
def add(self, other):
    for item, number in other.items():
        self[item] = self[item] + number
    return _positive_alone(self)


@models(Counter.__isub__)
def take(self, other):
    for item, number in other.items():
        self[item] = self[item] - number
    return _positive_alone(self)


@models(Counter.__ior__)
def raise_to(self, other):
    for item, number in other.items():
        if number > self[item]:
            self[item] = number
    return _positive_alone(self)


@models(Counter.__iand__)
def lower_to(self, other):
    for item, number in self.items():
        if other[item] < number:
            self[item] = other[item]
    return _positive_alone(self)


def _positive_alone(self):
    for item in [item for item, number in self.items() if not number > 0]:
        del self[item]
    return self


# --- defaultdict -----------------------------------------------------------------------------------------------------
@models(defaultdict)
def default(default_factory=None, /, *given, **named):
    if default_factory is not None and not callable(default_factory):
        raise TypeError("the first argument must be callable or None")
    made = defaultdict.__new__(defaultdict)
    made.default_factory = default_factory
    dict.update(made, *given, **named)
    return made


@models(defaultdict.__missing__)
def missing(self, key, /):
    if self.default_factory is None:
        raise KeyError(key)
    made = self.default_factory()
    self[key] = made
    return made


# --- OrderedDict -----------------------------------------------------------------------------------------------------
@models(OrderedDict)
def ordered(*given, **named):
    made = OrderedDict.__new__(OrderedDict)
    made.update(*given, **named)
    return made


@models(OrderedDict.move_to_end)
def move_to_end(self, key, last=True):
    value = self[key]
    del self[key]
    if last:
        self[key] = value
        return
    others = list(self.items())
    self.clear()
    self[key] = value
    for other, held in others:
        self[other] = held


# --- ChainMap --------------------------------------------------------------------------------------------------------
@stands_for(ChainMap)
class Chained:
    def __init__(self, *maps):
        self.maps = list(maps) if maps else [{}]

    def __getitem__(self, key):
        for held in self.maps:
            if type(held) is dict or type(held) is OrderedDict:
                if key in held:
                    return held[key]
            else:  # it may make what it does not hold
                try:
                    return held[key]
                except KeyError:
                    pass
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in held for held in self.maps)

    def __bool__(self):
        return any(self.maps)

    def __iter__(self):
        return iter(_joined(self.maps))

    def __len__(self):
        return len(_joined(self.maps))

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def pop(self, key, *default):
        return self.maps[0].pop(key, *default)

    def clear(self):
        self.maps[0].clear()

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])

    def new_child(self, m=None, **named):
        first = named if m is None else m
        if m is not None and named:
            first.update(named)
        return ChainMap(first, *self.maps)


def _joined(maps):
    made = {}
    for held in reversed(maps):
        for key in held:
            made[key] = None
    return made
