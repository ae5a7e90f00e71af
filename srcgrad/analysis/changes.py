"""Containers that change: which facts a statement takes away, and from which names.

A fact about a list or dict is a promise about what it contains, and an item that is stored, appended or deleted under
one name is seen under every other.  Enters: ``Function``.  Leaves: for every statement that may change a container,
here or in a callee, the names that may hold the container, or hold something in which it lies::

    rows = [x, y]            rows  list of (x, y)
    same = rows              same  list of (x, y)
    same[0] = 1.0            opens what is known of rows and same: a list of unknown length, of x, y or a number
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_

import gast

from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import stores_of, walk
from srcgrad.analysis.growing import grown_alone
from srcgrad.analysis.literals import literal
from srcgrad.analysis.memory import related
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Call,
    Callee,
    Delete,
    Derived,
    Exchange,
    Field,
    Function,
    Guarded,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unruled,
    unguarded,
)
from srcgrad.rules.facts import Fact, Object, Sequence, Unknown, element, join
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk as walk_expression


def opened_by(function: Function, changes: Callable[[Callee], bool]) -> Mapping[Statement, frozenset[str]]:
    """The names whose containers a statement may change; ``changes``: whether a callee may change what it is given."""
    alone = grown_alone(function)
    found: dict[Statement, tuple[str, ...]] = {}
    for statement in walk(function.body):
        grows = isinstance(statement, Append | Pop)
        names = tuple(name for name in _changed(statement, changes) if not (grows and name in alone))
        if names:
            found[statement] = names
    if not found:
        return {}
    kin = related(function)
    return {s: frozenset().union(*(kin(name) for name in names)) for s, names in found.items()}


def changes_something(function: Function) -> bool:
    """Whether a function has a statement of its own that changes an object that it has not made."""
    alone = grown_alone(function)
    for statement in walk(function.body):
        match statement:
            case Store() | AugStore() | SetField() | Delete() | Bind(inplace=True) | Bind(operation=Exchange()):
                return True
            case Bind(operation=Unruled(changes=str())):
                return True
            case Append(sequence=name) | Pop(sequence=name) if name not in alone or name in function.parameters:
                return True
    return False


def may_change(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> bool:
    """Whether a callee, or anything that it calls, may change the objects that it is given."""
    return any(changes_something(normal_form_of(one)) for one in _called_by(callee, normal_form_of))


def stores_anywhere(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> bool:
    """Whether a callee, or anything that it calls, stores into memory; derivatives may."""
    for one in _called_by(callee, normal_form_of):
        if changes_something(normal_form_of(one)):
            return True
        for statement in walk(normal_form_of(one).body):
            match statement:
                case AddAt() | Bind(operation=Call(callee=Callee(function=Derived()))):
                    return True
    return False


def must_be_copied(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> bool:
    """Whether the user's own text of a callee does not do: it may store into what a class holds, which our text
    refuses, or do what our text refuses where it is reached, or tuples stand for functions that it is given or gives.
    """
    is_given_tuples = callee.instance is not None and callee.instance.may_hold_functions
    return (
        is_given_tuples or _may_store_by_class(callee, normal_form_of) or _may_be_refused(callee, normal_form_of)
    )


def _may_be_refused(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> bool:
    """Whether the text of a callee, or of what it calls, ends with a refusal somewhere."""
    return any(
        isinstance(node, GlobalReference) and node.binding.value is RefusedMode
        for one in _called_by(callee, normal_form_of)
        for statement in walk(normal_form_of(one).body)
        for part in (getattr(statement, "statement", None), getattr(statement, "expression", None)) if part is not None
        for node in walk_expression(part)
    )  # fmt: skip


def _may_store_by_class(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> bool:
    """Whether a callee, or what it calls, stores into memory, and reads through an object what its class may hold: the
    text that is made of it refuses the store."""
    reads = (
        isinstance(statement, Bind) and isinstance(statement.operation, Field) and statement.operation.shared
        for one in _called_by(callee, normal_form_of)
        for statement in walk(normal_form_of(one).body)
    )  # fmt: skip
    return any(reads) and stores_anywhere(callee, normal_form_of)


def _called_by(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> Iterator[Callee]:
    """A callee and what it calls, but derivatives: what they are given stays as it is."""
    seen = {callee}
    pending = [callee]
    while pending:
        one = pending.pop()
        if isinstance(one.function, Derived):
            continue
        yield one
        for statement in walk(normal_form_of(one).body):
            match statement:
                case Bind(operation=Call(callee=inner)) if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def attempted(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> frozenset[Callee]:
    """What a callee, what it calls, or a derivative that it takes, calls where an exception may be caught."""
    found: dict[Callee, bool] = {}
    pending = [(callee, False)]
    while pending:
        one, tried = pending.pop()
        if isinstance(one.function, Guarded):
            one, tried = unguarded(one), True
        if one in found and found[one] >= tried:
            continue
        found[one] = tried
        for statement in walk(normal_form_of(one).body):
            match statement:
                case Bind(operation=Call(callee=inner)):
                    pending.append((inner, tried))
    return frozenset(one for one, tried in found.items() if tried)


def stores_midway(function: Function) -> bool:
    """Whether a function may raise when it has stored something: all that it does before its last store only reads, and
    what a store itself raises leaves everything as it was."""
    lines = [statement for statement in function.body.statements if not isinstance(statement, Return)]
    before = lines[:-1]
    reads = (isinstance(s, Bind) and not (s.inplace or isinstance(s.operation, Call) or stores_of(s)) for s in before)
    return not all(reads) or not any(map(stores_of, lines[-1:]))


def _changed(statement: Statement, changes: Callable[[Callee], bool]) -> tuple[str, ...]:
    match statement:
        case Store(base=base) | AugStore(base=base) | SetField(base=base) | Delete(base=base):
            return (base,)
        case Bind(operation=Exchange(base=base)):
            return (base,)
        case Append(sequence=sequence) | Pop(sequence=sequence):
            return (sequence,)
        case Bind(target=target, inplace=True):
            return (target,)
        case Bind(operation=Call() as made) if changes(made.callee):
            return tuple(name for argument in made.arguments for name in atoms(argument))
    return ()


@dataclass(frozen=True)
class Put:
    """What is put into a container: the fact of it (None: nothing), the key, and what the container is known to be."""

    stored: Fact | None
    key: gast.expr | None = None
    into: Fact = field(default_factory=Unknown)


def opened(fact: Fact, put: Put) -> Fact:
    """What is still known of a value that may be, or hold, the container that something is put into."""
    if not isinstance(fact, Sequence | MappingFact | Object):  # as most are
        return fact
    match fact:
        case Sequence(kind="tuple", items=tuple() as items):
            left = tuple(opened(item, put) for item in items)
            return fact if all(map(is_, left, items)) else replace(fact, items=left)
        case Sequence(kind="tuple", item=item) if item is not None:
            return replace(fact, item=opened(item, put))
        case Sequence(items=items, item=item) if isinstance(put.into, MappingFact | Object):
            parts = None if items is None else tuple(opened(part, put) for part in items)
            return replace(fact, items=parts, item=None if item is None else opened(item, put))
        case Sequence(kind="list", items=()):
            return Sequence("list", None, put.stored)
        case Sequence(kind="list", items=tuple() as items) if _is_place(put.key) and put.stored is not None:
            return replace(fact, items=tuple(join(opened(item, put), put.stored) for item in items))  # of one length
        case Sequence(kind="list"):
            part = opened(element(fact), put)
            return Sequence("list", None, part if put.stored is None else join(part, put.stored))
        case MappingFact(items=tuple() as entries):
            return _opened_mapping(tuple((key, opened(part, put)) for key, part in entries), put)
        case Object(kind=kind, items=fields):
            return _opened_object(kind, tuple((name, opened(part, put)) for name, part in fields), put)
        case Sequence(kind=kind) if kind != "range":
            return Unknown()
    return fact


def _is_place(key: gast.expr | None) -> bool:
    """Whether a key is a literal place: under any other name it may be a slice, which changes how long a list is."""
    if isinstance(key, gast.UnaryOp):
        key = key.operand
    return isinstance(key, gast.Constant) and type(key.value) is int


def _opened_object(kind: type, fields: tuple[tuple[str, Fact], ...], put: Put) -> Fact:
    """An object in which something changes: one of its fields, or a container in one of them."""
    if isinstance(put.into, Sequence | MappingFact):
        return Object(kind, fields)
    name = put.key.value if isinstance(put.key, gast.Constant) else None
    if not isinstance(put.into, Object) or put.stored is None or name not in [field for field, _ in fields]:
        return Unknown()
    return Object(kind, tuple((field, join(part, put.stored) if field == name else part) for field, part in fields))


def _opened_mapping(entries: tuple[tuple[object, Fact], ...], put: Put) -> Fact:
    if isinstance(put.into, Sequence | Object):
        return MappingFact(entries)
    place = _constant(put.key)
    if put.stored is None or place not in [_marked(key) for key, _ in entries]:
        return MappingFact()
    stored = put.stored
    return MappingFact(tuple((k, join(part, stored) if _marked(k) == place else part) for k, part in entries))


def _constant(key: gast.expr | None) -> object:
    try:
        return None if key is None else _marked(literal(key))
    except ValueError:
        return None


def _marked(key: object) -> object:
    return type(key), key
