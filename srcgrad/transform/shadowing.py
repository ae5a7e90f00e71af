"""Shadow memory: the adjoint buffers of names whose memory is stored into, bound in the forward sweep beside the names.

Enters: ``Function``, the facts and ``MemoryClasses``.  Leaves: ``Shadows``: the same function with ordinary statements
that bind the shadow of a name wherever the name is bound, and keep what a place held before a store.  From then on a
shadow is a local like any other: versions, records, exits and saved tuples know nothing of shadows::

    y = np.sin(x)              y = np.sin(x);  y_bar = zeros_like(y)
    v = y[1:3]                 v_bar = y_bar[1:3];  v = y[1:3]
    w = v                      w = v;  w_bar = v_bar
    v[0] = a                   v_0 = v[0];  v[0] = a
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.numeric import LIST_OPERATORS, numeric_names
from srcgrad.analysis.references import local_names
from srcgrad.analysis.regions import is_element, is_view, parts_of, reads_contents
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import is_copy
from srcgrad.errors import Span
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Copy,
    Create,
    Delete,
    Effect,
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
    Unruled,
    While,
    With,
)
from srcgrad.rules.facts import Array, Fact, Sequence
from srcgrad.rules.memory import makes_new
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import clone
from srcgrad.transform.apart import Outside, check_apart
from srcgrad.transform.build import constant, load, method, subscript, tuple_of
from srcgrad.transform.mirroring import Mirroring
from srcgrad.transform.shadows import PLAIN, Modes, Shadows, is_whole


def shadows_of(
    function: Function,
    facts: Mapping[str, Fact],
    classes: MemoryClasses,
    summary_of: Callable[[Call], Summary],
    modes: Modes = PLAIN,
    *,
    outside: Outside | None,
) -> Shadows | None:
    """The shadows of a function, or None if nothing is stored into; ``outside`` tells what is read there, None
    that this is no door, where nothing is copied."""
    if not classes.shadowed and not modes.given:
        return None
    return _Shadowing(function, facts, classes, summary_of, modes).run(outside)


class _Shadowing(Mirroring):
    def __init__(
        self,
        function: Function,
        facts: Mapping[str, Fact],
        classes: MemoryClasses,
        summary_of: Callable[[Call], Summary],
        modes: Modes,
    ) -> None:
        self.modes, self.loops = modes, 0
        super().__init__(function, facts, classes, summary_of)
        self.may_change_later(classes, modes.shadowed(function.parameters))
        if modes.result:
            returns = (s for s in walk(function.body) if isinstance(s, Return))
            self.may_change_later(classes, [name for s in returns for name in atoms(s.value)])

    def run(self, outside: Outside | None) -> Shadows:
        for name in self._in_order():
            self.result.bars[name] = self.namer.fresh(f"{name}_bar")
        entry: list[Statement] = []
        with_shadow = self.modes.shadowed(self.function.parameters)
        self.result.with_shadow = frozenset(with_shadow)
        given = tuple(p for p in self.function.parameters if p in self.shadowed and p not in with_shadow)
        self.out = entry
        span = self.function.span
        if outside is not None and given:
            self._private(given, outside, span)
        self._given(given, span)
        body = self.block(self.function.body)
        shift = len(entry)
        for statement in body.statements:
            start, end = self.result.groups[statement] if statement in self.result.groups else (0, 0)
            if end:
                self.result.groups[statement] = start + shift, end + shift
        body = Block((*entry, *body.statements))
        temporaries = self.function.temporaries | self.result.owned
        parameters: list[str] = []
        for name in self.function.parameters:
            parameters += [name, self.result.bars[name]] if name in with_shadow else [name]
        defaults = {} if with_shadow else self.function.defaults
        self.result.function = replace(
            self.function, parameters=tuple(parameters), body=body, temporaries=temporaries, defaults=defaults
        )
        return self.result

    def _in_order(self) -> list[str]:
        bound = (name for statement in walk(self.function.body) for name in bound_here(statement))
        names = dict.fromkeys([*self.function.parameters, *bound])
        return [name for name in names if name in self.shadowed]

    def _private(self, given: tuple[str, ...], outside: Outside, span: Span) -> None:
        """Arguments that are stored into are copied at the door, together: what they share they go on sharing."""
        apart = check_apart(self.function, given, self.is_number, outside)
        if apart is not None:
            check = Effect(apart, span)
            self.result.made.add(check)
            self.out.append(check)
        made = call_runtime(runtime.private, *(load(name) for name in given))
        if len(given) == 1:
            self.add(given[0], made, span, Copy(given[0]))
            return
        both = self.namer.fresh("private")
        self.add(both, made, span)
        for j, name in enumerate(given):
            part = subscript(load(both), constant(j))
            self.add(name, part, span, Copy(name))

    def _given(self, given: tuple[str, ...], span: Span) -> None:
        """Shadows of parameters that come without: those of one class are made together, they may share memory."""
        groups: dict[str, list[str]] = {}
        for name in given:
            groups.setdefault(self.result.root(name), []).append(name)
        for names in groups.values():
            if len(names) == 1:
                # The layout of an argument is not known: ``shadow`` has the same.
                self.add(self.result.bars[names[0]], call_runtime(runtime.shadow, load(names[0])), span)
                continue
            both = self.namer.fresh("shadows")
            self.add(both, call_runtime(runtime.shadow, tuple_of([load(name) for name in names])), span)
            for j, name in enumerate(names):
                self.add(self.result.bars[name], subscript(load(both), constant(j)), span)
        for name in given:
            if name in self.result.changing and not isinstance(self.fact(name), Array):
                # The gradient is that of what the argument holds at first, whatever it holds later.
                self.result.entries[name] = entry = self.namer.fresh(f"{name}_bar")
                self.add(entry, call_runtime(runtime.frozen, self.bar(name)), span)

    # --- blocks ------------------------------------------------------------------------------------------------------
    def block(self, block: Block, loop: For | None = None) -> Block:
        outer, self.out = self.out, []
        if loop is not None and loop.index in self.shadowed:  # the number of a counted loop gets a cell
            self.add(self.result.bars[loop.index], self.zeros(loop.index), loop.span)
        for statement in (part for whole in block.statements for part in self.by_targets(whole)):
            start = len(self.out)
            made = self.statement(statement)
            if len(self.out) > start + 1:
                self.result.groups[made] = start, len(self.out)
        made_block = Block(tuple(self.out))
        self.out = outer
        return made_block

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(body=body, orelse=orelse):
                statement = replace(statement, body=self.block(body), orelse=self.block(orelse))
            case For(body=body):
                self.loops += 1
                inner = self.block(body, statement)
                self.loops -= 1
                heading, elements = statement.heading, statement.elements
                if inner.statements[:elements] != body.statements[:elements]:
                    heading, elements = None, 0
                statement = replace(statement, body=inner, heading=heading, elements=elements)
                if statement.index in self.shadowed and not statement.counted:
                    raise self.refused(statement, "a loop over items that may be stored into")
            case While(body=body) | With(body=body):
                self.loops += 1
                statement = replace(statement, body=self.block(body))
                self.loops -= 1
            case Bind(target=target) if target in self.shadowed:
                self._bound(statement)
                return statement
            case Bind(operation=Call() as made):
                self._called(statement, made)
                return statement
            case Return(value=value) if self.modes.result:
                self._returned(statement, value)
            case Store(base=base) if base in self.shadowed and not isinstance(self.fact(base), Array):
                self.store_item(statement)
                return statement
            case Store() | AugStore() | AddAt():
                self._stored(statement)
            case Unpack(targets=targets, source=source) if self.shadowed & {*targets, source}:
                self.unpack(statement)
                return statement
            case Append(sequence=name) if name in self.shadowed:
                self.append(statement)
                return statement
            case Pop(sequence=name) if name in self.shadowed:
                self.pop(statement)
                return statement
            case SetField(base=name) if name in self.shadowed:
                self.set_field(statement)
                return statement
            case Delete(base=name) if name in self.shadowed:
                self.delete(statement)
                return statement
            case Bind(operation=Exchange(base=name) as made) if name in self.shadowed:
                self.exchange(statement, made)
                return statement
            case Bind(operation=Index(base=base, index=index)) if base in self.shadowed:
                if not isinstance(self.fact(base), Array):
                    self.part(statement, base, index)
                    return statement
                self._settle(statement, index)
            case Bind(operation=Index(index=index)):
                self._settle(statement, index)
            case Bind(operation=Field(base=base, name=name)) if base in self.shadowed:
                self.part(statement, base, constant(name))
                return statement
            case Bind(operation=Apply()):
                self._settle_arguments(statement)
        self.out.append(statement)
        return statement

    # --- calls -------------------------------------------------------------------------------------------------------
    def _called(self, statement: Bind, made: Call) -> None:
        """A callee gets the shadows of a class if it stores into the class or hands on a part of it."""
        target, root = statement.target, self.result.root
        summary = self.summary_of(made)
        names = [atoms(argument) for argument in made.arguments]
        touched = summary.stored | (summary.returned if target in self.shadowed else frozenset())
        roots = {root(n) for j in touched for n in names[j] if n in self.shadowed}
        # What changes later as a container is read through references by the callee's derivative.
        roots |= {root(n) for group in names for n in group if n in self.result.changing and not self.is_array(n)}
        given = tuple(any(n in self.shadowed and root(n) in roots for n in group) for group in names)
        self.out.append(statement)
        result = target in self.shadowed and any(given[j] for j in summary.returned)
        if any(given):
            self.result.calls[statement] = Modes(given, result)
        if result:
            self._received(statement)
        elif target in self.shadowed:
            self.add(self.result.bars[target], call_runtime(runtime.shadow, load(target)), statement.span)  # gaps too
            self.freeze_result(statement)
            if target in self.result.changing and not self.is_array(target):
                self.result.detached.add(statement)

    def _received(self, statement: Bind) -> None:
        """The shadow that comes with a result.  The call binds it itself if the shadow never has another value; else
        what it is before may be kept until the call is made, and the call gives it a name of its own."""
        target = statement.target
        bar = self.result.bars[target]
        binders = sum(target in bound_here(s) for s in walk(self.function.body))
        if binders == 1 and not self.loops and target not in self.function.parameters:
            self.add(bar, load(bar), statement.span)
            self.result.silent.add(self.out[-1])
            return
        self.result.outs[statement] = out = self.namer.fresh(bar)
        # The call binds it, in every pass of a loop anew: no name to be read once for all.
        self.add(out, call_runtime(runtime.shadow, load(target)), statement.span)
        self.result.silent.add(self.out[-1])
        self.add(bar, load(out), statement.span)

    def _returned(self, statement: Return, value: gast.expr) -> None:
        """The result goes out with its shadow; what has none is given one here."""
        names = atoms(value)
        if names and names[0] in self.shadowed:
            self.result.results[statement] = self.result.bars[names[0]]
            return
        self.result.results[statement] = made = self.namer.fresh(f"{names[0] if names else 'value'}_bar")
        self.add(made, call_runtime(runtime.shadow, clone(value)), statement.span)

    # --- bindings ----------------------------------------------------------------------------------------------------
    def _bound(self, statement: Bind) -> None:
        """Bind a shadow beside a name of a mutable class."""
        target, operation, span = statement.target, statement.operation, statement.span
        bar = self.result.bars[target]
        match operation:
            case Copy(source=source) if source in self.shadowed:
                self.out.append(statement)
                if source != target:
                    self.add(bar, self.bar(source), span)
                self.result.handed.add(statement)
            case Index(base=base, index=index) if base in self.shadowed:
                if not isinstance(self.fact(base), Array):
                    self.part(statement, base, index)
                    return
                self._settle(statement, index)
                if is_view(self.fact(base), index, self.fact):
                    # The reverse sweep may make it at its head, when what the index reads has changed.
                    index = self.result.places.get(statement) or self.settled(index, span)
                    self.add(bar, subscript(self.bar(base), clone(index)), span)
                    self.out.append(statement)
                    self.result.handed.add(statement)
                else:
                    self._perhaps_view(statement, (base,))
            case Field(base=base, name=name) if base in self.shadowed:
                self.part(statement, base, constant(name))
            case Exchange(base=base) if base in self.shadowed:
                self.exchange(statement, operation)
            case Apply(arguments=arguments) if is_copy(statement) and self.is_container(*atoms(arguments["a"])):
                (source,) = atoms(arguments["a"])  # the shadow of a list or dict is copied as well
                self.add(bar, method(self.result.bars[source], "copy"), span)
                self.out.append(statement)
                self.result.handed.add(statement)
            case Apply() | Fixed() | Unruled():
                self._settle_arguments(statement)
                self._perhaps_view(statement, self._handed_on(statement))
            case Call():
                self._called(statement, operation)
            case Pack():
                self.pack(statement, operation)
            case Create():
                self.out.append(statement)
                self.add(bar, gast.Dict([], []), span)
                self.result.handed.add(statement)
            case _:
                if isinstance(operation, Index):
                    self._settle(statement, operation.index)
                self.out.append(statement)
                self.add(bar, self.zeros(target), span)

    def _handed_on(self, statement: Bind) -> tuple[str, ...]:
        """The names of the target's class whose memory the result of a function may share."""
        operation = statement.operation
        names = list(dict.fromkeys(n.id for n in local_names(statement.expression) if n.id in self.shadowed))
        if isinstance(operation, Apply):
            called = statement.expression.func if isinstance(statement.expression, gast.Call) else None
            name = called.attr if isinstance(called, gast.Attribute) else None
            arrays = all(isinstance(self.fact(n), Array) for n in names)
            if makes_new(operation.function, name) and (arrays or not is_copy(statement)):
                return ()  # the copy of a list has its items
            names = list(dict.fromkeys(n for e in operation.arguments.values() for n in atoms(e) if n in self.shadowed))
        return tuple(n for n in names if self.result.root(n) == self.result.root(statement.target))

    def _may_join_lists(self, statement: Bind) -> bool:
        """Whether ``+`` or ``*`` may have made a list, which shares the items of its operands."""
        made, target = statement.operation, statement.target
        if not isinstance(made, Apply) or made.function not in LIST_OPERATORS:
            return False
        known = any(isinstance(self.fact(name), Array) for name in inputs(statement))
        return not known and target not in numeric_names(self.function)

    def _settle(self, statement: Bind, index: gast.expr) -> None:
        """Keep an index that is read from a container which changes."""
        if reads_contents(index, self.result.changing):
            self.result.places[statement] = self.settled(index, statement.span)

    def _settle_arguments(self, statement: Bind) -> None:
        """Keep what an operation reads of containers that change."""
        made = statement.operation
        if not isinstance(made, Apply):
            return
        if made.rule.kind == "elementwise" and getattr(made.function, "__module__", "") == "_operator":
            # An operator takes no list of unknown kind but to join or repeat it, which shares the items.
            names = [n for e in made.arguments.values() for n in atoms(e)]
            self.freeze(statement, [n for n in names if isinstance(self.fact(n), Sequence)])
            return
        for parameter, argument in made.arguments.items():
            if all(isinstance(part, gast.Name | gast.Constant) for part in parts_of(argument)):
                self.freeze(statement, atoms(argument))
            elif reads_contents(argument, self.result.changing):
                place = self.namer.fresh("place")
                self.add(place, call_runtime(runtime.snapshot, clone(argument)), statement.span)
                self.result.settled.setdefault(statement, {})[parameter] = load(place)

    def _perhaps_view(self, statement: Bind, sources: tuple[str, ...]) -> None:
        """A result that may be a view of operands: whether it is one is known when it is there."""
        target, span = statement.target, statement.span
        if not sources:
            self.out.append(statement)
            if self._may_join_lists(statement):
                look = call_runtime(runtime.require_new, load(target), constant(span.origin))
                self.out.append(Effect(gast.Expr(look), span))
                self.result.made.add(self.out[-1])
            self.add(self.result.bars[target], self.zeros(target), span)
            self.freeze_result(statement)
            return
        known: list[gast.expr] = []
        for name in sources:
            known += map(load, self.as_before(name, statement))
        self.out.append(statement)
        arrays = all(isinstance(self.fact(name), Array) for name in sources)
        like = runtime.view_like if arrays else runtime.items_like
        self.add(self.result.bars[target], call_runtime(like, load(target), *known), span)
        self.freeze_result(statement)
        self.result.sources[statement] = sources

    # --- stores ------------------------------------------------------------------------------------------------------
    def _stored(self, statement: Store | AugStore | AddAt) -> None:
        base = statement.buffer if isinstance(statement, AddAt) else statement.base
        if base not in self.shadowed:
            return
        self.freeze(statement, [base, *atoms(statement.value)])
        self.result.places[statement] = index = self.settled(statement.index, statement.span)
        old = self.result.olds[statement] = self.namer.fresh(f"{base}_0")
        read: gast.expr = subscript(load(base), clone(index))
        if isinstance(statement, AddAt) and is_whole(statement, self.fact(base)):
            read = call_runtime(runtime.held_inside, load(base))
        elif not is_element(self.fact(base), index, self.fact):
            copied = gast.Call(gast.Attribute(read, "copy", gast.Load()), [], [])
            read = copied if is_view(self.fact(base), index, self.fact) else call_runtime(runtime.kept, clone(read))
        self.add(old, read, statement.span)
