"""Patterns of ``match``: whether a subject is taken apart, and into what.

Enters: the subject, and what a pattern asks.  Leaves: a truth value, decided where classes and lengths decide it, and
the parts; a subject of which one of several things may be keeps both answers::

    match ("add", x):
        case ("mul", v): ...        a tuple of two: True; its first item: False
        case ("add", v): ...        True, v: what x is
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.classes import is_plain_class
from srcgrad.infer.builtin import length
from srcgrad.infer.classes import classes_of, is_instance
from srcgrad.infer.data import is_data
from srcgrad.infer.dataclassed import always_has
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import class_of, container, get_attribute, is_plain
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import ANY, NEVER, SCALARS, At, Atom, Exact, Value, exact, of, union
from srcgrad.ir import operations as ir

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement

_Parts = tuple[tuple[Value, ...], Heap]
#: Built-in classes of which a positional pattern takes the object itself.
_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def of_shape(
    analysis: Analysis, frame: Frame, statement: Statement, op: ir.MatchSequence | ir.MatchMapping, heap: Heap
) -> tuple[Value, Heap]:
    """Whether a subject is a sequence or mapping of a length."""
    subject = frame[op.subject]
    frame.may_raise(heap)
    if subject.is_any:
        return of(bool), analysis.unknown([subject], heap)
    answers = [_has_shape(atom, op, heap) for atom in subject.atoms]
    if None not in answers:
        return union(*map(exact, answers)), heap
    return of(bool), heap if is_plain(analysis, heap, subject) else analysis.unknown([subject], heap)


def _has_shape(atom: Atom, op: ir.MatchSequence | ir.MatchMapping, heap: Heap) -> bool | None:
    kind: Any = class_of(atom)
    if kind is None:
        return None
    wanted = (dict,) if isinstance(op, ir.MatchMapping) else (list, tuple)
    if kind in (*SCALARS, np.ndarray, list, tuple, dict, set) or is_of_library(kind) and issubclass(kind, np.generic):
        if kind not in wanted:
            return False
    elif not (is_named_tuple(kind) and tuple in wanted):
        return None
    if isinstance(op, ir.MatchMapping) and not op.count:
        return True
    count = length(atom, heap)
    if count is None:
        return None
    is_open = isinstance(op, ir.MatchMapping) or op.at_least
    return count >= op.count if is_open else count == op.count


def of_keys(analysis: Analysis, frame: Frame, statement: Statement, op: ir.MatchKeys, heap: Heap) -> _Parts:
    """Whether a mapping has some keys, and a tuple of their values."""
    frame.may_raise(heap)
    subject = frame[op.subject]
    keys = [_constant(key) for key in frame.all(op.keys)]
    if subject.is_any or None in keys or any(class_of(atom) is not dict for atom in subject.atoms):
        return (of(bool), ANY), analysis.unknown([subject, *frame.all(op.keys)], heap)
    found: list[Value] = []
    parts: list[Value] = [NEVER] * len(keys)
    rest: list[tuple[Any, Value]] = []
    for atom in subject.atoms:
        assert isinstance(atom, At)
        entries = heap[atom.site].entries
        if entries is None or len(subject.atoms) > 1 and op.rest:
            return (of(bool), ANY), analysis.unknown([subject], heap)
        held = {Exact(key): value for key, value in entries}
        found.append(exact(all(key in held for key in keys)))
        if found[-1] == exact(True):
            parts = [union(part, held[key]) for part, key in zip(parts, keys, strict=True)]  # type: ignore[index]
        rest = [(key, value) for key, value in entries if Exact(key) not in keys]
    if op.rest:
        others, heap = container(frame, statement, heap, dict, Contents(entries=tuple(rest)), "rest")
        parts.append(others)
    made, heap = container(frame, statement, heap, tuple, Contents(parts=tuple(parts)), "parts")
    return (union(*found), made), heap


def _constant(value: Value) -> Exact | None:
    (atom,) = value.atoms if len(value.atoms) == 1 and not value.is_any else (None,)
    return atom if isinstance(atom, Exact) and type(atom.value) in SCALARS else None


def of_class(analysis: Analysis, frame: Frame, statement: Statement, op: ir.MatchClass, heap: Heap) -> _Parts:
    """Whether a subject is an object of a class, and a tuple of its attributes."""
    frame.may_raise(heap)
    subject = frame[op.subject]
    kinds = classes_of(analysis, frame[op.of], heap)
    analysis.local_classes.ask(kinds or ())
    answers = [is_instance(atom, kinds) for atom in subject.atoms]
    if kinds and len(kinds) == 1 and names_of(kinds[0], op) == () and subject.consists_of(
        lambda atom: is_data(atom) or is_instance(atom, kinds) is not None
    ):  # no attribute is read, which might run a method
        itself = (subject,) if op.count else ()
        made_of, heap = container(frame, statement, heap, tuple, Contents(parts=itself), "parts")
        return (of(bool) if None in answers else union(*map(exact, answers)), made_of), heap
    if kinds is None or len(kinds) != 1 or subject.is_any or None in answers:
        return (of(bool), ANY), analysis.unknown([subject, frame[op.of]], heap)
    found = union(*map(exact, answers))
    matched = Value(frozenset(atom for atom, answer in zip(subject.atoms, answers, strict=True) if answer))
    names = names_of(kinds[0], op)
    if names is None:
        return (of(bool), ANY), analysis.unknown([subject], heap)
    parts: Sequence[Value] = [matched] if names == () and op.count else []
    for name in names:
        made = None if not matched else get_attribute(analysis, frame, statement, matched, name, heap)
        value, heap = (NEVER, heap) if made is None else made
        parts = [*parts, value]
        if found != exact(False) and not all(_is_certain(heap, atom, name) for atom in matched.atoms):
            found = union(exact(False), of(bool))
    made_of, heap = container(frame, statement, heap, tuple, Contents(parts=tuple(parts)), "parts")
    return (found, made_of), heap


def names_of(kind: type, op: ir.MatchClass) -> tuple[str, ...] | None:
    """The attributes that a class pattern reads; None where its class does not say, or refuses."""
    positional: tuple[str, ...] = ()
    if op.count:
        given = next((vars(base)["__match_args__"] for base in kind.__mro__ if "__match_args__" in vars(base)), None)
        if given is None and issubclass(kind, _SELF) and op.count == 1:
            return () if not op.names else None
        if not isinstance(given, tuple) or len(given) < op.count or not is_plain_class(kind):
            return None
        positional = given[: op.count]
    names = (*positional, *op.names)
    return names if len(set(names)) == len(names) else None


def _is_certain(heap: Heap, atom: Atom, name: str) -> bool:
    """Whether every object of an atom has an attribute: a field may have been left out, or deleted."""
    kind: Any = class_of(atom)
    if is_named_tuple(kind):
        return name in kind._fields
    return always_has(heap, atom, name)
