"""Classes that are called: containers, iterators and exceptions, and objects on which ``__init__`` runs.

Enters: a class and its arguments.  Leaves: the new object, and the heap after it; None where it raises.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from dataclasses import replace
from enum import EnumType
from inspect import isabstract
from types import (
    FunctionType,
    SimpleNamespace,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.classes import captured_by, is_plain_class
from srcgrad.infer import dataclassed, named
from srcgrad.infer.applying import (
    applied,
    parts_of,
)
from srcgrad.infer.builtin import followed
from srcgrad.infer.enumerations import member_of_value
from srcgrad.infer.examples import constant_of_kinds
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.iteration import ITERATORS, backwards, elements
from srcgrad.infer.lists import contents_of_dict, dict_of_pairs
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.object_sets import note_objects
from srcgrad.infer.objects import (
    CONTAINERS,
    Made,
    class_of,
    container,
    is_method,
    is_plain,
    looked_up,
)
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.parameters import Given
from srcgrad.infer.reasons import NOT_HANDED, of_maker
from srcgrad.infer.starting import asks_nothing, calls_nothing, places, starts_itself
from srcgrad.infer.values import (
    ANY,
    NEVER,
    Array,
    At,
    Exact,
    Of,
    Value,
    are_arrays,
    at,
    exact,
    of,
    union,
    unknown,
)
from srcgrad.language.effects import of_function
from srcgrad.language.models import CLASSES, ORIGINALS
from srcgrad.language.models.array_modules import class_in_numpy
from srcgrad.runtime import StopsGradients

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def made_by(analysis: Analysis, frame: Frame, statement: Statement, kind: Any, given: Given, heap: Heap) -> Made:
    """What a class gives that is called."""
    if names := captured_by(kind):
        return _with_captured(analysis, frame, statement, kind, names, given, heap)
    if type(kind) is EnumType and len(given.positional) == 1 and not given.keywords and given.more is None:
        made = member_of_value(frame, kind, given.positional[0], heap)
        if made is not NotImplemented:
            return made
    values, kind = given.values(), ORIGINALS.get(kind, class_in_numpy(kind))
    if (why := of_maker(kind)) is not None:
        return unknown(why), analysis.unknown(values, heap)
    made = followed(analysis, frame, statement, kind, given, heap)
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    if kind is SimpleNamespace and not given.positional and given.more is None:
        named_ = dict(given.keywords)
        return container(frame, statement, heap, kind, Contents(fields=named_, order=tuple(named_)))
    if kind in CLASSES:
        return _started(analysis, frame, statement, kind, Contents(), given, heap)
    if issubclass(kind, BaseException) and not is_of_library(kind) and not starts_itself(kind):
        return container(frame, statement, heap, kind, Contents(rest=union(*values)))
    if issubclass(kind, BaseException) and is_of_library(kind) and not starts_itself(kind):
        site = frame.site(None, statement)  # none of the arguments is an exception: it is no data of theirs
        held = union(at(site), *values)
        return at(site), heap.allocated(site, Contents(single=False, rest=held, others=held))
    if kind in (type, super) or is_of_library(kind) and not is_plain(analysis, heap, *values):
        if kind not in (*CONTAINERS, *ITERATORS):
            return (of(kind) if kind in (bool, int) else ANY), analysis.unknown(values, heap)
    if kind in (bool, int, float, complex, str, bytes) and given.more is None:
        return of(kind), heap
    if not given.keywords and given.more is None:
        if (constant := constant_of_kinds(kind, given.positional, heap)) is not None:
            return constant, heap
    if kind is range:
        return container(frame, statement, heap, range, Contents())
    first = given.positional[0] if given.positional else None
    if first and given.more is None and (
        kind is np.ndindex and is_plain(analysis, heap, *given.values())
        or kind is np.ndenumerate and are_arrays(first, of_numbers=True)
    ):
        return places(frame, statement, kind, given, heap)
    if kind is np.errstate and calls_nothing(given) or issubclass(kind, StopsGradients) and not values:
        return container(frame, statement, heap, kind, Contents())
    if kind is slice and not given.keywords and given.more is None and len(values) in (1, 2, 3):
        before, after = [exact(None)] * (len(values) == 1), [exact(None)] * (len(values) < 3)
        return container(frame, statement, heap, slice, Contents(parts=(*before, *values, *after)))
    if kind is zip and [name for name, _ in given.keywords] == ["strict"] and (
        values[-1].consists_of(lambda atom: class_of(atom) is bool)
    ):
        given, values = replace(given, keywords=()), given.positional  # it decides what is raised at the end alone
    if kind is dict and any(a.site in analysis.generators for v in values for a in v.atoms if isinstance(a, At)):
        if (pairs := dict_of_pairs(analysis, frame, statement, given, heap)) is not None:
            return pairs
    is_lazy = kind in (zip, enumerate) and all(_is_built_in(analysis, value, heap) for value in values)
    if kind in (dict, zip, enumerate) and not (is_lazy or asks_nothing(kind, given, heap)):
        heap = heap if is_plain(analysis, heap, *values) else analysis.unknown(values, heap)
    if kind is deque and given.more is None and len(values) < 3 and {n for n, _ in given.keywords} <= {"maxlen"}:
        values, given = given.positional[:1], Given(given.positional[:1])  # its length does not matter here
    if kind in (list, tuple, set, frozenset, deque) and not given.keywords and given.more is None and len(values) < 2:
        parts = () if not values else parts_of(values[0], heap) if kind in (list, tuple) else None
        held, heap = (NEVER, heap) if not values else elements(analysis, frame, statement, values[0], heap)
        if kind is set:
            note_objects(analysis, None, statement, held)
        if kind in (set, frozenset) and not is_plain(analysis, heap, held):  # they are hashed and compared
            heap = analysis.unknown([held], heap)
        contents = Contents(rest=held) if parts is None or kind not in (list, tuple) else Contents(parts=parts)
        return container(frame, statement, heap, kind, contents)
    if kind is dict and given.more is None and (held_ := contents_of_dict(given, heap)) is not None:
        return container(frame, statement, heap, dict, held_)
    if kind is dict and (pairs := dict_of_pairs(analysis, frame, statement, given, heap)) is not None:
        return pairs
    if kind is reversed and len(given.positional) == len(values) == 1:
        made = backwards(analysis, frame, statement, values[0], heap)
        if made is not NotImplemented:
            return made
    if kind is enumerate and given.positional and given.more is None:
        return container(frame, statement, heap, enumerate, Contents(fields={"of": values[0]}))
    if kind is zip and not given.keywords:
        held_ = Contents(parts=values) if given.more is None else Contents(rest=union(*values))
        return container(frame, statement, heap, zip, held_)
    if kind is np.float64 and len(values) == 1 and all(isinstance(a, Of | Exact) for a in values[0].atoms):
        return of(kind), heap
    if is_named_tuple(kind):
        made = named.made(analysis, frame, statement, kind, given, heap)
        if made is not NotImplemented:
            return made  # type: ignore[no-any-return]
    if is_of_library(kind):
        effect = of_function(kind)
        if not effect.is_known or effect.calls or not is_plain(analysis, heap, *values):
            return ANY, analysis.unknown(values, heap)
        return applied(analysis, frame, statement, replace(effect, returns="element"), given, heap)
    is_exception = issubclass(kind, BaseException)
    is_plain_new = not isinstance(looked_up(kind, "__new__"), FunctionType | staticmethod | classmethod)
    is_made = is_exception and is_plain_new or looked_up(kind, "__new__") is object.__new__
    plain = is_made and is_plain_class(kind) and not isabstract(kind)
    if not plain or analysis.assigned.is_open(kind):
        return ANY, analysis.unknown([exact(kind), *values], heap)
    of_args = Contents(rest=union(*values)) if is_exception else Contents()
    return _started(analysis, frame, statement, kind, of_args, given, heap)


def _with_captured(
    analysis: Analysis, frame: Frame, statement: Statement, kind: Any, names: tuple[str, ...], given: Given, heap: Heap
) -> Made:
    """An object of a class whose methods read variables of a function, which are handed to it."""
    handed = {name: value for name, value in given.keywords if name in names}
    rest = replace(given, keywords=tuple((name, value) for name, value in given.keywords if name not in names))
    if len(handed) < len(names) or analysis.assigned.is_open(kind):
        analysis.assigned.give_up(NOT_HANDED)
        return unknown(NOT_HANDED), analysis.unknown([exact(kind), *given.values()], heap)
    return _started(analysis, frame, statement, kind, Contents(fields=handed), rest, heap)


def _started(
    analysis: Analysis, frame: Frame, statement: Statement, kind: Any, contents: Contents, given: Given, heap: Heap
) -> Made:
    """A new object of a class, on which ``__init__`` has run."""
    values = given.values()
    receiver, heap = container(frame, statement, heap, kind, contents)
    start = looked_up(kind, "__init__")
    if dataclasses.is_dataclass(kind) and getattr(getattr(start, "__code__", None), "co_filename", "") == "<string>":
        return dataclassed.made(analysis, frame, statement, kind, receiver, given, heap)
    if start is object.__init__:
        return (receiver, heap) if not values else None
    if not is_method(start):
        return receiver, analysis.unknown([receiver, *values], heap)
    made = analysis.called(frame, statement, exact(start), given.after(receiver), heap)
    return None if made is None else (receiver, made[1])


def _is_built_in(analysis: Analysis, value: Value, heap: Heap) -> bool:
    """Whether ``iter`` of a value runs no code of the user's, whatever it holds, and its items are followed."""
    return not value.is_any and all(
        isinstance(a, Array | Of | Exact)
        or isinstance(a, At) and not heap.is_seen(a.site)
        and (a.site.kind in (None, *CONTAINERS, *ITERATORS, range) or a.site in analysis.generators)
        for a in value.atoms
    )  # fmt: skip
