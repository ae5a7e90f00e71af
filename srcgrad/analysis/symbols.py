"""Dimensions as symbols: facts as another function sees them.

Enters: the facts of the arguments of a call, whose dimensions are symbols of the caller.  Leaves: the same for the
callee, in symbols of its own, and how what it returns is read back::

    seen = seen_from_inside((Array(("#3", "t.0")), Array(("#3",))), ("u", "v"))
    seen.inside                          (Array(("#2", "u.1")), Array(("#2",)))
    seen.outside(Array(("#2", 3)))       Array(("#3", 3))

Symbols are renumbered, so that calls whose dimensions are equal in the same places have one callee.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Listed
from dataclasses import dataclass, field, replace

from srcgrad.rules.facts import (
    Array,
    Dimension,
    Fact,
    Object,
    Sequence,
    Unknown,
    is_natural,
    is_size,
    shortened,
    size,
    taken_apart,
)
from srcgrad.rules.facts import Mapping as Items

_Renaming = Callable[[Dimension, str | None], Dimension]


@dataclass(frozen=True)
class Seen:
    """The facts of a call's arguments as the callee sees them, and the caller's dimension for each of its symbols."""

    inside: tuple[Fact, ...]
    symbols: Mapping[str, Dimension] = field(default_factory=dict)

    def outside(self, fact: Fact) -> Fact:
        """The fact of a result as the caller sees it; dimensions that only the callee can tell are forgotten."""

        def read_back(dimension: Dimension, _: str | None) -> Dimension:
            if not isinstance(dimension, str):
                return dimension
            if dimension in self.symbols:
                return self.symbols[dimension]
            whole, cut = taken_apart(dimension)
            return shortened(self.symbols.get(whole), cut)

        return renamed(fact, None, read_back)


def seen_from_inside(facts: Listed[Fact], names: Listed[str], *, apart: bool = False) -> Seen:
    """The facts of arguments as the callee sees them, whose parameters have these names.

    ``apart``: nothing is said of which dimensions are equal, or 0 or 1.
    """
    cuts: dict[Dimension, set[int]] = {}
    inner: dict[Dimension, str] = {}
    outer: dict[str, Dimension] = {}

    def noted(dimension: Dimension, _: str | None) -> Dimension:
        if isinstance(dimension, str):
            whole, cut = taken_apart(dimension)
            cuts.setdefault(whole, set()).add(cut)
        return dimension

    def own(dimension: Dimension, place: str | None) -> Dimension:
        if apart or dimension is None:
            if place is not None:
                outer[place] = dimension
            return place
        if isinstance(dimension, int) and dimension < 2:
            return dimension
        whole, cut = taken_apart(dimension) if isinstance(dimension, str) else (dimension, 0)
        if cuts.get(whole) == {cut}:  # a length of its own: a recursion that cuts off more has the same callee
            whole, cut = dimension, 0
        if whole not in inner:
            is_large = isinstance(whole, int) or is_size(whole)
            symbol = size(2 + sum(map(is_size, outer))) if is_large else place
            if symbol is None:
                return None
            inner[whole], outer[symbol] = symbol, whole
        return shortened(inner[whole], cut)

    for fact in facts:
        renamed(fact, None, noted)
    inside = tuple(renamed(fact, name, own) for fact, name in zip(facts, names, strict=True))
    return Seen(inside, outer)


def unknown(facts: Listed[Fact]) -> Seen:
    """Nothing is said of the arguments."""
    return Seen(tuple(Unknown() for _ in facts))


def renamed(fact: Fact, name: str | None, dimension: _Renaming) -> Fact:
    """A fact with each of its dimensions put through a function, which is given a symbol for the place as well: None in
    what is said of every item of a sequence, since a symbol means one number."""

    def part(fact: Fact, key: str) -> Fact:
        return renamed(fact, None if name is None else name + key, dimension)

    match fact:
        case Array(shape=tuple() as shape):
            places = [None if name is None else f"{name}.{axis}" for axis in range(len(shape))]
            if fact.scalar and fact.dtype == "int":
                return replace(fact, value=_renamed_value(fact.value, None if name is None else f"{name}.v", dimension))
            return replace(fact, shape=tuple(map(dimension, shape, places)))
        case Sequence(items=tuple() as items):
            return replace(fact, items=tuple(part(item, f"[{j}]") for j, item in enumerate(items)))
        case Sequence(item=item) if item is not None:
            return replace(fact, item=renamed(item, None, dimension))
        case Items(items=tuple() as entries):
            return Items(tuple((key, part(item, f"[{key!r}]")) for key, item in entries))
        case Object(kind=kind, items=fields):
            return Object(kind, tuple((key, part(item, f".{key}")) for key, item in fields))
    return fact


def _renamed_value(value: Dimension, place: str | None, dimension: _Renaming) -> Dimension:
    """The same for an integer, which may be less than a dimension that is spelled alike: -1 for ``x.0-1``."""
    is_cut = isinstance(value, str) and taken_apart(value)[1] > 0
    made = dimension(value if not is_cut or is_natural(value) else None, place)
    return made if isinstance(made, str) or not is_cut else None
