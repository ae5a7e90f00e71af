"""What is known of a value that a call is given, or that a global holds: what a program may be compiled for.

Enters: a value.  Leaves: a ``Known`` for it; of objects that hold others of their class as deep as they go, one
description that says "again" of itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeGuard

import gast
import numpy as np

from srcgrad.frontend.classed import Foreign
from srcgrad.frontend.classes import found, is_descriptor
from srcgrad.frontend.journal import note_class
from srcgrad.frontend.known import (
    DATA,
    DEEPEST,
    NUMBER,
    PLAIN,
    TOLD_APART,
    Again,
    Bag,
    Blurred,
    Entries,
    Instance,
    Items,
    Known,
    Own,
    Value,
    classes_in,
    is_named_tuple,
    join,
    told,
)
from srcgrad.runtime.exact import is_foreign
from srcgrad.runtime.objects import LIBRARIES, fields_of, has_fields, has_operators, is_bound, is_object
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

#: How many items of a container outside are looked at for objects, how many for what may hold some, and how deep.
SEEN, SHORT, NESTED = 1000, 64, 4
_CONTAINERS = frozenset({list, tuple, dict, deque})


def known_of(
    value: Any, depth: int = 0, around: Mapping[type, list[Any]] | None = None, owner: object = None
) -> Known:
    """What a program may be compiled for: classes, functions and None, never a number.

    ``around``: the objects of some classes that are being looked at, each with all that were found inside of it;
    ``owner``: the object that keeps the value in a field.
    """
    if depth > DEEPEST:
        return PLAIN
    if is_foreign(type(value)):
        return Foreign(type(value))
    if value is None or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType):
        return Value(value)
    if isinstance(value, MethodType) and is_bound(value, owner, value.__name__):
        return Own(value.__name__)
    if around is not None:
        return _known_inside(value, depth, around, owner)
    if is_object(value):
        note_class(type(value))
        if nesting(value) > TOLD_APART:
            return _known_inside(value, depth, {}, owner)
        fields = ((n, known_of(v, depth + 1, None, value)) for n, v in fields_of(value).items())
        return Instance(type(value), tuple(fields))
    if is_named_tuple(type(value)):
        note_class(type(value))
        parts = zip(type(value)._fields, value, strict=True)
        return Instance(type(value), tuple((n, known_of(v, depth + 1)) for n, v in parts))
    if type(value) in (list, tuple, deque):
        return told(Items(type(value), tuple(known_of(v, depth + 1, None, owner) for v in value)))
    if type(value) is dict:
        return told(Entries(tuple((k, known_of(v, depth + 1, None, owner)) for k, v in value.items())))
    if type(value) in (set, frozenset):
        return Bag(type(value))
    is_data = isinstance(value, np.ndarray | np.generic | int | float | complex | str)
    return DATA if is_data else _of_another_class(value)


def known_of_argument(value: Any) -> Known:
    """What is known of an argument of the function that is compiled; of numbers also that they are no arrays."""
    known = known_of(value)
    is_number = known == DATA and isinstance(value, int | float | complex | np.number)
    return NUMBER if is_number else known


def _of_another_class(value: Any) -> Known:
    """Which objects may be met in a container of another class, or in one that is no object to look into and has
    operators of its own."""
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, Sequence | deque) else ()
    if type(value) in (range, bytes, memoryview, set, frozenset):
        return PLAIN
    kinds: set[Any] = {type(item) for item in islice(items, SEEN)}
    kind: Any = type(value)
    for each in (kind, *kinds):
        note_class(each)
    kinds = {each for each in kinds if _is_told_apart(each)}
    if has_operators(kind):
        kinds.add(kind)
    return Blurred(frozenset(kinds)) if kinds else PLAIN


def known_outside(value: Any) -> Known:
    """What is known of a global or closure variable: the classes of objects, or of those in a short container.

    It is read again at each call, and where it holds other classes then, the derivative is compiled anew.
    """
    kind: Any = type(value)
    if kind in _CONTAINERS:
        if not _may_hold_objects(value):
            return PLAIN
    elif not (is_object(value) or is_named_tuple(kind) and has_operators(kind)):
        known = known_of(value)
        return known if isinstance(known, Blurred | Foreign) else PLAIN
    known = known_of(value)
    inside: set[Any] = set(classes_in(known, lambda part: part))
    return known if any(map(_is_told_apart, inside)) else PLAIN


def _is_told_apart(kind: type) -> bool:
    """Whether values of a class are computed with by its methods."""
    return has_fields(kind) or has_operators(kind) or is_foreign(kind)


def taken_outside(expression: gast.expr) -> Known:
    """Which objects outside of the function may come out of an expression that is left as it is: ``dict(TABLE)``."""
    kinds: set[type] = set()
    for node in walk(expression):
        if isinstance(node, GlobalReference) and node.binding.cell is not None:
            kinds |= classes_in(known_outside(node.binding.value), lambda part: part)
    return Blurred(frozenset(kinds)) if kinds else PLAIN


def known_of_attribute(owner: ModuleType | type, name: str) -> Known:
    """What is known of what a module or a class holds: of its functions as well, if it is a module."""
    held = getattr(owner, name, None) if isinstance(owner, ModuleType) else found(owner, name)
    if is_foreign(type(held)):
        return known_of(held)
    known = known_outside(held) if is_users(owner) and not is_descriptor(held) else PLAIN
    if known == PLAIN and isinstance(owner, ModuleType) and callable(held):
        return known_of(held)
    return known


def is_users(owner: object) -> TypeGuard[ModuleType | type]:
    """Whether a value is a module or a class of the user's, whose attributes are looked at."""
    if isinstance(owner, ModuleType):
        return owner.__name__.partition(".")[0] not in LIBRARIES
    return isinstance(owner, type) and has_fields(owner)


def _may_hold_objects(container: Any, depth: int = 0) -> bool:
    """Whether there are objects among the first items, or in short containers of containers: numbers are many."""
    items = container.values() if type(container) is dict else container
    kinds: set[Any] = {type(item) for item in islice(items, SEEN)}
    if any(map(_is_told_apart, kinds)):
        return True
    if depth == NESTED or len(container) > SHORT or kinds.isdisjoint(_CONTAINERS):
        return False
    return any(_may_hold_objects(item, depth + 1) for item in items if type(item) in _CONTAINERS)


def nesting(value: Any) -> int:
    """How many objects of the class of an object hold one another; it is not counted beyond what is told apart."""
    kind, level = type(value), [value]
    for depth in range(TOLD_APART + 1):
        pending, level = level, []
        seen: set[int] = set()  # what holds itself is looked into once
        while pending:
            x = pending.pop()
            if id(x) in seen:
                continue
            seen.add(id(x))
            parts = fields_of(x).values() if is_object(x) else x.values() if type(x) is dict else x
            for part in parts:
                if type(part) is kind:
                    level.append(part)
                elif is_object(part) or type(part) in (list, tuple, dict):
                    pending.append(part)
        if not level:
            return depth + 1
    return TOLD_APART + 1


def _known_inside(value: Any, depth: int, around: Mapping[type, list[Any]], owner: object) -> Known:
    if type(value) in around:
        around[type(value)].append(value)
        return Again(type(value))
    if is_object(value):
        found = [value]
        inside = {**around, type(value): found}
        seen: set[int] = set()
        made: Known | None = None
        for each in found:  # it grows
            if id(each) not in seen:
                seen.add(id(each))
                fields = ((n, known_of(v, depth + 1, inside, each)) for n, v in fields_of(each).items())
                known = Instance(type(value), tuple(fields))
                made = known if made is None else join(made, known)
        assert made is not None
        return made
    if type(value) in (list, tuple, deque):
        return told(Items(type(value), tuple(known_of(v, depth + 1, around, owner) for v in value)))
    if type(value) is dict:
        return told(Entries(tuple((k, known_of(v, depth + 1, around, owner)) for k, v in value.items())))
    return known_of(value, depth)
