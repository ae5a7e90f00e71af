"""Dimensions as symbols: a fact as another function sees it.

Enters: a ``Fact`` whose dimensions are symbols of one function.  Leaves: the same fact for a callee or a caller::

    seen_from_inside(Array(("x.0",), "float64"), "u")     Array(("u.0",), "float64")
    without_symbols(Array(("x.0", 3), "float64"))         Array((None, 3), "float64")
"""

from __future__ import annotations

from dataclasses import replace

from srcgrad.rules.facts import Array, Fact, Mapping, Object, Sequence


def seen_from_inside(fact: Fact, name: str) -> Fact:
    """The fact of an argument as its callee sees it: dimensions are symbols of the callee's own."""
    match fact:
        case Array(shape=tuple() as shape):
            return replace(fact, shape=tuple(f"{name}.{axis}" for axis in range(len(shape))))
        case Sequence(items=tuple() as items):
            return replace(fact, items=tuple(seen_from_inside(item, f"{name}[{j}]") for j, item in enumerate(items)))
        case Sequence(item=item) if item is not None:
            return replace(fact, item=without_symbols(item))
        case Mapping(items=tuple() as items):
            return Mapping(tuple((key, seen_from_inside(item, f"{name}[{key!r}]")) for key, item in items))
        case Object(kind=kind, items=fields):
            return Object(kind, tuple((field, seen_from_inside(item, f"{name}.{field}")) for field, item in fields))
    return fact


def without_symbols(fact: Fact) -> Fact:
    """A fact with the dimensions forgotten that mean nothing outside the function that it was found in."""
    match fact:
        case Array(shape=tuple() as shape):
            return replace(fact, shape=tuple(n if isinstance(n, int) else None for n in shape))
        case Sequence(items=tuple() as items):
            return replace(fact, items=tuple(without_symbols(item) for item in items))
        case Sequence(item=item) if item is not None:
            return replace(fact, item=without_symbols(item))
        case Mapping(items=tuple() as items):
            return Mapping(tuple((key, without_symbols(item)) for key, item in items))
        case Object(kind=kind, items=fields):
            return Object(kind, tuple((field, without_symbols(item)) for field, item in fields))
    return fact
