"""What is known of the classes of values while compiling: which class an object has, which objects a container holds.

Enters: the arguments of a call, or the statements of a normal form.  Leaves: one ``Known`` per name, the join over all
its binders.  It decides which method ``model.predict(x)`` is, nothing else; arrays and numbers are ``Plain``::

    layers = [Linear(w, b), Tanh()]     Items(list, (Instance(Linear), Instance(Tanh)))
    for layer in layers:                layer    OneOf(Instance(Linear), Instance(Tanh))
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType
from typing import Any

import numpy as np

from srcgrad.frontend.normal_form import Callee
from srcgrad.runtime.objects import fields_of, is_object

DEEPEST = 12  # objects inside objects that are told apart
TOLD_APART = 2  # of one class, before all of them are described by one that says what is found in it again


@dataclass(frozen=True)
class Plain:
    """Nothing is known; it is computed with as if it were an array or a number."""


@dataclass(frozen=True)
class Data:
    """Certainly no object of a user's class: an array, a number, text."""


@dataclass(frozen=True)
class Instance:
    """An object of exactly this class; a named tuple is one too."""

    kind: type
    fields: tuple[tuple[str, Known], ...] = ()

    def field(self, name: str) -> Known:
        return next((unfolded(known, self) for field, known in self.fields if field == name), PLAIN)


@dataclass(frozen=True)
class Again:
    """Inside of an object of this class, at any depth: another one of which the same is known."""

    kind: type


@dataclass(frozen=True)
class Never:
    """An item of a list or tuple that has none: nothing that is done with it is ever run."""


@dataclass(frozen=True)
class Items:
    """A list or tuple: its items in order, or one ``item`` that stands for all."""

    kind: type
    items: tuple[Known, ...] | None = None
    item: Known = Plain()

    def any(self) -> Known:
        if self.items is None:
            return self.item
        made: Known | None = None
        for item in self.items:
            made = item if made is None else join(made, item)
        return PLAIN if made is None else made


@dataclass(frozen=True)
class Entries:
    """A dict by its keys."""

    items: tuple[tuple[object, Known], ...]

    def any(self) -> Known:
        return Items(tuple, tuple(known for _, known in self.items)).any()


@dataclass(frozen=True)
class Value:
    """None, or a function, by identity."""

    value: object


@dataclass(frozen=True)
class OneOf:
    """One of several, of which at least one is an object or a function."""

    choices: tuple[Known, ...]


@dataclass(frozen=True)
class Result:
    """What a call of a user function returns; found out when it is asked for."""

    callee: Callee


Known = Plain | Data | Instance | Again | Never | Items | Entries | Value | OneOf | Result
PLAIN = Plain()
DATA = Data()
NEVER = Never()
NONE = Value(None)


def is_named_tuple(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def known_of(value: Any, depth: int = 0, around: Mapping[type, list[Any]] | None = None) -> Known:
    """What a program may be compiled for: classes, functions and None, never a number.

    ``around``: the objects of some classes that are being looked at, each with all that were found inside of it.
    """
    if depth > DEEPEST:
        return PLAIN
    if value is None or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType):
        return Value(value)
    if around is not None:
        return _known_inside(value, depth, around)
    if is_object(value):
        if nesting(value) > TOLD_APART:
            return _known_inside(value, depth, {})
        return Instance(type(value), tuple((n, known_of(v, depth + 1)) for n, v in fields_of(value).items()))
    if is_named_tuple(type(value)):
        parts = zip(type(value)._fields, value, strict=True)
        return Instance(type(value), tuple((n, known_of(v, depth + 1)) for n, v in parts))
    if type(value) in (list, tuple, deque):
        return told(Items(type(value), tuple(known_of(v, depth + 1) for v in value)))
    if type(value) is dict:
        return told(Entries(tuple((k, known_of(v, depth + 1)) for k, v in value.items())))
    return DATA if isinstance(value, np.ndarray | np.generic | int | float | complex | str) else PLAIN


def nesting(value: Any) -> int:
    """How many objects of the class of an object hold one another; it is not counted beyond what is told apart."""
    kind, level = type(value), [value]
    for depth in range(TOLD_APART + 1):
        pending, level = level, []
        while pending:
            x = pending.pop()
            parts = fields_of(x).values() if is_object(x) else x.values() if type(x) is dict else x
            for part in parts:
                if type(part) is kind:
                    level.append(part)
                elif is_object(part) or type(part) in (list, tuple, dict):
                    pending.append(part)
        if not level:
            return depth + 1
    return TOLD_APART + 1


def _known_inside(value: Any, depth: int, around: Mapping[type, list[Any]]) -> Known:
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
                fields = ((n, known_of(v, depth + 1, inside)) for n, v in fields_of(each).items())
                known = Instance(type(value), tuple(fields))
                made = known if made is None else join(made, known)
        assert made is not None
        return made
    if type(value) in (list, tuple, deque):
        return told(Items(type(value), tuple(known_of(v, depth + 1, around) for v in value)))
    if type(value) is dict:
        return told(Entries(tuple((k, known_of(v, depth + 1, around)) for k, v in value.items())))
    return known_of(value, depth)


def unfolded(known: Known, outer: Instance) -> Known:
    """What is known of a part of an object: where it says again, the object itself."""

    def change(part: Known) -> Known | None:
        return outer if part == Again(outer.kind) else None

    return changed_inside(known, change, outer.kind)


def folded(known: Known) -> Known:
    """The same, an object that holds others of its class as deep as is not told apart described by itself."""
    match known:
        case Instance(kind=kind, fields=fields):
            if _levels(known, kind) <= TOLD_APART:
                return Instance(kind, tuple((name, folded(part)) for name, part in fields))
            found: list[Known] = []

            def change(part: Known) -> Known | None:
                if not (isinstance(part, Instance) and part.kind is kind):
                    return None
                found.append(Instance(kind, tuple((n, changed_inside(p, change, None)) for n, p in part.fields)))
                return Again(kind)

            change(known)
            made = found[0]
            for each in found[1:]:
                made = join(made, each)
            return made
        case Items(kind=kind, items=items, item=item):
            return Items(kind, None if items is None else tuple(map(folded, items)), folded(item))
        case Entries(items=entries):
            return Entries(tuple((key, folded(part)) for key, part in entries))
        case OneOf(choices=choices):
            made = folded(choices[0])
            for choice in choices[1:]:
                made = join(made, folded(choice))
            return made
    return known


def changed_inside(known: Known, change: Callable[[Known], Known | None], opaque: type | None) -> Known:
    """A copy in which ``change`` has replaced parts, outer ones first; objects of ``opaque`` are not looked into."""
    made = change(known)
    if made is not None:
        return made
    match known:
        case Instance(kind=kind, fields=fields) if kind is not opaque:
            return Instance(kind, tuple((name, changed_inside(part, change, opaque)) for name, part in fields))
        case Items(kind=kind, items=items, item=item):
            parts = None if items is None else tuple(changed_inside(part, change, opaque) for part in items)
            return Items(kind, parts, changed_inside(item, change, opaque))
        case Entries(items=entries):
            return Entries(tuple((key, changed_inside(part, change, opaque)) for key, part in entries))
        case OneOf(choices=choices):
            return OneOf(tuple(changed_inside(choice, change, opaque) for choice in choices))
    return known


def _levels(known: Known, kind: type) -> int:
    """How deep objects of a class are told apart inside of one another."""
    match known:
        case Again() if known.kind is kind:
            return TOLD_APART + 1
        case Instance(fields=fields):
            return (known.kind is kind) + max((_levels(part, kind) for _, part in fields), default=0)
        case Items(items=items, item=item):
            return max((_levels(part, kind) for part in items or (item,)), default=0)
        case Entries(items=entries):
            return max((_levels(part, kind) for _, part in entries), default=0)
        case OneOf(choices=choices):
            return max(_levels(choice, kind) for choice in choices)
    return 0


def told(known: Items | Entries) -> Known:
    """A container, if it holds anything that can be told, now or later."""
    match known:
        case Items(items=None, item=item):
            inside = [item]
        case Items(items=tuple() as items):
            if not items:
                return known
            inside = list(items)
        case Entries(items=entries):
            inside = [item for _, item in entries]
    return known if any(item not in (PLAIN, DATA, NONE, NEVER) for item in inside) else PLAIN


def instances_of(known: Known) -> list[Instance]:
    """The objects that a value may be."""
    choices = known.choices if isinstance(known, OneOf) else (known,)
    return [choice for choice in choices if isinstance(choice, Instance)]


def holds_objects(known: Known) -> bool:
    """Whether a value is an object, or one of several."""
    return bool(instances_of(known))


def classes_in(known: Known, resolved: Callable[[Known], Known]) -> set[type]:
    """The classes of the objects that a value may be or hold; ``resolved`` looks into results of calls."""
    found: set[type] = set()
    pending: list[Known] = [known]
    while pending:
        match resolved(pending.pop()):
            case Instance(kind=kind, fields=fields):
                found.add(kind)
                pending += [inner for _, inner in fields]
            case Items(items=items, item=item):
                pending += [*(items or ()), item]
            case Entries(items=entries):
                pending += [inner for _, inner in entries]
            case OneOf(choices=choices):
                pending += choices
            case Again(kind=kind):
                found.add(kind)
    return found


def matters(known: Known) -> bool:
    """Whether a callee should be compiled for it: an object, or what holds one."""
    match known:
        case Plain() | Data() | Never() | Value() | Result():
            return False
        case Items(items=None, item=item):
            return matters(item)
        case Items(items=()):
            return False
    return True


def tells(known: Known) -> bool:
    """Whether anything can be decided by it."""
    return not isinstance(known, Plain | Data) and not (isinstance(known, Items) and known.items == ())


def bears_out(known: Known, relied: Known) -> bool:
    """Whether what is known in the end bears out what was relied on: it is that, or tells of more fields of an object,
    which were read as nothing is known of them."""
    match known, relied:
        case Instance(kind=kind), Instance() if kind is relied.kind:
            before, after = dict(relied.fields), dict(known.fields)
            added = [name for name in after if name not in before]
            return all(name in after and after[name] == before[name] for name in before) and all(
                without(kind, name) == NEVER for name in added
            )
    return known == relied


def cut(known: Known, depth: int = DEEPEST) -> Known:
    """The same without what lies deeper, so that a recursion that wraps its argument anew comes to an end."""
    match known:
        case Plain() | Data() | Never() | Again() | Value() | Result():
            return known
        case _ if depth == 0:
            return PLAIN
        case Instance(kind=kind, fields=fields):
            return Instance(kind, tuple((name, cut(item, depth - 1)) for name, item in fields))
        case Items(kind=kind, items=items, item=item):
            parts = None if items is None else tuple(cut(each, depth - 1) for each in items)
            return Items(kind, parts, cut(item, depth - 1))
        case Entries(items=entries):
            return Entries(tuple((key, cut(item, depth - 1)) for key, item in entries))
        case OneOf(choices=choices):
            return OneOf(tuple(cut(each, depth) for each in choices))


def join(a: Known, b: Known) -> Known:
    """What is known of a value that is either ``a`` or ``b``."""
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if PLAIN in (a, b) or (DATA in (a, b) and not {a, b} <= {DATA, NONE}):
        return PLAIN
    choices: list[Known] = []
    for known in (a, b):
        for choice in known.choices if isinstance(known, OneOf) else (known,):
            _include(choice, choices)
    return choices[0] if len(choices) == 1 else OneOf(tuple(choices))


def _include(choice: Known, choices: list[Known]) -> None:
    for j, other in enumerate(choices):
        match choice, other:
            case Instance(), Instance() if choice.kind is other.kind:
                choices[j] = _instances(choice, other)
                return
            case Again(), Instance() if choice.kind is other.kind:
                return
            case Instance(), Again() if choice.kind is other.kind:
                choices[j] = choice
                return
            case Items(), Items() if choice.kind is other.kind:
                choices[j] = sequences(choice, other)
                return
            case Entries(), Entries():
                names = [k for k, _ in choice.items]
                same = names == [k for k, _ in other.items]
                pairs = zip(choice.items, other.items) if same else ()
                choices[j] = Entries(tuple((k, join(m, n)) for (k, m), (_, n) in pairs))
                return
        if choice == other:
            return
    choices.append(choice)


def _instances(a: Instance, b: Instance) -> Known:
    names = [name for name, _ in a.fields] + [name for name, _ in b.fields if name not in dict(a.fields)]
    joined = []
    one, other = dict(a.fields), dict(b.fields)
    for name in names:
        absent = without(a.kind, name)
        known = join(one.get(name, absent), other.get(name, absent))
        joined.append((name, PLAIN if _depth(known) > 4 else known))
    return Instance(a.kind, tuple(joined))


def without(kind: type, name: str) -> Known:
    """What reading a field gives where an object has none: nothing, or what its class holds."""
    held = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    return NEVER if held is None or isinstance(held, MemberDescriptorType) else PLAIN


def sequences(a: Items, b: Items) -> Items:
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        return Items(a.kind, tuple(map(join, a.items, b.items)))
    if a.items == ():
        return Items(a.kind, None, b.any())
    if b.items == ():
        return Items(a.kind, None, a.any())
    return Items(a.kind, None, join(a.any(), b.any()))


def _depth(known: Known) -> int:
    match known:
        case Instance(fields=fields):
            return 1 + max((_depth(item) for _, item in fields), default=0)
        case Items():
            return 1 + max(map(_depth, known.items or (known.item,)), default=0)
        case Entries(items=items):
            return 1 + max((_depth(item) for _, item in items), default=0)
        case OneOf(choices=choices):
            return max(map(_depth, choices))
    return 0
