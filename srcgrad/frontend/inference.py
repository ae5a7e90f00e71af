"""What is known of the classes of a function's names: the join over what binds them, and what is put elsewhere.

Enters: the statements of a normal form, one by one as they are written or all of them.  Leaves: a ``Table``; of names,
and of what is put into fields and containers, here or in callees, whatever object they belong to::

    layers = [Linear(w, b), Tanh()]     layers   Items(list, (Instance(Linear), Instance(Tanh)))
    for layer in layers: ...            layer    OneOf(Instance(Linear), Instance(Tanh))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import FunctionType, ModuleType

import gast

from srcgrad import runtime
from srcgrad.frontend.bound_methods import kept_method
from srcgrad.frontend.handing import handed_on, is_of_sparse, of_sparse
from srcgrad.frontend.known import (
    DATA,
    NEVER,
    NONE,
    PLAIN,
    Bag,
    Blurred,
    Closed,
    Data,
    Entries,
    Instance,
    Items,
    Known,
    Never,
    OneOf,
    Plain,
    Result,
    Value,
    blurred,
    changed_inside,
    classes_in,
    folded,
    holds,
    is_apart,
    is_named_tuple,
    join,
    made_of,
    matters,
    sequences,
    tells,
    text_of,
    told,
    without,
)
from srcgrad.frontend.meeting import known_of, known_of_attribute, known_outside, taken_outside
from srcgrad.frontend.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Callee,
    Copy,
    Delete,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    Held,
    Index,
    LocalFunction,
    Pack,
    Pop,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
)
from srcgrad.frontend.puts import ITEMS, Put, is_put, keys_put, place_in, put_at, put_into
from srcgrad.frontend.walking import statements_of
from srcgrad.rules.formula import literal, object_of
from srcgrad.syntax.globals import GlobalReference

Returned = Callable[[Callee], Known]
Stored = Callable[[Callee], Iterable[tuple[str, Known]]]  # the fields that a callee sets


class Table:
    """Everything known of the names of one function; ``puts`` is what is put into containers after they are made."""

    def __init__(self, entry: Mapping[str, Known], returned: Returned, stored: Stored) -> None:
        self.names: dict[str, Known] = dict(entry)
        self.bound: dict[str, list[Known]] = {}  # what else than numbers a name was bound to
        self.read_from: dict[str, str | None] = {}  # the field that all values of a name were read from
        self.assumed: Mapping[str, Known] = {}  # of names, wherever they are asked for
        self.stored = stored
        self.generated = False  # our own output: tuples that are appended are records, on lists of their own
        self.puts: list[Put] = []
        self.fields: dict[str, Known] = {}  # what is stored into fields of this name, whatever object they are of
        self.handed: set[str] = set()  # names whose memory a method may hold that an operator calls
        self.returned = returned

    def of(self, name: str) -> Known:
        return self.resolved(self.names.get(name, PLAIN))

    def note(self, name: str, known: Known) -> None:
        if not isinstance(known, Plain | Data | Never | Value):
            self.bound.setdefault(name, []).append(known)
        present = self.names.get(name)
        if name in self.assumed:
            self.names[name] = self.assumed[name]
        elif present is None or present == known:
            self.names[name] = known
        else:
            self.names[name] = join(present, known)

    def seen_through(self, known: Blurred) -> Known:
        """The same, the calls having been looked into; ``Plain`` where they return no objects."""
        looked_into: set[Result] = set()
        while left := known.results - looked_into:
            looked_into |= left
            found = blurred(Blurred(known.kinds), *map(self.resolved, left))
            known = found if isinstance(found, Blurred) else Blurred()
        return Blurred(known.kinds) if known.kinds else PLAIN

    def resolved(self, known: Known) -> Known:
        """What is known of a result, its callee having been looked into."""
        match known:
            case Result(callee=callee):
                return folded(self.returned(callee))
            case OneOf(choices=choices) if any(isinstance(choice, Result) for choice in choices):
                made = self.resolved(choices[0])
                for choice in choices[1:]:
                    made = join(made, self.resolved(choice))
                return made
        return known

    def atom(self, expression: gast.expr) -> Known:
        if isinstance(expression, GlobalReference):
            binding = expression.binding
            return known_of(binding.value) if binding.cell is None else known_outside(binding.value)
        match expression:
            case gast.Constant(value=None):
                return NONE
            case gast.Constant():
                return DATA
            case gast.Name(id=name):
                return self.names.get(name, PLAIN)
            case gast.Attribute(value=owner, attr=name) if isinstance(owned := object_of(owner), ModuleType | type):
                return known_of_attribute(owned, name)
            case gast.Subscript(value=owner, slice=index) if (base := self.atom(owner)) != PLAIN:
                return self.item(base, index)
            case gast.Attribute(value=owner, attr=name) if isinstance(base := self.atom(owner), Instance):
                return self.field(base, name) if name in dict(base.fields) else PLAIN
        return taken_outside(expression)

    def field(self, known: Known, name: str) -> Known:
        match known:
            case Instance():
                if name in self.fields:
                    held = known.field(name) if name in dict(known.fields) else without(known.kind, name)
                    return join(held, self.fields[name])
                held = PLAIN if name in dict(known.fields) else known_of_attribute(known.kind, name)
                return held if held != PLAIN else known.field(name)
            case OneOf(choices=choices):
                made: Known = NEVER  # an object that has no such field is not what is read from
                for choice in choices:
                    if isinstance(choice, Instance):
                        holds = name in self.fields or name in dict(choice.fields)
                        made = join(made, self.field(choice, name) if holds else without(choice.kind, name))
                return PLAIN if made == NEVER else made
        return known if isinstance(known, Blurred) else PLAIN

    def item(self, known: Known, index: gast.expr) -> Known:
        match known:
            case Data():
                return DATA
            case Closed(held=held):
                return self.item(held, index)
            case OneOf(choices=choices):
                parts = [self.item(c, index) for c in choices if c != NONE]
                made = parts[0] if parts else PLAIN
                for part in parts[1:]:
                    made = join(made, part)
                return made
            case Instance(kind=kind, fields=fields) if is_named_tuple(kind):
                return self.item(Items(tuple, tuple(known.field(name) for name, _ in fields)), index)
            case Items(kind=kind) if isinstance(index, gast.Slice):
                return Items(kind, None, self._with_puts(known, kind))
            case Items(kind=kind, items=()) if not (put_into(self.puts, kind) or self.generated):
                return NEVER
            case Items(kind=kind, items=tuple() as listed) if not put_into(self.puts, kind) or kind is tuple:
                position = literal(index)[1]
                if type(position) is int and -len(listed) <= position < len(listed):
                    return listed[position]  # type: ignore[no-any-return]
                return known.any()
            case Items(kind=kind):
                return self._with_puts(known, kind)
            case Entries() if isinstance(index, gast.Constant):
                return self._entry(known, index.value)
            case Entries():
                return self._with_puts(known, dict)
        return known if isinstance(known, Blurred) else PLAIN

    def _with_puts(self, container: Items | Entries, kind: type) -> Known:
        """What any item is: one that was there at first, or one that was put into some container later."""
        if self.generated and isinstance(container, Items) and container.items == ():
            return PLAIN  # it may be the shadow of what the objects were put into
        found = put_into(self.puts, kind) if kind is not tuple else []
        is_empty = isinstance(container, Items) and container.items == ()
        return _either(None if is_empty else container.any(), found)

    def _entry(self, container: Entries, key: object) -> Known:
        """What a dict holds under a key: what was there at first, or what was put there later."""
        held = next((inner for name, inner in container.items if name == key), None)
        return _either(held, put_at(self.puts, key))

    def value(self, statement: Bind) -> Known:
        match statement.operation:
            case Copy(source=source, of=of):
                return made_of(self.of(source), of) if of else self.names.get(source, PLAIN)
            case Field(base=base, name=name):
                return self.field(self.of(base), name)
            case Index(base=base, index=index):
                return self.item(self.of(base), index)
            case Call(callee=callee):
                return Result(callee)
            case Pack(of=type() as kind, elements=elements, keys=keys, kind=display):
                made_of_fields = display == "object"
                names = [k.value for k in keys] if made_of_fields else list(kind._fields)  # type: ignore[attr-defined]
                return Instance(kind, tuple((n, self.atom(e)) for n, e in zip(names, elements, strict=True)))
            case Pack(kind="dict", elements=()):
                return Items(dict, ())
            case Pack(kind="dict", elements=elements, keys=keys):
                if all(isinstance(key, gast.Constant) for key in keys):
                    return told(Entries(tuple((k.value, self.atom(e)) for k, e in zip(keys, elements, strict=True))))
            case Pack(elements=(_, *rest)) if (text := text_of(statement.operation)) is not None:
                return self._closed(text, [DATA, *map(self.atom, rest)])
            case Pack(kind=kind, elements=elements) if kind in ("list", "tuple"):
                return told(Items(list if kind == "list" else tuple, tuple(map(self.atom, elements))))
            case Unruled(makes=known) if known is not None:
                return known  # type: ignore[return-value]
            case Fixed():
                return kept_method(statement.expression) or self.atom(statement.expression)
            case Apply(function=runtime.private, arguments={"values": gast.Tuple(elts=elements)}):
                given = tuple(map(self.atom, elements))
                return given[0] if len(given) == 1 else told(Items(tuple, given))
            case Apply(function=function, arguments={"A": gast.Name(id=name) as pattern}) if is_of_sparse(function):
                return DATA if self.generated else of_sparse(function, self.resolved(self.atom(pattern)), name)
            case Apply(rule=rule, function=function, arguments=arguments):
                parts = [part for argument in arguments.values() for part in _parts(argument)]
                known = [self.resolved(self.atom(part)) for part in parts]
                return handed_on(function, rule, known, self.item, self.resolved)
        return PLAIN

    def _closed(self, text: Held, parts: list[Known]) -> Known:
        """A local function as a value; nothing is known of one that holds others of itself, however deep."""
        held = Items(tuple, tuple(map(self.settled, parts)))
        function = text.callee.function
        if not isinstance(function, LocalFunction | FunctionType) or holds(held, function):
            return PLAIN
        return Closed(function, held)

    def _filled(self, name: str, item: Known) -> None:
        """Take up that a list, deque or dict of this name has been given an item."""
        present = self.of(name)
        added = Items(present.kind if isinstance(present, Items) else list, None, item)
        self.names[name] = told(sequences(present, added)) if isinstance(present, Items) else blurred(present, item)
        if matters(added):
            self.bound.setdefault(name, []).append(added)

    def enter(self, statement: Statement) -> None:
        """Take up what one statement binds."""
        match statement:
            case Bind(target=target):
                field = statement.operation.name if isinstance(statement.operation, Field) else None
                self.read_from[target] = field if self.read_from.get(target, field) == field else None
                if isinstance(statement.operation, Exchange):
                    made = statement.operation
                    for j in made.held:
                        self._put_in(made.base, self.atom(made.arguments[j]), made.method)
                    self.note(target, self._exchanged(self.of(made.base)))
                    self.put(NEVER)
                else:
                    self.note(target, self.value(statement))
                    if isinstance(statement.operation, Call):
                        for name, known in self.stored(statement.operation.callee):
                            if is_put(name):
                                self.put(known, name)
                            else:
                                self._set(name, known)
            case Unpack(targets=targets, source=source, star=star):
                known = self.of(source)
                if isinstance(known, Items) and known.kind is dict:
                    known = PLAIN  # its keys
                for j, target in enumerate(targets):
                    if star is None:
                        self.note(target, self.item(known, gast.Constant(j, None)))
                    else:
                        inside = known.any() if isinstance(known, Items) else PLAIN
                        self.note(target, Items(list, None, inside) if j == star else inside)
            case Append(sequence=sequence, value=value):
                present = self.of(sequence)
                added = self.resolved(self.atom(value))
                self._filled(sequence, added if isinstance(value, gast.Name | gast.Constant) else PLAIN)
                field = self.read_from.get(sequence)
                held = present.any() if isinstance(present, Items) else PLAIN
                if self.generated and any(isinstance(each, Items) and each.kind is tuple for each in (added, held)):
                    return  # a tape
                if field is not None and not tells(added) and (matters(present) or isinstance(present, Plain)):
                    self._set(field, PLAIN)  # no list of objects alone any more; other lists are what they were
                elif tells(added) or matters(present):
                    self.put(added, place_in(present))
            case Pop(targets=targets):
                for target in targets:
                    self.note(target, PLAIN)
                if not self.generated:
                    self.put(NEVER)
            case Delete():
                self.put(NEVER)
            case Store(base=base, index=index, value=value):
                stored = self.resolved(self.atom(value))
                if isinstance(index, gast.Slice) and isinstance(stored, Items | Entries):
                    stored = self.resolved(stored.any())
                present = self.of(base)
                if isinstance(present, Items) and present.kind is dict or isinstance(present, Plain):
                    self._filled(base, stored)
                if matters(present) or tells(stored):
                    self.put(stored, place_in(present, index))
            case SetField(name=name, value=value):
                self._set(name, self.atom(value))
            case For(index=index):
                self.note(index, PLAIN)

    def put(self, known: Known, where: str = ITEMS) -> None:
        """Note that something was put into a container, nobody knows which, or with ``NEVER`` that items of lists may
        have changed their places."""
        if (where, known) not in self.puts:
            self.puts.append((where, known))

    def _put_in(self, base: str, known: Known, method: str) -> None:
        if method == "extend" and isinstance(known, Items):
            known = known.any()
        present = self.of(base)
        if matters(present) or tells(known):
            self.put(known, place_in(present))

    def _set(self, name: str, known: Known) -> None:
        self.fields[name] = join(self.fields[name], known) if name in self.fields else known

    def settled(self, known: Known) -> Known:
        """What is known of a value and its parts, callees having been looked into; see ``folded``."""

        def change(part: Known) -> Known | None:
            made = self.resolved(part)
            return None if made is part else changed_inside(made, change, None)

        return folded(changed_inside(known, change, None))

    def enriched(self, known: Known, depth: int = 3) -> Known:
        """An object together with the fields that it may have been given here, a list with what was put into one."""
        if not (self.fields or self.puts) or depth == 0:
            return known
        match known:
            case Items(kind=kind) if kind is not tuple and put_into(self.puts, kind):
                return Items(kind, None, self.enriched(self.resolved(self._with_puts(known, kind)), depth - 1))
            case Entries(items=entries):
                keys = keys_put((place, put) for place, put in self.puts if classes_in(put, self.resolved))
                if keys is None:
                    return Items(dict, None, self.enriched(self.resolved(self._with_puts(known, dict)), depth - 1))
                every = dict.fromkeys([*(key for key, _ in entries), *keys])
                held = (self.enriched(self.resolved(self._entry(known, key)), depth - 1) for key in every)
                return Entries(tuple(zip(every, held, strict=True)))
            case Items(kind=kind, items=tuple() as items):
                return Items(kind, tuple(self.enriched(item, depth) for item in items))
            case Instance(kind=kind, fields=fields):
                names = [name for name, _ in fields]
                names += [name for name in self.fields if name not in names]
                parts = [(name, self.resolved(self.field(known, name))) for name in names]
                return Instance(kind, tuple((name, self.enriched(part, depth - 1)) for name, part in parts))
            case Closed(held=held):
                return replace(known, held=self.enriched(held, depth - 1))
            case OneOf(choices=choices):
                return OneOf(tuple(self.enriched(choice, depth) for choice in choices))
        return known

    def changes(self) -> tuple[tuple[str, Known], ...]:
        """What a caller is told: fields that were set, and what was put into containers."""
        return (*self.fields.items(), *self.puts)

    def same_changes(self, other: Table) -> bool:
        """Whether another table knows of the same changes of fields and containers."""
        return self.fields == other.fields and set(self.puts) == set(other.puts)

    def _exchanged(self, base: Known) -> Known:
        if not isinstance(base, Items | Entries):
            return PLAIN
        return self._with_puts(base, base.kind if isinstance(base, Items) else dict)


ROUNDS = 6  # after which a name whose class is still unsettled is not known


def _either(held: Known | None, put: list[Known]) -> Known:
    """What was held at first, or put there later."""
    if isinstance(held, Items | Entries | Instance | Bag):  # what holds lists is another list than they are
        put = [each for each in put if not is_apart(held, each)]
    found = put if held is None else [held, *put]
    made = found[0] if found else PLAIN
    for each in found[1:]:
        made = join(made, each)
    return made


def _parts(argument: gast.expr) -> list[gast.expr]:
    return argument.elts if isinstance(argument, gast.Tuple) else [argument]


def inferred(function: Function, entry: Mapping[str, Known], returned: Returned, stored: Stored) -> Table:
    """What is known of every name, whatever point of the function is asked about."""
    statements = list(statements_of(function.body))
    table = Table(entry, returned, stored)
    table.generated = function.generated
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
