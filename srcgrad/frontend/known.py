"""What is known of the classes of values while compiling: which class an object has, which objects a container holds.

Enters: the arguments of a call, or the statements of a normal form.  Leaves: one ``Known`` per name, the join over all
its binders.  It decides which method ``model.predict(x)`` is, nothing else; arrays and numbers are ``Plain``::

    layers = [Linear(w, b), Tanh()]     Items(list, (Instance(Linear), Instance(Tanh)))
    for layer in layers:                layer    OneOf(Instance(Linear), Instance(Tanh))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.frontend.normal_form import (
    Append,
    Apply,
    Bind,
    Block,
    Call,
    Callee,
    Copy,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    If,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    While,
    With,
)
from srcgrad.runtime.objects import fields_of, is_object
from srcgrad.syntax.globals import GlobalReference

DEEPEST = 12  # objects inside objects that are told apart


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
        return next((known for field, known in self.fields if field == name), PLAIN)


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


Known = Plain | Data | Instance | Items | Entries | Value | OneOf | Result
Returned = Callable[[Callee], Known]
Stored = Callable[[Callee], Mapping[str, Known]]  # the fields that a callee sets
PLAIN = Plain()
DATA = Data()
NONE = Value(None)


def is_named_tuple(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, tuple) and isinstance(getattr(kind, "_fields", None), tuple)


def known_of(value: Any, depth: int = 0) -> Known:
    """What a program may be compiled for: classes, functions and None, never a number."""
    if depth > DEEPEST:
        return PLAIN
    if value is None or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType):
        return Value(value)
    if is_object(value):
        return Instance(type(value), tuple((n, known_of(v, depth + 1)) for n, v in fields_of(value).items()))
    if is_named_tuple(type(value)):
        parts = zip(type(value)._fields, value, strict=True)
        return Instance(type(value), tuple((n, known_of(v, depth + 1)) for n, v in parts))
    if type(value) in (list, tuple):
        return _told(Items(type(value), tuple(known_of(v, depth + 1) for v in value)))
    if type(value) is dict:
        return _told(Entries(tuple((k, known_of(v, depth + 1)) for k, v in value.items())))
    return DATA if isinstance(value, np.ndarray | np.generic | int | float | complex | str) else PLAIN


def _told(known: Items | Entries) -> Known:
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
    return known if any(item not in (PLAIN, DATA, NONE) for item in inside) else PLAIN


def matters(known: Known) -> bool:
    """Whether a callee should be compiled for it: an object, or what holds one."""
    return not isinstance(known, Plain | Data | Value | Result) and not (isinstance(known, Items) and not known.items)


def tells(known: Known) -> bool:
    """Whether anything can be decided by it."""
    return not isinstance(known, Plain | Data) and not (isinstance(known, Items) and known.items == ())


def cut(known: Known, depth: int = DEEPEST) -> Known:
    """The same without what lies deeper, so that a recursion that wraps its argument anew comes to an end."""
    match known:
        case Plain() | Data() | Value() | Result():
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
    if a == b:
        return a
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
            case Items(), Items() if choice.kind is other.kind:
                choices[j] = _sequences(choice, other)
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
    for name in names:
        known = join(a.field(name), b.field(name))
        joined.append((name, PLAIN if _depth(known) > 4 else known))
    return Instance(a.kind, tuple(joined))


def _sequences(a: Items, b: Items) -> Items:
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


# --- what statements bind --------------------------------------------------------------------------------------------
class Table:
    """Everything known of the names of one function; ``puts`` is what is put into containers after they are made."""

    def __init__(self, entry: Mapping[str, Known], returned: Returned, stored: Stored) -> None:
        self.names: dict[str, Known] = dict(entry)
        self.stored = stored
        self.puts: list[Known] = []
        self.fields: dict[str, Known] = {}  # what is stored into fields of this name, whatever object they are of
        self.returned = returned

    def of(self, name: str) -> Known:
        return self.resolved(self.names.get(name, PLAIN))

    def note(self, name: str, known: Known) -> None:
        present = self.names.get(name)
        if present is None or present == known:
            self.names[name] = known
        elif present != PLAIN:
            self.names[name] = join(present, known)

    def resolved(self, known: Known) -> Known:
        """What is known of a result, its callee having been looked into."""
        match known:
            case Result(callee=callee):
                return self.returned(callee)
            case OneOf(choices=choices) if any(isinstance(choice, Result) for choice in choices):
                made = self.resolved(choices[0])
                for choice in choices[1:]:
                    made = join(made, self.resolved(choice))
                return made
        return known

    def atom(self, expression: gast.expr) -> Known:
        if isinstance(expression, GlobalReference):
            binding = expression.binding
            return known_of(binding.value) if binding.cell is None else PLAIN
        match expression:
            case gast.Constant(value=None):
                return NONE
            case gast.Constant():
                return DATA
            case gast.Name(id=name):
                return self.names.get(name, PLAIN)
        return PLAIN

    def field(self, known: Known, name: str) -> Known:
        match known:
            case Instance():
                if name in self.fields:
                    held = dict(known.fields).get(name)
                    return self.fields[name] if held is None else join(held, self.fields[name])
                return known.field(name)
            case OneOf(choices=choices):
                parts = [self.field(c, name) for c in choices if isinstance(c, Instance)]
                made = parts[0] if parts else PLAIN
                for part in parts[1:]:
                    made = join(made, part)
                return made
        return PLAIN

    def item(self, known: Known, index: gast.expr) -> Known:
        match known:
            case OneOf(choices=choices):
                parts = [self.item(c, index) for c in choices if c != NONE]
                made = parts[0] if parts else PLAIN
                for part in parts[1:]:
                    made = join(made, part)
                return made
            case Instance(kind=kind, fields=fields) if is_named_tuple(kind):
                return self.item(Items(tuple, tuple(inner for _, inner in fields)), index)
            case Items(kind=kind) if isinstance(index, gast.Slice):
                return Items(kind, None, self._with_puts(known.any(), kind))
            case Items(kind=kind, items=tuple() as listed) if not (self.puts and kind is list):
                position = _integer(index)
                if position is not None and -len(listed) <= position < len(listed):
                    return listed[position]
                return known.any()
            case Items(kind=kind):
                return self._with_puts(known.any(), kind)
            case Entries(items=items) if isinstance(index, gast.Constant) and not self.puts:
                return next((inner for key, inner in items if key == index.value), PLAIN)
            case Entries():
                return self._with_puts(known.any(), dict)
        return PLAIN

    def _with_puts(self, known: Known, kind: type) -> Known:
        if kind is not tuple:
            for put in self.puts:
                known = join(known, put)
        return known

    def value(self, statement: Bind) -> Known:
        match statement.operation:
            case Copy(source=source):
                return self.names.get(source, PLAIN)
            case Field(base=base, name=name):
                return self.field(self.of(base), name)
            case Index(base=base, index=index):
                return self.item(self.of(base), index)
            case Call(callee=callee):
                return Result(callee)
            case Pack(of=type() as kind, elements=elements, keys=keys):
                names = [k.value for k in keys] or list(kind._fields)  # type: ignore[attr-defined]
                return Instance(kind, tuple((n, self.atom(e)) for n, e in zip(names, elements, strict=True)))
            case Pack(kind="dict", elements=elements, keys=keys):
                if all(isinstance(key, gast.Constant) for key in keys):
                    return _told(Entries(tuple((k.value, self.atom(e)) for k, e in zip(keys, elements, strict=True))))
            case Pack(kind=kind, elements=elements) if kind in ("list", "tuple"):
                return _told(Items(list if kind == "list" else tuple, tuple(map(self.atom, elements))))
            case Fixed():
                return self.atom(statement.expression)
            case Apply(rule=rule) if rule.kind == "elementwise":
                return DATA
        return PLAIN

    def enter(self, statement: Statement) -> None:
        """Take up what one statement binds."""
        match statement:
            case Bind(target=target):
                if isinstance(statement.operation, Exchange):
                    made = statement.operation
                    self.puts += [self.atom(made.arguments[j]) for j in made.held]
                    self.note(target, self._exchanged(self.of(made.base)))
                else:
                    self.note(target, self.value(statement))
                    if isinstance(statement.operation, Call) and statement.operation.callee.classes:
                        for name, known in self.stored(statement.operation.callee).items():
                            self._set(name, known)
            case Unpack(targets=targets, source=source, star=star):
                known = self.of(source)
                for j, target in enumerate(targets):
                    if star is None:
                        self.note(target, self.item(known, gast.Constant(j, None)))
                    else:
                        inside = known.any() if isinstance(known, Items) else PLAIN
                        self.note(target, Items(list, None, inside) if j == star else inside)
            case Append(sequence=sequence, value=value):
                present = self.of(sequence)
                is_one = isinstance(present, Items) and isinstance(value, gast.Name | gast.Constant)
                added = Items(list, None, self.atom(value))
                self.names[sequence] = _told(_sequences(present, added)) if is_one else PLAIN  # type: ignore[arg-type]
            case Pop(targets=targets):
                for target in targets:
                    self.note(target, PLAIN)
            case Store(base=base, value=value):
                if matters(self.of(base)):
                    self.puts.append(self.atom(value))
            case SetField(name=name, value=value):
                self._set(name, self.atom(value))
            case For(index=index):
                self.note(index, PLAIN)

    def _set(self, name: str, known: Known) -> None:
        self.fields[name] = join(self.fields[name], known) if name in self.fields else known

    def same_changes(self, other: Table) -> bool:
        """Whether another table knows of the same changes of fields and containers."""
        return self.fields == other.fields and set(self.puts) == set(other.puts)

    def _exchanged(self, base: Known) -> Known:
        if isinstance(base, Items):
            return self._with_puts(base.any(), list)
        return self._with_puts(base.any(), dict) if isinstance(base, Entries) else PLAIN


def _integer(index: gast.expr) -> int | None:
    match index:
        case gast.Constant(value=bool()):
            return None
        case gast.Constant(value=int() as value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as value)):
            return -value
    return None


def statements_of(block: Block) -> Iterable[Statement]:
    """Every statement of a block in the order of the text."""
    pending = list(reversed(block.statements))
    while pending:
        statement = pending.pop()
        yield statement
        match statement:
            case If(body=body, orelse=orelse):
                pending += [*reversed(orelse.statements), *reversed(body.statements)]
            case For(body=body) | While(body=body) | With(body=body):
                pending += reversed(body.statements)


ROUNDS = 6  # after which a name whose class is still unsettled is not known


def inferred(function: Function, entry: Mapping[str, Known], returned: Returned, stored: Stored) -> Table:
    """What is known of every name, whatever point of the function is asked about."""
    statements = list(statements_of(function.body))
    table = Table(entry, returned, stored)
    for _ in range(ROUNDS):
        before = dict(table.names), set(table.puts), dict(table.fields)
        for statement in statements:
            table.enter(statement)
        table.puts = list(dict.fromkeys(table.puts))
        if (table.names, set(table.puts), table.fields) == before:
            return table
    settled = Table(entry, returned, stored)
    settled.names = dict.fromkeys(table.names, PLAIN)
    return settled


def any_objects(function: Function) -> bool:
    """Whether a function makes objects, or may be handed some by its callees."""
    operations = (s.operation for s in statements_of(function.body) if isinstance(s, Bind))
    return any(isinstance(made, Call) or isinstance(made, Pack) and made.of is not None for made in operations)


def returns(function: Function, table: Table) -> Known:
    """What is known of the result."""
    made: Known | None = None
    for statement in statements_of(function.body):
        if isinstance(statement, Return):
            known = table.atom(statement.value)
            made = known if made is None else join(made, known)
    return NONE if made is None else made
