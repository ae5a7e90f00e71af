"""What a loop runs over, when it can be indexed: the plan of its elements.

Enters: nothing; ``frontend.loops`` makes the plans.  ``enumerate(zip(xs, range(3)))`` is
``Counted(Zipped((Items("xs"), Numbers((3,)))), None)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.frontend.desugar.build import constant, placed


@dataclass(frozen=True)
class Items:
    """The elements of a sequence that a local name holds."""

    name: str


@dataclass(frozen=True)
class Numbers:
    """``range(start, ..., step)``; its arguments are settled."""

    arguments: tuple[gast.expr, ...]


@dataclass(frozen=True)
class Counted:
    """``enumerate(inner, start)``."""

    inner: Plan
    start: gast.expr | None


@dataclass(frozen=True)
class Zipped:
    inner: tuple[Plan, ...]
    strict: bool = False


@dataclass(frozen=True)
class Reversed:
    inner: Plan


@dataclass(frozen=True)
class Entries:
    """A dict's values, or its keys and values; ``keys`` is a local list of its keys."""

    mapping: str
    keys: str
    pairs: bool


@dataclass(frozen=True)
class Elements(Entries):
    """``np.ndenumerate(array)``: ``keys`` is a local list of its indices, tuples."""


@dataclass(frozen=True)
class Mapped:
    """``map(function, inner...)``."""

    function: gast.expr
    inner: tuple[Plan, ...]


@dataclass(frozen=True)
class Columns:
    """``zip(*rows)``: ``rows`` is a list of the loop's own, ``count`` the length of the shortest row, evaluated."""

    rows: str
    count: gast.expr


Plan = Items | Numbers | Counted | Zipped | Reversed | Entries | Mapped | Columns


def mapped_by(plan: Plan) -> list[gast.expr]:
    """The functions that elements are made by."""
    match plan:
        case Counted(inner=inner) | Reversed(inner=inner):
            return mapped_by(inner)
        case Zipped(inner=several):
            return [function for one in several for function in mapped_by(one)]
        case Mapped(function=function, inner=several):
            return [function, *(function for one in several for function in mapped_by(one))]
    return []


def lettered(node: gast.expr) -> gast.expr:
    """Text beside other things is a tuple of its letters: it carries no derivative, but what is beside it may."""
    if not isinstance(node, gast.Constant) or not isinstance(node.value, str):
        return node
    return placed(gast.Tuple([constant(letter, node) for letter in node.value], gast.Load()), node)
