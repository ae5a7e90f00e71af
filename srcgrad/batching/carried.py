"""Which parts of a value carry the batch: an axis in front of a number's or an array's own.

Enters: nothing.  Leaves: a ``Carried``, None for a value that is one for all examples.  Of a container it is said of
its parts, by place, by key, or of all alike::

    x                       Leaf()                       an array of shape (batch, *shape of an example)
    (w, x * w)              Items((None, Leaf()))
    [x, y, ...]             Each(Leaf())                 however long it is
    {"a": x}                Keys((("a", Leaf()),))

>>> join(Items((None, Leaf())), Items((Leaf(), None)))
Items(parts=(Leaf(), Leaf()))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import gast


class Unbatchable(Exception):
    """What has no batching rule: the function is run example by example.  Never leaves the package."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Leaf:
    """A number or an array, with the batch as its first axis."""


@dataclass(frozen=True)
class Items:
    """A tuple or list of so many parts."""

    parts: tuple[Carried, ...]


@dataclass(frozen=True)
class Each:
    """A tuple, list or dict of which all parts are alike."""

    part: Carried


@dataclass(frozen=True)
class Keys:
    """A dict with these constant keys."""

    parts: tuple[tuple[object, Carried], ...]


Carried: TypeAlias = Leaf | Items | Each | Keys | None
LEAF = Leaf()


def items(parts: Iterable[Carried]) -> Carried:
    """What a display of these carries."""
    made = tuple(parts)
    return Items(made) if any(part is not None for part in made) else None


def each(part: Carried) -> Carried:
    """What a container carries of which all parts carry this."""
    return None if part is None else Each(part)


def keys(parts: Iterable[tuple[object, Carried]]) -> Carried:
    """What a dict carries."""
    made = tuple(parts)
    return Keys(made) if any(part is not None for _, part in made) else None


def part_of(whole: Carried) -> Carried:
    """What any part of a container carries; the row of a batched array carries the batch too."""
    match whole:
        case Items(parts=parts):
            return joined(parts)
        case Keys(parts=parts):
            return joined(part for _, part in parts)
        case Each(part=part):
            return part
    return whole


def join(a: Carried, b: Carried) -> Carried:
    """What must be carried where either is: what lacks the batch there is repeated along it."""
    if a is None or b is None or a == b:
        return b if a is None else a
    match a, b:
        case Items(parts=one), Items(parts=other) if len(one) == len(other):
            return Items(tuple(map(join, one, other)))
        case Keys(parts=one), Keys(parts=other) if [k for k, _ in one] == [k for k, _ in other]:
            return Keys(tuple((k, join(v, w)) for (k, v), (_, w) in zip(one, other, strict=True)))
        case (Items() | Each()), (Items() | Each()):
            return Each(join(part_of(a), part_of(b)))
        case (Keys() | Each()), (Keys() | Each()):
            return Each(join(part_of(a), part_of(b)))
    raise Unbatchable("one variable holds an array here and a container there")


def joined(parts: Iterable[Carried]) -> Carried:
    """``join`` of several."""
    made: Carried = None
    for part in parts:
        made = join(made, part)
    return made


def written(carried: Carried) -> gast.expr:
    """A literal that says what a value carries, as ``runtime.repeated_parts`` reads it."""
    match carried:
        case None:
            return gast.Constant(False, None)
        case Leaf():
            return gast.Constant(True, None)
        case Items(parts=parts):
            return gast.Tuple([written(part) for part in parts], gast.Load())
        case Each(part=part):
            return gast.List([written(part)], gast.Load())
        case Keys(parts=entries):
            return gast.Dict([gast.Constant(key, None) for key, _ in entries], [written(part) for _, part in entries])
