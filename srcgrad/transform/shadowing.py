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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.references import local_names, names_mentioned
from srcgrad.analysis.regions import is_element, is_view, reads_contents
from srcgrad.analysis.summaries import Summary
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Copy,
    Delete,
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
from srcgrad.rules.facts import Array, Fact, Unknown, is_floating
from srcgrad.rules.memory import makes_new
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import call_runtime, load, method, subscript


@dataclass(frozen=True)
class Modes:
    """How a callee's derivative is given its arguments, aligned with its parameters, and hands out its result."""

    given: tuple[bool, ...] = ()  # arguments that come with their shadows; the others by value
    result: bool = False  # whether the result goes out with its shadow

    def shadowed(self, parameters: Sequence[str]) -> tuple[str, ...]:
        return tuple(p for p, comes in zip(parameters, self.given, strict=True) if comes) if self.given else ()


PLAIN = Modes()


@dataclass(eq=False)
class Shadows:
    """``function`` has the shadows bound; the tables are about its statements."""

    function: Function
    classes: MemoryClasses
    bars: dict[str, str] = field(default_factory=dict)  # name -> its shadow
    olds: dict[Statement, str] = field(default_factory=dict)  # store -> what the place held before
    groups: dict[Statement, tuple[int, int]] = field(default_factory=dict)  # positions before and after its shadows too
    sources: dict[Bind, tuple[str, ...]] = field(default_factory=dict)  # names that the result may be a view of
    handed: set[Bind] = field(default_factory=set)  # those whose result surely is no new memory
    places: dict[Statement, gast.expr] = field(default_factory=dict)  # the index of a store, where it had to be kept
    made: set[Bind] = field(default_factory=set)  # the statements that were added
    with_shadow: frozenset[str] = frozenset()  # parameters that come with a shadow
    calls: dict[Bind, Modes] = field(default_factory=dict)  # calls that are given shadows
    silent: set[Statement] = field(default_factory=set)  # what is bound by the statement before it
    results: dict[Return, str] = field(default_factory=dict)  # the shadows that go out with the result

    @property
    def owned(self) -> frozenset[str]:
        """The names that the shadow pass made."""
        return frozenset(s.target for s in self.made)

    def root(self, name: str) -> str:
        return self.classes.root(name)


def shadows_of(
    function: Function,
    facts: Mapping[str, Fact],
    classes: MemoryClasses,
    summary_of: Callable[[Call], Summary],
    modes: Modes = PLAIN,
    *,
    door: bool,
) -> Shadows | None:
    """The shadows of a function, or None if nothing in it is stored into.  ``door``: callers' arrays stay as they are."""
    if not classes.shadowed and not modes.given:
        return None
    return _Shadowing(function, facts, classes, summary_of, modes).run(door)


class _Shadowing:
    def __init__(
        self,
        function: Function,
        facts: Mapping[str, Fact],
        classes: MemoryClasses,
        summary_of: Callable[[Call], Summary],
        modes: Modes,
    ) -> None:
        self.summary_of = summary_of
        self.modes = modes
        self.function = function
        self.facts = facts
        self.shadowed = classes.shadowed
        self.namer = Namer([*function.parameters, *(n for s in walk(function.body) for n in names_mentioned(s))])
        self.result = Shadows(function, classes)
        self.out: list[Statement] = []

    def run(self, door: bool) -> Shadows:
        for name in self._in_order():
            self.result.bars[name] = self.namer.fresh(f"{name}_bar")
        entry: list[Statement] = []
        with_shadow = self.modes.shadowed(self.function.parameters)
        self.result.with_shadow = frozenset(with_shadow)
        given = tuple(p for p in self.function.parameters if p in self.shadowed and p not in with_shadow)
        self.out = entry
        span = self.function.span
        if door and given:
            self._private(given, span)
        for name in given:
            self._bind(self.result.bars[name], self._zeros(name), span)
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
        names = dict.fromkeys([*self.function.parameters, *(n for s in walk(self.function.body) for n in bound_here(s))])
        return [name for name in names if name in self.shadowed]

    def _private(self, given: tuple[str, ...], span: Span) -> None:
        """Arguments that are stored into are copied at the door, together, so that what they share they go on sharing."""
        made = call_runtime(runtime.private, *(load(name) for name in given))
        if len(given) == 1:
            self._bind(given[0], made, span, Copy(given[0]))
            return
        both = self.namer.fresh("private")
        self._bind(both, made, span)
        for j, name in enumerate(given):
            part = subscript(load(both), gast.Constant(j, None))
            self._bind(name, part, span, Copy(name))

    # --- writing -----------------------------------------------------------------------------------------------------
    def _bind(self, target: str, expression: gast.expr, span: Span, operation: Copy | Fixed | None = None) -> None:
        statement = Bind(target, expression, operation or Fixed(), span)
        self.result.made.add(statement)
        if isinstance(operation, Copy):
            self.result.handed.add(statement)
        self.out.append(statement)

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def _zeros(self, name: str) -> gast.expr:
        fact = self.fact(name)
        plain = isinstance(fact, Array) and bool(fact.shape) and is_floating(fact.dtype)
        return call_runtime(runtime.zeros_like if plain else runtime.shadow, load(name))

    def bar(self, name: str) -> gast.expr:
        return load(self.result.bars[name])

    # --- blocks ------------------------------------------------------------------------------------------------------
    def block(self, block: Block) -> Block:
        outer, self.out = self.out, []
        for statement in block.statements:
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
                inner = self.block(body)
                heading, elements = statement.heading, statement.elements
                if inner.statements[:elements] != body.statements[:elements]:
                    heading, elements = None, 0
                statement = replace(statement, body=inner, heading=heading, elements=elements)
                if statement.index in self.shadowed:
                    raise self._refused(statement, "a loop over items that may be stored into")
            case While(body=body) | With(body=body):
                statement = replace(statement, body=self.block(body))
            case Bind(target=target) if target in self.shadowed:
                self._bound(statement)
                return statement
            case Bind(operation=Call() as made):
                self._called(statement, made)
                return statement
            case Return(value=value) if self.modes.result:
                self._returned(statement, value)
            case Store() | AugStore() | AddAt():
                self._stored(statement)
            case Unpack(targets=targets, source=source) if self.shadowed & {*targets, source}:
                raise self._refused(statement, "unpacking what may be stored into")
            case Append(sequence=name) | Pop(sequence=name) | SetField(base=name) | Delete(base=name) | Bind(
                operation=Exchange(base=name)
            ) if name in self.shadowed:
                raise self._refused(statement, "a change of a container")
        self.out.append(statement)
        return statement

    def _refused(self, statement: Statement, what: str) -> UnsupportedSyntax:
        return UnsupportedSyntax(
            f"{what} cannot be reversed yet", statement.span, label="its memory is stored into elsewhere",
            hint="copy the array before it is stored into: np.copy(...)",
        )  # fmt: skip

    # --- calls -------------------------------------------------------------------------------------------------------
    def _called(self, statement: Bind, made: Call) -> None:
        """A callee gets the shadows of a class if it stores into the class or hands on a part of it."""
        target, root = statement.target, self.result.root
        summary = self.summary_of(made)
        names = [atoms(argument) for argument in made.arguments]
        touched = summary.stored | (summary.returned if target in self.shadowed else frozenset())
        roots = {root(n) for j in touched for n in names[j] if n in self.shadowed}
        given = tuple(any(n in self.shadowed and root(n) in roots for n in group) for group in names)
        self.out.append(statement)
        result = target in self.shadowed and any(given[j] for j in summary.returned)
        if any(given):
            self.result.calls[statement] = Modes(given, result)
        if result:
            self._bind(self.result.bars[target], self.bar(target), statement.span)
            self.result.silent.add(self.out[-1])
        elif target in self.shadowed:
            self._bind(self.result.bars[target], self._zeros(target), statement.span)

    def _returned(self, statement: Return, value: gast.expr) -> None:
        """The result goes out with its shadow; what has none is given one here."""
        names = atoms(value)
        if names and names[0] in self.shadowed:
            self.result.results[statement] = self.result.bars[names[0]]
            return
        self.result.results[statement] = made = self.namer.fresh(f"{names[0] if names else 'value'}_bar")
        self._bind(made, call_runtime(runtime.shadow, clone(value)), statement.span)

    # --- bindings ----------------------------------------------------------------------------------------------------
    def _bound(self, statement: Bind) -> None:
        """Bind a shadow beside a name of a mutable class."""
        target, operation, span = statement.target, statement.operation, statement.span
        bar = self.result.bars[target]
        match operation:
            case Copy(source=source) if source in self.shadowed:
                self.out.append(statement)
                if source != target:
                    self._bind(bar, self.bar(source), span)
                self.result.handed.add(statement)
            case Index(base=base, index=index) if base in self.shadowed:
                if is_view(self.fact(base), index, self.fact):
                    self._bind(bar, subscript(self.bar(base), clone(index)), span)
                    self.out.append(statement)
                    self.result.handed.add(statement)
                elif isinstance(self.fact(base), Array):
                    self._perhaps_view(statement, (base,))
                else:
                    raise self._refused(statement, "reading from a container")
            case Apply() | Fixed() | Unruled():
                self._perhaps_view(statement, self._handed_on(statement))
            case Call():
                self._called(statement, operation)
            case Pack() | Field() | Exchange():
                raise self._refused(statement, "a container of what may be stored into")
            case _:
                self.out.append(statement)
                self._bind(bar, self._zeros(target), span)

    def _handed_on(self, statement: Bind) -> tuple[str, ...]:
        """The names of the target's class whose memory the result of a function may share."""
        operation = statement.operation
        names = list(dict.fromkeys(n.id for n in local_names(statement.expression) if n.id in self.shadowed))
        if isinstance(operation, Apply):
            called = statement.expression.func if isinstance(statement.expression, gast.Call) else None
            name = called.attr if isinstance(called, gast.Attribute) else None
            if makes_new(operation.function, name) or makes_new(operation.function):
                return ()
            names = list(dict.fromkeys(n for e in operation.arguments.values() for n in atoms(e) if n in self.shadowed))
        return tuple(n for n in names if self.result.root(n) == self.result.root(statement.target))

    def _perhaps_view(self, statement: Bind, sources: tuple[str, ...]) -> None:
        """A result that may be a view of operands: whether it is one is known when it is there."""
        target, span = statement.target, statement.span
        if not sources:
            self.out.append(statement)
            self._bind(self.result.bars[target], self._zeros(target), span)
            return
        known: list[gast.expr] = []
        for name in sources:
            value, value_bar = name, self.result.bars[name]
            if name == target:
                value, value_bar = self.namer.fresh(name), self.namer.fresh(value_bar)
                self._bind(value, load(name), span)
                self._bind(value_bar, self.bar(name), span)
            known += [load(value), load(value_bar)]
        self.out.append(statement)
        self._bind(self.result.bars[target], call_runtime(runtime.view_like, load(target), *known), span)
        self.result.sources[statement] = sources

    # --- stores ------------------------------------------------------------------------------------------------------
    def _stored(self, statement: Store | AugStore | AddAt) -> None:
        base = statement.buffer if isinstance(statement, AddAt) else statement.base
        if base not in self.shadowed:
            return
        if not isinstance(self.fact(base), Array):
            raise self._refused(statement, "a store into what is not known to be an array")
        self.result.places[statement] = index = self._settled(statement.index, statement.span)
        old = self.result.olds[statement] = self.namer.fresh(f"{base}_0")
        read: gast.expr = subscript(load(base), clone(index))
        if not is_element(self.fact(base), index, self.fact):
            known = is_view(self.fact(base), index, self.fact)
            read = gast.Call(gast.Attribute(read, "copy", gast.Load()), [], []) if known else call_runtime(
                runtime.kept, read
            )
        self._bind(old, read, statement.span)

    def _settled(self, index: gast.expr, span: Span) -> gast.expr:
        """An index whose value does not change with what it is read from."""
        match index:
            case gast.Tuple(elts=elements):
                return gast.Tuple([self._settled(e, span) for e in elements], gast.Load())
            case gast.Slice(lower=lower, upper=upper, step=step):
                return gast.Slice(*(None if e is None else self._settled(e, span) for e in (lower, upper, step)))
        if not reads_contents(index, self.shadowed):
            return clone(index)
        place = self.namer.fresh("place")
        self._bind(place, call_runtime(runtime.kept, clone(index)), span)
        return load(place)
