"""Shadows of containers: what is put into one, what comes out of it, and every change of it, mirrored as it happens.

Enters: statements of the normal form that build, read or change what may be a container.  Leaves: the same statements
with those of their shadows beside them.  The reverse sweep reads references that the forward sweep held, and never a
container, so that a change of a container has no adjoint::

    L = [x, s]             s_cell = shadow(s);  L_bar = [x_bar, s_cell];  L = [x, s]          s is a number
    y = L[i]               y_bar = L_bar[i];  y = L[i]
    L.append(y)            L_bar.append(y_bar);  L.append(y)
    w[i] = e               if not isinstance(w, np.ndarray): w_bar[i] = e_bar;  w[i] = e       w unknown
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.references import local_names, names_mentioned
from srcgrad.analysis.regions import reads_contents
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import is_defaulting
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Append,
    Apply,
    Bind,
    Call,
    Copy,
    Delete,
    Effect,
    Exchange,
    Fixed,
    Function,
    Index,
    Operation,
    Pack,
    Pop,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
)
from srcgrad.rules.facts import Array, Fact, Unknown, is_floating
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.facts import Sequence as SequenceFact
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import CHANGES
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import builtin_call, constant, is_array, load, method, subscript, tuple_of
from srcgrad.transform.contributions import index_value
from srcgrad.transform.shadows import Shadows

#: Methods that take a default beside a key: what they may hand out, or put in.
_DEFAULTS = ("get", "pop", "setdefault")


class Mirroring:
    """Writes a function's statements with the shadows of containers; arrays are left to ``transform.shadowing``."""

    def __init__(
        self,
        function: Function,
        facts: Mapping[str, Fact],
        classes: MemoryClasses,
        summary_of: Callable[[Call], Summary],
    ) -> None:
        self.function = function
        self.summary_of = summary_of
        self.facts = facts
        self.shadowed = classes.shadowed
        self.namer = Namer([*function.parameters, *(n for s in walk(function.body) for n in names_mentioned(s))])
        self.result = Shadows(function, classes)
        self.result.changing = frozenset(self._changing(classes))
        self.out: list[Statement] = []

    def _changing(self, classes: MemoryClasses) -> set[str]:
        """The names of classes in which a container changes, or may."""
        roots: set[str] = set()
        for statement in walk(self.function.body):
            match statement:
                case Append(sequence=name) | Pop(sequence=name) | SetField(base=name) | Delete(base=name) | Bind(
                    operation=Exchange(base=name) | Unruled(changes=str() as name)
                ):
                    roots.add(classes.root(name))
                case Store(base=name) if not isinstance(self.fact(name), Array):
                    roots.add(classes.root(name))
                case Bind(operation=Call(arguments=arguments) as made):
                    stored = (n for j in self.summary_of(made).stored for n in atoms(arguments[j]))
                    roots.update(classes.root(n) for n in stored if not isinstance(self.fact(n), Array))
        return {name for name in self.shadowed if classes.root(name) in roots}

    def may_change_later(self, classes: MemoryClasses, given: Collection[str]) -> None:
        """The caller may change the containers that it has given or is returned, after this function is done and before
        it is reversed."""
        roots = {classes.root(name) for name in given if not self.is_array(name)}
        self.result.changing |= {name for name in self.shadowed if classes.root(name) in roots}

    # --- writing -----------------------------------------------------------------------------------------------------
    def add(self, target: str, expression: gast.expr, span: Span, operation: Copy | Fixed | None = None) -> None:
        """Bind a name that this pass makes."""
        statement = Bind(target, expression, operation or Fixed(), span)
        self.result.made.add(statement)
        if isinstance(operation, Copy):
            self.result.handed.add(statement)
        self.out.append(statement)

    def change(self, base: str, made: gast.stmt, span: Span) -> None:
        """A statement that changes the shadow of the container ``base``."""
        statement = Effect(made, span)
        self.result.made.add(statement)
        self.result.effects[statement] = base
        self.out.append(statement)

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def bar(self, name: str) -> gast.expr:
        return load(self.result.bars[name])

    def zeros(self, name: str) -> gast.expr:
        fact = self.fact(name)
        plain = isinstance(fact, Array) and bool(fact.shape) and is_floating(fact.dtype)
        return call_runtime(runtime.zeros_like if plain else runtime.shadow, load(name))

    def refused(self, statement: Statement, what: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{what} cannot be reversed yet", statement.span, code="E0304", label="its memory is stored into elsewhere",
            hint="copy the array before it is stored into: np.copy(...)",
        )  # fmt: skip

    def settled(self, index: gast.expr, span: Span) -> gast.expr:
        """An index whose value does not change with what it is read from."""
        match index:
            case gast.Tuple(elts=elements):
                return gast.Tuple([self.settled(e, span) for e in elements], gast.Load())
            case gast.Slice(lower=lower, upper=upper, step=step):
                return gast.Slice(*(None if e is None else self.settled(e, span) for e in (lower, upper, step)))
        if not reads_contents(index, self.shadowed):
            return clone(index)
        place = self.namer.fresh("place")
        self.add(place, call_runtime(runtime.snapshot, clone(index)), span)
        return load(place)

    def held(self, value: gast.expr, statement: Statement) -> gast.expr:
        """The shadow of what a statement puts into a container; a number gets a cell."""
        names = atoms(value) if isinstance(value, gast.Name) else ()
        if names and names[0] in self.shadowed:
            return self.bar(names[0])
        if isinstance(value, gast.Tuple):
            return tuple_of([self.held(part, statement) for part in value.elts])
        cell = self.namer.fresh(f"{names[0] if names else 'value'}_cell")
        self.add(cell, call_runtime(runtime.shadow, clone(value)), statement.span)
        if names:
            self.result.put.setdefault(statement, []).append((names[0], cell))
        return load(cell)

    def received(self, target: str, statement: Statement) -> str:
        """The name for the shadow of what a statement takes out of a container."""
        if target in self.shadowed:
            return self.result.bars[target]
        cell = self.namer.fresh(f"{target}_cell")
        self.result.taken.setdefault(statement, []).append((target, cell))
        return cell

    def as_before(self, name: str, statement: Bind) -> tuple[str, str]:
        """A name and its shadow, under other names where the statement binds the name anew."""
        value, value_bar = name, self.result.bars[name]
        if name == statement.target:
            value, value_bar = self.namer.fresh(name), self.namer.fresh(value_bar)
            self.add(value, load(name), statement.span)
            self.add(value_bar, self.bar(name), statement.span)
        return value, value_bar

    def is_number(self, name: str) -> bool:
        fact = self.fact(name)
        return isinstance(fact, Array) and fact.scalar

    def is_array(self, name: str) -> bool:
        return isinstance(self.fact(name), Array)

    def is_container(self, name: str) -> bool:
        return isinstance(self.fact(name), SequenceFact | MappingFact)

    # --- reading -----------------------------------------------------------------------------------------------------
    def part(self, statement: Bind, base: str, index: gast.expr) -> None:
        """``target = base[index]``, or a field, of what is not known to be an array."""
        target, span = statement.target, statement.span
        index = self.settled(index, span)
        if any(n.id == target for n in local_names(index)):
            place = self.namer.fresh("place")
            self.add(place, index_value(index), span)
            index = load(place)
        bar = self.received(target, statement)
        if self.is_container(base) and not isinstance(index, gast.Slice):
            self.add(bar, subscript(self.bar(base), index), span)
            self.out.append(statement)
            self.result.handed.add(statement)
            return
        value, value_bar = self.as_before(base, statement)
        self.out.append(statement)
        parts = (load(target), load(value), load(value_bar), index_value(index))
        self.add(bar, call_runtime(runtime.part_like, *parts), span)
        self.result.parts.setdefault(statement, []).append((bar, base, clone(index)))
        self.result.handed.add(statement)

    def by_targets(self, statement: Statement) -> list[Statement]:
        """Numbers that are unpacked to names of mutable classes: each, and the list of the rest, gets a shadow of its
        own, since what they are unpacked from has none."""
        match statement:
            case Unpack(targets=targets, source=source, star=star, span=span) if (
                source not in self.shadowed and not self.shadowed.isdisjoint(targets)
            ):
                if star is None and source not in targets:
                    places = [constant(j) for j in range(len(targets))]
                    pairs = zip(targets, places, strict=True)
                    return [Bind(t, subscript(load(source), place), Index(source, place), span) for t, place in pairs]
                parts = tuple(self.namer.fresh(target) for target in targets)
                made: list[Statement] = [replace(statement, targets=parts)]
                for j, (target, part) in enumerate(zip(targets, parts, strict=True)):
                    expression: gast.expr = load(part)
                    operation: Operation = Copy(part)
                    if j == star:  # the parts of the tuple are read from this list, which nobody changes
                        rule = lookup(np.copy)
                        assert rule is not None
                        expression, operation = method(part, "copy"), Apply(rule, np.copy, {"a": load(part)})
                    made.append(Bind(target, expression, operation, span))
                return made
        return [statement]

    def unpack(self, statement: Unpack) -> None:
        """The parts of a tuple, list or array by their places."""
        source, span, star = statement.source, statement.span, statement.star
        count = len(statement.targets)
        overwritten = source in statement.targets
        kept: list[tuple[str, str]] = []
        if not overwritten:  # first, since it raises where the number of parts does not fit
            self.out.append(statement)
        for j, target in enumerate(statement.targets):
            if star is not None and j == star:
                stop = constant(star + 1 - count) if star + 1 < count else None
                index: gast.expr = gast.Slice(constant(star), stop, None)
            else:
                index = constant(j if star is None or j < star else j - count)
            made = self.namer.fresh(f"{target}_bar")
            bar = self.received(target, statement)
            value: gast.expr = subscript(self.bar(source), index)
            if not self.is_container(source):
                read = subscript(load(source), clone(index))
                like = runtime.rest_like if isinstance(index, gast.Slice) else runtime.part_like
                value = call_runtime(like, read, load(source), self.bar(source), index_value(index))
                if isinstance(index, gast.Slice) and target in self.result.changing:  # the list may hold others later
                    bar = self.namer.fresh(f"{target}_bar")
                    kept.append((bar, made))
                self.result.parts.setdefault(statement, []).append((bar, source, clone(index)))
            elif isinstance(index, gast.Slice):
                value = builtin_call(list, value)
            self.add(made, value, span)
        names = [s.target for s in self.out[-count:] if isinstance(s, Bind)]
        for bar, made in kept:
            self.add(bar, call_runtime(runtime.frozen, load(made)), span)
        if overwritten:
            self.out.append(statement)
        cells = dict(self.result.taken.get(statement, ()))
        for target, made in zip(statement.targets, names, strict=True):
            self.add(self.result.bars[target] if target in self.shadowed else cells[target], load(made), span)

    # --- building ----------------------------------------------------------------------------------------------------
    def pack(self, statement: Bind, made: Pack) -> None:
        parts = [self.held(element, statement) for element in made.elements]
        value: gast.expr
        match made.kind:
            case "tuple":
                value = tuple_of(parts)
            case "list":
                value = gast.List(parts, gast.Load())
            case _:
                value = gast.Dict([clone(key) for key in made.keys], parts)
                value = call_runtime(runtime.defaulting, value) if is_defaulting(statement) else value
        fresh = self.namer.fresh(self.result.bars[statement.target])
        self.add(fresh, value, statement.span)
        self.out.append(statement)
        self.add(self.result.bars[statement.target], load(fresh), statement.span)
        self.result.handed.add(statement)

    # --- changing ----------------------------------------------------------------------------------------------------
    def append(self, statement: Append) -> None:
        value = self.held(statement.value, statement)
        base = statement.sequence
        self.change(base, gast.Expr(method(self.result.bars[base], "append", value)), statement.span)
        self.out.append(statement)

    def pop(self, statement: Pop) -> None:
        base, span = statement.sequence, statement.span
        bars = [self.received(target, statement) for target in statement.targets]
        item = self.namer.fresh(f"{base}_item")
        self._taken_out(item, base, method(self.result.bars[base], "pop"), span)
        self.out.append(statement)
        for j, bar in enumerate(bars):
            self.add(bar, subscript(load(item), constant(j)) if statement.tupled else load(item), span)

    def _taken_out(self, name: str, base: str, value: gast.expr, span: Span) -> None:
        """Bind a name to what is taken out of the shadow of a container, which changes it."""
        statement = Bind(name, value, Fixed(), span)
        self.result.made.add(statement)
        self.result.effects[statement] = base
        self.out.append(statement)

    def set_field(self, statement: SetField) -> None:
        value = self.held(statement.value, statement)
        place = gast.Subscript(self.bar(statement.base), constant(statement.name), gast.Store())
        self.change(statement.base, gast.Assign([place], value, None), statement.span)
        self.out.append(statement)

    def delete(self, statement: Delete) -> None:
        index = constant(statement.name) if statement.index is None else clone(statement.index)
        place = gast.Subscript(self.bar(statement.base), index, gast.Del())
        if statement.index is None:  # first, since it raises where the object has no such field
            self.out.append(statement)
        self.change(statement.base, gast.Delete([place]), statement.span)
        if statement.index is not None:
            self.out.append(statement)

    def store_item(self, statement: Store) -> None:
        """``base[index] = value`` where the base is a container, or nothing is known of it."""
        base, span = statement.base, statement.span
        value = self.held(statement.value, statement)
        if self.is_container(base):
            place = gast.Subscript(self.bar(base), clone(statement.index), gast.Store())
            self.change(base, gast.Assign([place], value, None), span)
            self.out.append(statement)
            return
        assert isinstance(value, gast.Name)
        index = self.result.places[statement] = self.settled(statement.index, span)
        self.freeze(statement, atoms(statement.value))  # which an array takes the numbers of
        kept = [bar for _, bar in self.result.frozen.get(statement, {}).values()]
        self.result.stored[statement] = kept[0] if kept else value.id
        old = self.result.olds[statement] = self.namer.fresh(f"{base}_0")
        self.add(old, call_runtime(runtime.held_before, load(base), index_value(clone(index))), span)
        place = gast.Subscript(self.bar(base), clone(index), gast.Store())
        holds = gast.UnaryOp(gast.Not(), is_array(load(base)))
        self.change(base, gast.If(holds, [gast.Assign([place], value, None)], []), span)
        self.out.append(statement)

    def exchange(self, statement: Bind, made: Exchange) -> None:
        """The same method of the shadow, with the shadows of what is put in."""
        base, span, target = made.base, statement.span, statement.target
        if object_of(getattr(statement.expression, "func", None)) in CHANGES:
            raise UnsupportedSyntax(
                "a store into what may be an array or a container cannot be reversed twice",
                span, code="E0304",
                hint="use forward mode for the second derivative: hessian, hvp, jvp of grad",
            )
        bar = self.result.bars[base]
        match made.method:
            case "remove":
                place = method(base, "index", *map(clone, made.arguments))
                self.change(base, gast.Delete([gast.Subscript(load(bar), place, gast.Del())]), span)
            case "sort":
                order = call_runtime(runtime.argsorted, load(base), *map(clone, made.arguments))
                items = call_runtime(runtime.gather, load(bar), order)
                everything = gast.Subscript(load(bar), gast.Slice(None, None, None), gast.Store())
                self.change(base, gast.Assign([everything], items, None), span)
            case _:
                arguments: list[gast.expr] = []
                for j, argument in enumerate(made.arguments):
                    goes_in = j in made.held or (made.method in _DEFAULTS and j == 1)
                    arguments.append(self.held(argument, statement) if goes_in else clone(argument))
                value = method(bar, made.method, *arguments)
                if made.method in ("extend", "clear", "reverse", "insert", "update", "append", "appendleft", "rotate"):
                    self.change(base, gast.Expr(value), span)
                else:
                    item = self.namer.fresh(f"{base}_item")
                    self._taken_out(item, base, value, span)
                    self.out.append(statement)
                    self.add(self.received(target, statement), load(item), span)
                    self.result.handed.add(statement)
                    return
        self.out.append(statement)
        if target in self.shadowed:
            self.add(self.result.bars[target], constant(None), span)
        self.result.handed.add(statement)

    # --- whole containers --------------------------------------------------------------------------------------------
    def freeze(self, statement: Statement, names: Sequence[str]) -> None:
        """Keep containers that change, and their shadows, as an operation sees them; called before the statement."""
        for name in dict.fromkeys(names):
            if name in self.result.changing and not isinstance(self.fact(name), Array):
                value, bar = self.namer.fresh(name), self.namer.fresh(self.result.bars[name])
                self.add(value, call_runtime(runtime.frozen, load(name)), statement.span)
                self.add(bar, call_runtime(runtime.frozen, self.bar(name)), statement.span)
                self.result.frozen.setdefault(statement, {})[name] = value, bar

    def freeze_result(self, statement: Bind) -> None:
        """Keep the shadow of a result as it is made; called after the statement."""
        name = statement.target
        if name in self.result.changing and not isinstance(self.fact(name), Array):
            bar = self.namer.fresh(self.result.bars[name])
            self.add(bar, call_runtime(runtime.frozen, self.bar(name)), statement.span)
            self.result.results_frozen[statement] = bar
