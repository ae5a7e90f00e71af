"""The fact of ``base[index]``: arrays, containers, strings.

Enters: the fact of the base and the expression of the index.  Leaves: the fact of the element or part::

    x[i, None, 1:]        with x: Array(("x.0", "x.1"), "float64")     Array((1, None), "float64")
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from srcgrad.analysis.literals import INTEGER, TEXT, fact_of_constant, is_integer, literal
from srcgrad.rules.facts import (
    Array,
    Dimension,
    Fact,
    Mapping,
    Sequence,
    Static,
    Unknown,
    broadcast,
    element,
    is_natural,
    join,
    number,
    shortened,
    taken_apart,
)
from srcgrad.syntax.globals import GlobalReference

Inner = Callable[[gast.expr], Fact]


def joined(facts: list[Fact]) -> Fact:
    """What is true of a value that is any one of these."""
    made = facts[0]
    for fact in facts[1:]:
        made = join(made, fact)
    return made


def indexed(base: Fact, index: gast.expr, inner: Inner) -> Fact:
    """``base[index]``."""
    match base:
        case Array():
            return _array_at(base, index, inner)
        case Sequence():
            return _item(base, index, inner)
        case Mapping(items=tuple() as items):
            try:
                key = literal(index)
            except ValueError:
                return joined([fact for _, fact in items]) if items else Unknown()
            return next((fact for k, fact in items if k == key and type(k) is type(key)), Unknown())
        case Static(str()):
            return TEXT
    return Unknown()


def _item(base: Sequence, index: gast.expr, inner: Inner) -> Fact:
    if isinstance(index, gast.Slice):
        try:
            parts = slice(*(None if p is None else literal(p) for p in (index.lower, index.upper, index.step)))
        except ValueError:
            return Sequence(base.kind, None, element(base))
        if base.items is None:
            return base
        try:
            return Sequence(base.kind, base.items[parts])  # type: ignore[index]
        except (TypeError, ValueError):  # as it does where the program runs
            return Unknown()
    try:
        position = literal(index)
    except ValueError:
        return element(base) if is_integer(inner(index)) else Unknown()
    if not isinstance(position, int):
        return Unknown()
    if base.items is None:
        return element(base)
    return base.items[position] if -len(base.items) <= position < len(base.items) else Unknown()


def _array_at(base: Array, index: gast.expr, inner: Inner) -> Fact:
    """NumPy's indexing: integers drop an axis, slices keep it, None makes one, arrays and masks put theirs in."""
    unknown = Array(None, base.dtype)
    if base.shape is None:
        return unknown
    parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    kinds = [_part(part, inner) for part in parts]
    if any(k is None for k in kinds):
        return unknown
    read = sum(_axes(k) for k in kinds if k is not None)
    dots = [j for j, k in enumerate(kinds) if k is Ellipsis]
    if read > len(base.shape) or len(dots) > 1:
        return unknown
    missing: list[object] = [slice(None)] * (len(base.shape) - read)
    at = dots[0] if dots else len(kinds)
    kinds = [*kinds[:at], *missing, *kinds[at + 1 :]]
    fancy = [j for j, k in enumerate(kinds) if isinstance(k, Array) and not _is_plain(k)]
    chosen = [j for j, k in enumerate(kinds) if isinstance(k, Array)] if fancy else []
    shape: list[Dimension] = []
    axis = 0
    for j, kind in enumerate(kinds):
        if fancy and (j == chosen[0] if chosen[-1] - chosen[0] + 1 == len(chosen) else j == 0):
            together = _together([kinds[c] for c in chosen])
            if together is None:
                return unknown
            shape += together
        match kind:
            case None:
                return unknown
            case slice():
                shape.append(_sliced(base.shape[axis], kind))
            case np.newaxis | "newaxis":
                shape.append(1)
        axis += _axes(kind)
    return Array(tuple(shape), base.dtype, scalar=not shape and not fancy and not dots)


def _part(part: gast.expr, inner: Inner) -> object:
    """A part of an index: a slice, ``Ellipsis``, ``"newaxis"``, the fact of an integer or array, None if not known."""
    if isinstance(part, gast.Call) and isinstance(part.func, GlobalReference) and part.func.binding.value is slice:
        given = [None, *part.args] if len(part.args) == 1 else [*part.args, None]
        part = gast.Slice(given[0], given[1], given[2] if len(given) > 2 else None)
    if isinstance(part, gast.Slice):
        return slice(*[_bound(bound, inner) for bound in (part.lower, part.upper, part.step)])
    try:
        value = literal(part)
    except ValueError:
        value = "unknown"
    if value is None:
        return "newaxis"
    if value is Ellipsis:
        return Ellipsis
    if isinstance(value, list) or value == "unknown":
        fact = inner(part) if value == "unknown" else fact_of_constant(np.asarray(value))
        is_index = isinstance(fact, Array) and fact.shape is not None and (is_integer(fact) or fact.dtype == "bool")
        return fact if is_index else None
    return INTEGER if type(value) is int else None


def _bound(bound: gast.expr | None, inner: Inner) -> object:
    """A bound of a slice: a literal, the symbol of an integer that is a dimension, or ``Ellipsis``, not known."""
    try:
        return None if bound is None else literal(bound)
    except ValueError:
        fact = inner(bound)
        return fact.value if isinstance(fact, Array) and fact.value is not None else Ellipsis


def _is_plain(fact: Array) -> bool:
    """A single integer, which drops an axis."""
    return fact.shape == () and fact.dtype != "bool" and fact.scalar


def _axes(kind: object) -> int:
    """How many axes of the base a part of an index stands for."""
    if isinstance(kind, Array):
        return len(kind.shape or ()) if kind.dtype == "bool" else 1
    return int(isinstance(kind, slice))


def _together(kinds: list[object]) -> list[Dimension] | None:
    """The axes that integer arrays and masks put in the place of those they read."""
    made = number("int")
    for kind in kinds:
        assert isinstance(kind, Array)
        if kind.dtype == "bool":
            kind = Array((None,), "int")
        made = broadcast(made, Array(kind.shape, "int", kind.scalar))
    return None if made.shape is None else list(made.shape)


def _sliced(dimension: Dimension, part: slice) -> Dimension:
    if part == slice(None):
        return dimension
    if isinstance(dimension, int) and all(p is None or isinstance(p, int) for p in (part.start, part.stop, part.step)):
        return len(range(dimension)[part])
    if isinstance(part.stop, str) and part.step in (None, 1):
        return _up_to(dimension, part.stop, 0 if part.start is None else part.start)
    return _cut_off(dimension, part) if isinstance(dimension, str) else None


def _up_to(dimension: Dimension, stop: str, start: object) -> Dimension:
    """``x[1:n]``, where n is the length of x or what is left of it."""
    if type(start) is not int or start < 0 or not isinstance(dimension, str):
        return None
    whole, before = taken_apart(dimension)
    same, cut = taken_apart(stop)
    is_known = dimension == stop and not cut or is_natural(dimension) and is_natural(stop)
    return shortened(whole, max(before, cut) + start) if whole == same and is_known else None


def _cut_off(symbol: str, part: slice) -> Dimension:
    """``x.0-2``, which is max(0, n - 2), for ``x[1:-1]``, ``x[2:]`` and ``x[:-2]``: what they cut off counts, at
    either end, and a slice that is asked for more than there is is empty."""
    first = 0 if part.start is None else part.start
    last = 0 if part.stop is None else part.stop
    if part.step not in (None, 1) or type(first) is not int or type(last) is not int:
        return symbol if part == slice(None, None, -1) else None
    if first < 0 or last > 0 or (last == 0 and part.stop is not None):
        return None
    return shortened(symbol, first - last)
