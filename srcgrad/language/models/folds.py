# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"
"""Models of built-in functions that go over all items: ``sum``, ``any``, ``all``, ``min``, ``max``, ``sorted``.

>>> total([1, 2], 0.5), largest([3, -4], key=abs), ordered([3, -4, 1], key=abs, reverse=True)
(3.5, -4, [-4, 3, 1])
"""

from __future__ import annotations

import math

from srcgrad.language.models.table import Absent, models
from srcgrad.runtime.containers import are_numbers, argsorted


@models(sum)
def total(iterable, /, start=0):
    if isinstance(start, (str, bytes, bytearray)):
        raise TypeError("sum() cannot sum text")
    made = start
    for item in iterable:
        made = made + item
    return made


@models(math.prod)
def multiplied(iterable, /, *, start=1):
    made = start
    for item in iterable:
        made = made * item
    return made


@models(any)
def some(iterable, /):
    for item in iterable:
        if item:
            return True
    return False


@models(all)
def each(iterable, /):
    for item in iterable:
        if not item:
            return False
    return True


@models(max)
def largest(*values, key=None, default=Absent):
    return _extreme(values, key, default, lambda one, other: one > other)


@models(min)
def smallest(*values, key=None, default=Absent):
    return _extreme(values, key, default, lambda one, other: one < other)


def _extreme(values, key, default, is_beyond):
    if not values:
        raise TypeError("max() and min() take an argument at least")
    if len(values) > 1 and default is not Absent:
        raise TypeError("there is no default of several arguments")
    given = values[0] if len(values) == 1 else values
    if type(given) is list or type(given) is tuple:  # others may say themselves what their items are
        return _extreme_of_places(given, key, default, is_beyond)
    items = iter(given)
    found = next(items, Absent)
    if found is Absent:
        if default is Absent:
            raise ValueError("max() and min() of an empty iterable have no value")
        return default
    found_key = found if key is None else key(found)
    for item in items:
        item_key = item if key is None else key(item)
        if is_beyond(item_key, found_key):
            found, found_key = item, item_key
    return found


def _extreme_of_places(items, key, default, is_beyond):
    """The same of a list or tuple, item by item, as long as there are more."""
    if not items:
        if default is Absent:
            raise ValueError("max() and min() of an empty iterable have no value")
        return default
    found = items[0]
    found_key = found if key is None else key(found)
    for place, item in enumerate(items):
        if place > 0:
            item_key = item if key is None else key(item)
            if is_beyond(item_key, found_key):
                found, found_key = item, item_key
    return found


@models(sorted)
def ordered(iterable, /, *, key=None, reverse=False):
    items = list(iterable)
    return [items[place] for place in order_of(items, key, reverse)]


def sort(items, key, reverse):
    """Sort a list in place; equal items keep their order."""
    before = list(items)
    for place, chosen in enumerate(order_of(items, key, reverse)):
        items[place] = before[chosen]


def order_of(items, key, reverse):
    """The places of items in their order.  Where a method of the user's may compare them, each is looked for its place
    among those before it."""
    keys = [item if key is None else key(item) for item in items]
    if are_numbers(keys):
        return argsorted(keys, reverse)
    order = []
    for place in range(len(keys)):
        first, last = 0, place
        while first < last:
            middle = (first + last) // 2
            if keys[order[middle]] < keys[place] if reverse else keys[place] < keys[order[middle]]:
                last = middle
            else:
                first = middle + 1
        order.insert(first, place)
    return order
