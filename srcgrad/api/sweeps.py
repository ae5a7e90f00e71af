"""A program along many directions, or for many seeds, in one sweep.

Enters: the text of a derivative that takes a seed or tangents behind its arguments, and many of them.  Leaves: what it
returns for each.  The arguments are the same for all, so that what does not depend on the seed is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.api.arguments import is_static, kinds_of
from srcgrad.api.derivative import Derivative
from srcgrad.api.fitting import finished
from srcgrad.api.transforms import directions_of, seeds_between
from srcgrad.api.vmap import completed, repeated
from srcgrad.errors import InternalError, SrcgradError
from srcgrad.rules.facts import fact_of
from srcgrad.runtime import as_cotangent
from srcgrad.runtime.batches import OneByOne

if TYPE_CHECKING:
    from srcgrad.batching.carried import Carried
    from srcgrad.programs import Compiled

#: How many numbers the seeds and results of one sweep may have, so that what lies between them fits into memory too.
_NUMBERS = 2**22
_PROGRAMS = 50


class Sweeps:
    """The programs of one derivative for many seeds at once, kept by the kinds of what they are given."""

    def __init__(self) -> None:
        self._kept: dict[object, Compiled | None] = {}

    def run(
        self,
        entry: FunctionType,
        arguments: tuple[Any, ...],
        seeds: tuple[Any, ...],
        part: Callable[[Any, Carried], tuple[Any, Carried]] = lambda outcome, carried: (outcome, carried),
    ) -> Any:
        """``part`` of what ``entry(*arguments, *seed)`` returns for each seed, along a first axis; None where there is
        no such program, where one seed after the other takes less time, or where it raises an exception.  ``seeds``
        hold them along the first axis of each part, two of them at least."""
        from srcgrad.programs import present_options

        size = _length(seeds)
        compiled = self._compiled(entry, arguments, _cut(seeds, lambda leaf: leaf[0]))
        if compiled is None or size < compiled.break_even and not present_options().check:
            return None
        at_once = max(2, _NUMBERS // max((_count(arguments) + _count(seeds) // size), 1))
        made = []
        for start in range(0, size, at_once):
            some = seeds if at_once >= size else _cut(seeds, partial(_some, start, at_once))
            try:
                outcome = compiled.entry(*arguments, *some)
            except OneByOne:
                return None
            except Exception as failure:  # a program for one seed says best where
                if present_options().check:
                    for i in range(size):
                        entry(*arguments, *_cut(seeds, itemgetter(i)))
                    raise InternalError("The program for many seeds raised where that for one does not") from failure
                return None
            found, carried = part(outcome, compiled.returned)
            made.append(completed(found, carried, min(at_once, size - start)))
        return made[0] if len(made) == 1 else _leafwise(made, lambda parts: np.concatenate(parts))

    def _compiled(self, entry: FunctionType, arguments: tuple[Any, ...], seed: tuple[Any, ...]) -> Compiled | None:
        from srcgrad.ir.normal_form import Callee
        from srcgrad.pipeline import compile_request
        from srcgrad.programs import present_options
        from srcgrad.requests import Request

        given = (*arguments, *seed)
        options = present_options()
        key = entry, options, kinds_of(given)
        found = self._kept.get(key)
        if key in self._kept and (found is None or found.is_current()):
            if found is not None:
                found.refresh()
            return found
        if len(self._kept) >= _PROGRAMS:
            self._kept.clear()
        names = entry.__code__.co_varnames[: entry.__code__.co_argcount]
        facts = {name: fact_of(value, name) for name, value in zip(names, given, strict=False) if not is_static(value)}
        carried = (*(None for _ in arguments), *map(_carried, seed))
        request = Request(
            Callee(entry), (), "batched", facts, arguments=(given, {}), kinds=(kinds_of(given), ()), carried=carried
        )
        try:
            found = None if not options.specialise or options.finite or options.debug else compile_request(request)
        except SrcgradError:  # it runs seed by seed
            found = None
        self._kept[key] = found
        return found


def _count(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(map(_count, value))
    return sum(map(_count, value.values())) if isinstance(value, dict) else np.size(value)


def _carried(seed: Any) -> Carried:
    from srcgrad.batching.carried import LEAF, items, keys

    if seed is None:
        return None
    if isinstance(seed, tuple | list):
        return items(map(_carried, seed))
    return keys((key, _carried(part)) for key, part in seed.items()) if isinstance(seed, dict) else LEAF


def stacked(seeds: list[Any]) -> Any:
    """Many seeds of one form as one, along a first axis of each part."""
    return _leafwise(seeds, np.stack)


def _cut(tree: Any, make: Callable[[Any], Any]) -> Any:
    return _leafwise([tree], lambda parts: make(parts[0]))


def _some(start: int, count: int, leaf: Any) -> Any:
    return leaf[start : start + count]


def _length(tree: Any) -> int:
    found: list[int] = []
    _cut(tree, lambda leaf: found.append(len(leaf)))
    return found[0]


def is_plain(value: Any) -> bool:
    """Whether a value is of numbers, arrays, and tuples, lists and dicts of such."""
    if type(value) in (tuple, list) or isinstance(value, tuple) and hasattr(value, "_fields"):
        return all(map(is_plain, value))
    if type(value) is dict:
        return all(map(is_plain, value.values()))
    return value is None or isinstance(value, np.ndarray | np.generic | int | float | complex | str)


def _leafwise(trees: list[Any], make: Callable[[list[Any]], Any]) -> Any:
    first = trees[0]
    if isinstance(first, tuple | list):
        parts = [_leafwise(list(column), make) for column in zip(*trees, strict=True)]
        if isinstance(first, list):
            return parts
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    if isinstance(first, dict):
        return {key: _leafwise([tree[key] for tree in trees], make) for key in first}
    return None if first is None else make(trees)


def rows(tree: Any, count: int) -> list[Any]:
    """What a batch holds for each seed."""
    if isinstance(tree, tuple | list):
        columns = [rows(part, count) for part in tree]
        if isinstance(tree, list):
            return [[column[i] for column in columns] for i in range(count)]
        made = type(tree) if hasattr(tree, "_fields") else lambda *parts: parts
        return [made(*(column[i] for column in columns)) for i in range(count)]
    if isinstance(tree, dict):
        named = {key: rows(part, count) for key, part in tree.items()}
        return [{key: column[i] for key, column in named.items()} for i in range(count)]
    return [None] * count if tree is None else list(tree)


def pushed_all(
    derivative: Derivative, values: tuple[Any, ...], directions: list[tuple[Any, ...]], sweeps: Sweeps
) -> list[Any] | None:
    """The tangents of ``pushed`` along many directions, in one sweep; None where there is no program for that."""
    if not all(map(is_plain, values)):
        return None
    derivative.verify(values)
    found = along_all(derivative, derivative, values, directions, sweeps)
    if found is None:
        return None
    value, tangents = found
    if not is_plain(value):
        return None
    count, inner = len(directions), derivative._inner
    if inner is None:
        if isinstance(value, np.ndarray) and isinstance(tangents, np.ndarray) and tangents.dtype == value.dtype:
            return list(tangents)
        return rows(as_cotangent(tangents, repeated(value, count)), count)
    whole = tuple(repeated(value, count) for value in values)
    fits = finished(inner, tangents, whole)
    return rows(as_cotangent(fits, finished(inner, repeated(value, count), whole)), count)


def along_all(
    derivative: Derivative, chosen: Derivative, values: tuple[Any, ...], directions: list[tuple[Any, ...]],
    sweeps: Sweeps,
) -> tuple[Any, Any] | None:  # fmt: skip
    """The value of a tangent program, and its tangents along many directions, one per argument that is ``chosen``."""
    compiled = derivative.program(values, "nested forward")
    dots = [tuple(directions_of(chosen, values, each)) for each in directions]
    arguments = derivative.arguments(values)
    seeds = seeds_between(compiled.entry, arguments, list(dots[0]))
    held: list[Any] = []

    def second(outcome: Any, carried: Carried) -> tuple[Any, Carried]:
        from srcgrad.batching.carried import Items

        value, tangent = carried.parts if isinstance(carried, Items) else (None, carried)
        held.append(outcome[0] if value is None else _cut(outcome[0], lambda leaf: leaf[0]))
        return outcome[1], tangent

    tangents = sweeps.run(compiled.entry, (*arguments, *seeds), stacked(dots), second)
    return None if tangents is None else (held[0], tangents)
