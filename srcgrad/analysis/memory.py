"""Memory classes: which names may hold, or contain, the same memory, and which of these classes are stored into.

Enters: ``Function``, the facts, and the summaries of its callees.  Leaves: ``MemoryClasses``.  Union-find over names,
without regard to order: a copy of a name, a view, a container and what it contains, and whatever a function may hand on
are one class; what is proved to be a number is in none.  A class is *mutable* if anything stores into it, here or in a
callee (Steensgaard, *Points-to analysis in almost linear time*, POPL 1996, with one class for a container and its
contents, because an item read from a container has to be found where it was put in)::

    z = np.sin(x)        z
    v = z[1:3]           z, v
    a = z[0]             z, v          a number, if z is known to have one axis
    L = [v]              z, v, L
    v[0] = a             mutable
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import entry_name
from srcgrad.analysis.cfg import blocks_of, bound_here, kept_with_function, walk
from srcgrad.analysis.growing import grown_alone, only_popped
from srcgrad.analysis.outside import Outside, held_by_names, holds_no_memory, is_copied, may_change
from srcgrad.analysis.summaries import Summaries, Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Call,
    Callee,
    Copy,
    Create,
    Delete,
    Exchange,
    Field,
    Fixed,
    For,
    Function,
    Index,
    Pack,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
)
from srcgrad.ir.renaming import mentioned
from srcgrad.language import effects
from srcgrad.language.members import SHAPES
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import makes_new
from srcgrad.rules.table import method
from srcgrad.syntax.globals import GlobalReference

__all__ = ["MemoryClasses", "Solver", "Summaries", "Summary", "is_immutable", "memory_classes", "related"]

OUTSIDE = "<outside>"  # the memory that globals and closure variables hold


@dataclass(frozen=True, eq=False)
class MemoryClasses:
    """Answers by name; a name that is proved to be a number is alone."""

    shadowed: frozenset[str]  # the names of mutable classes
    summary: Summary
    _roots: Mapping[str, str] = field(repr=False)
    _members: Mapping[str, frozenset[str]] = field(repr=False)

    def root(self, name: str) -> str:
        return self._roots.get(name, name)

    def members(self, name: str) -> frozenset[str]:
        return self._members.get(self.root(name), frozenset((name,)))


def memory_classes(
    function: Function,
    facts: Mapping[str, Fact],
    summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
    with_shadow: frozenset[str] = frozenset(),
    changing: frozenset[str] = frozenset(),
    *,
    by_place: bool = False,
    by_value: bool = False,
) -> MemoryClasses:
    """Solve for one function; ``with_shadow`` are parameters that come with a shadow, and so are one mutable class, as
    are those that are lists of integers and ``changing``.

    ``by_place``: what lies at different places of the tuples on a tape is told apart.  Shadows are not: of what is
    popped they come from the tape's own.  ``by_value``: the result has no shadow, so that a tuple that is made to be
    returned joins nothing: its parts have the adjoints that it is given."""
    solver = Solver(function, facts, summary_of, only_popped(function) if by_place else frozenset())
    solver.returned = returned_displays(function) if by_value and not function.generated else frozenset()
    for statement in walk(function.body):
        solver.flow(statement)
    given = sorted(with_shadow), sorted(changing)
    for group in given:
        for name in group:
            solver.join(group[0], name)
    for statement in walk(function.body):
        solver.store(statement)
    return solver.answer([*given[0], *given[1]])


@kept_with_function
def returned_displays(function: Function) -> frozenset[str]:
    """Tuples that are returned by the next statement, under names that nothing else mentions."""
    found: set[str] = set()
    seen: dict[str, int] = {}
    for statement in walk(function.body):
        for name in mentioned(statement):
            seen[name] = seen.get(name, 0) + 1
    for block in (function.body, *(inner for s in walk(function.body) for inner in blocks_of(s))):
        for made, returned in pairwise(block.statements):
            match made, returned:
                case Bind(target=name, operation=Pack(kind="tuple", of=None)), Return(value=gast.Name(id=back)):
                    if name == back and seen[name] == 2:
                        found.add(name)
    return frozenset(found)


@kept_with_function
def related(function: Function) -> Callable[[str], frozenset[str]]:
    """For a name all names that may be one object with it, or be contained in one with it: whatever the facts are, and
    whatever callees do."""
    solver = Solver(function, {}, _anything)
    for statement in walk(function.body):
        solver.flow(statement)
    classes: dict[str, set[str]] = {}
    for name in solver.names:
        classes.setdefault(solver.find(name), set()).add(name)
    members = {name: frozenset(names) for names in classes.values() for name in names}
    return lambda name: members.get(name, frozenset((name,)))


def _anything(callee: Callee, facts: tuple[Fact, ...]) -> Summary:
    everything = frozenset(range(len(facts)))
    return Summary(everything, everything, (everything,))


def is_immutable(fact: Fact) -> bool:
    """Whether a value is surely a number, text, or another thing without memory that could be stored into."""
    match fact:
        case Array(scalar=scalar):
            return scalar
        case Static(value=value):
            return not may_change(value)
        case Sequence(kind="tuple", items=tuple() as items):
            return all(map(is_immutable, items))
        case Sequence(kind="tuple" | "range", item=item):
            return item is not None and is_immutable(item)
    return False


class Solver:
    """One union-find; the node ``OUTSIDE`` stands for the memory of every global."""

    def __init__(
        self,
        function: Function,
        facts: Mapping[str, Fact],
        summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
        tapes: frozenset[str] = frozenset(),
    ) -> None:
        self.function = function
        self.tapes = tapes
        self.returned: frozenset[str] = frozenset()
        self.facts = facts
        self.summary_of = summary_of
        self.parents: dict[str, str] = {}
        self.names = {*function.parameters, *(n for s in walk(function.body) for n in bound_here(s))}
        self.immutable = {name for name in self.names if is_immutable(facts.get(name, Unknown()))}
        self.alone = grown_alone(function)
        self.stored: set[str] = set()
        self.results: list[str] = []
        self.held = held_by_names(function)
        self.globals: dict[str, Outside | None] = {}
        self.changes: list[tuple[str, Statement, bool]] = []  # (name, store, whether arrays are surely not changed)

    # --- union-find --------------------------------------------------------------------------------------------------
    def find(self, name: str) -> str:
        root = name
        while (above := self.parents.get(root, root)) != root:
            root = above
        while name != root:
            self.parents[name], name = root, self.parents.get(name, root)
        return root

    def join(self, left: str, right: str) -> None:
        if left not in self.immutable and right not in self.immutable:
            self.parents[self.find(right)] = self.find(left)

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    # --- flows -------------------------------------------------------------------------------------------------------
    def flow(self, statement: Statement) -> None:
        match statement:
            case Bind(target=target):
                if target not in self.immutable:
                    self._bind(target, statement)
                elif isinstance(statement.operation, Call):
                    self._call(None, statement.operation)
                elif isinstance(statement.operation, Exchange):
                    self._exchange(None, statement.operation)
            case Unpack(targets=targets, source=source):
                for name in targets:
                    self.join(source, name)
            case Append(sequence=sequence, value=gast.Tuple(elts=elements)) if sequence in self.tapes:
                for place, element in enumerate(elements):
                    self._hold(entry_name(sequence, place), element)
            case Pop(targets=targets, sequence=sequence) if sequence in self.tapes:
                for place, name in enumerate(targets):
                    self.join(entry_name(sequence, place), name)
            case Append(sequence=sequence, value=value):
                self._hold(sequence, value)
            case Pop(targets=targets, sequence=sequence):
                for name in targets:
                    self.join(sequence, name)
            case Store(base=base, value=value):
                if not isinstance(self.fact(base), Array):
                    self._hold(base, value)
            case SetField(base=base, value=value):
                self._hold(base, value)
            case For(index=index, iterable=iterable, counted=False):
                if not _runs_through_keys(statement):
                    self._hold(index, iterable)
            case Return(value=value):
                self.results += self.sources(value)

    def _bind(self, target: str, statement: Bind) -> None:
        match statement.operation:
            case Copy(source=source) | Field(base=source):
                self.join(source, target)
            case Index(base=base, index=index):
                is_new = isinstance(self.fact(base), Array) and self._is_fancy(index)
                if not is_new and not holds_no_memory(self.held.get(base)):
                    self.join(base, target)
            case Pack(elements=elements):
                for element in elements:
                    if target in self.returned:
                        self.results += self.sources(element)
                    else:
                        self._hold(target, element)
            case Apply() as made:
                for argument in self._handed_on(made, statement.expression):
                    self._hold(target, argument)
            case Call() as made:
                self._call(target, made)
                self._remembered(target, statement.expression)
            case Exchange() as made:
                self._exchange(target, made)
            case Create() | Unruled(draws=True):
                pass
            case Fixed() | Unruled():
                self._hold(target, statement.expression)

    def _hold(self, name: str, value: gast.expr) -> None:
        for source in self.sources(value):
            self.join(name, source)

    def _exchange(self, target: str | None, made: Exchange) -> None:
        for position in made.held:
            given = made.arguments[position]
            if not (effects.method(made.method).items and holds_no_memory(self.outside(given))):
                self._hold(made.base, given)
        if effects.method(made.method).returns == "alias":
            for argument in made.arguments:
                self._hold(made.base, argument)
        if target is not None:
            self.join(made.base, target)

    def called(self, made: Call) -> Summary:
        facts = tuple(fact_of_expression(argument, self.fact) for argument in made.arguments)
        return self.summary_of(made.callee, facts)

    def _call(self, target: str | None, made: Call) -> None:
        summary = self.called(made)
        given = [self.sources(argument) for argument in made.arguments]
        groups = [[name for j in sorted(group) for name in given[j]] for group in summary.joined]
        if target is not None:
            groups.append([target, *(name for j in sorted(summary.returned) for name in given[j])])
            if summary.returns_outside:
                groups[-1].append(self._outside(None))
        for j in sorted(summary.outside):
            groups.append([*given[j], self._outside(None)])
        for group in groups:
            for name in group[1:]:
                self.join(group[0], name)

    def _remembered(self, target: str, expression: gast.expr) -> None:
        """What a function under ``functools.lru_cache`` returns is returned again."""
        if isinstance(expression, gast.Call) and isinstance(expression.func, GlobalReference):
            cache = expression.func.binding.value
            if isinstance(cache, functools._lru_cache_wrapper):
                self.join(target, self._outside(Outside(expression.func.id, cache)))

    def _handed_on(self, made: Apply, expression: gast.expr) -> Iterable[gast.expr]:
        """The arguments whose memory the result of a ruled function may share."""
        name = None
        if isinstance(expression, gast.Call) and isinstance(expression.func, gast.Attribute):
            if object_of(expression.func) is None:
                name = expression.func.attr
        # What a result shares memory with moves it; ``tangent_like`` looks for memory among all that it is given.
        anything = made.function is runtime.tangent_like
        arguments = [a for p, a in made.arguments.items() if anything or p in made.rule.sensitive]
        arguments = [e for a in arguments for e in (a.elts if isinstance(a, gast.Tuple) else (a,))]
        arguments = [a for a in arguments if not is_copied(self.outside(a), made.function, name, expression)]
        facts = [fact_of_expression(argument, self.fact) for argument in arguments]
        if name == "copy" and not all(isinstance(fact, Array) for fact in facts[:1]):
            return arguments  # the copy of a list has its items
        if not makes_new(made.function, name):
            return arguments
        joins = any(isinstance(fact, Sequence | MappingFact) for fact in facts)
        return arguments if joins and made.rule.kind == "elementwise" else ()  # lists that are joined or repeated

    def outside(self, argument: gast.expr) -> object:
        """What a global holds that an argument is, if it is one; else None."""
        if isinstance(argument, gast.Name) and not isinstance(argument, GlobalReference):
            return self.held.get(argument.id)
        return object_of(argument)

    def _is_fancy(self, index: gast.expr) -> bool:
        """Whether an index of an array surely selects into new memory: one of its parts is an array or a list."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        for part in parts:
            fact = Unknown() if isinstance(part, gast.Slice) else fact_of_expression(part, self.fact)
            if isinstance(fact, Sequence) and fact.kind == "list":
                return True
            if isinstance(fact, Array) and fact.shape:
                return True
        return False

    # --- expressions -------------------------------------------------------------------------------------------------
    def sources(self, root: gast.expr) -> list[str]:
        """The nodes whose memory the value of an expression may share."""
        found: list[str] = []
        pending: list[gast.expr] = [root]
        while pending:
            node = pending.pop()
            match node:
                case GlobalReference(binding=binding):
                    if may_change(binding.value):
                        found.append(self._outside(Outside(node.id, binding.value)))
                case gast.Name(id=name):
                    if name not in self.immutable:
                        found.append(name)
                case gast.IfExp(body=body, orelse=orelse):
                    pending += [body, orelse]
                case gast.BoolOp(values=elements) | gast.Dict(values=elements):
                    pending += elements
                case gast.Tuple(elts=elements) | gast.List(elts=elements) | gast.Set(elts=elements):
                    pending += elements
                case gast.Subscript(value=value) | gast.Starred(value=value):
                    if not holds_no_memory(self.outside(value)):
                        pending.append(value)
                case gast.Attribute(value=value, attr=attr):
                    owner = object_of(node)
                    if owner is None and attr not in SHAPES:
                        pending.append(value)
                    elif owner is not None and may_change(owner):
                        found.append(self._outside(Outside(attr, owner)))
                case gast.Call():
                    pending += self._call_sources(node)
                    if object_of(node.func) is getattr:  # of the object, or of its class, which others see
                        found.append(self._outside(None))
        return found

    @staticmethod
    def _call_sources(node: gast.Call) -> list[gast.expr]:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        function = object_of(node.func)
        if function is not None:
            return [] if makes_new(function) else arguments
        if isinstance(node.func, gast.Attribute):
            if makes_new(method(node.func.attr), node.func.attr):
                return []
            return [node.func.value, *arguments]
        return arguments

    def _outside(self, held: Outside | None) -> str:
        """The node of a global; those of all globals are kept apart until something joins them."""
        name = OUTSIDE if held is None else f"{OUTSIDE} {id(held.value)}"
        self.globals.setdefault(name, held)
        return name

    # --- stores ------------------------------------------------------------------------------------------------------
    def store(self, statement: Statement) -> None:
        match statement:
            case Append(sequence=sequence) | Pop(sequence=sequence):
                if sequence not in self.alone:
                    self.changes.append((sequence, statement, True))
            case Store(base=base) | AugStore(base=base) | Delete(base=base):
                containers = isinstance(self.fact(base), Sequence | MappingFact) or isinstance(statement, Delete)
                self.changes.append((base, statement, containers))
            case SetField(base=base):
                self.changes.append((base, statement, True))
            case AddAt(buffer=base, shared=shared) if shared or not self.function.generated:  # ``np.add.at``
                self.changes.append((base, statement, False))
            case Bind(operation=Exchange(base=base, method=called)) if not effects.is_reading(effects.method(called)):
                self.changes.append((base, statement, True))
            case Bind(operation=Unruled(changes=str() as base)):
                self.changes.append((base, statement, True))
            case Bind(operation=Call() as made):
                for position in sorted(self.called(made).stored):
                    for name in self.sources(made.arguments[position]):
                        self.changes.append((name, statement, False))
        if isinstance(statement, Bind) and statement.inplace and statement.target not in self.immutable:
            self.changes.append((statement.target, statement, False))

    # --- answers -----------------------------------------------------------------------------------------------------
    def answer(self, given: list[str]) -> MemoryClasses:
        mutable = {self.find(name) for name in given}
        for name, statement, containers in self.changes:
            if name not in self.immutable:
                mutable.add(self.find(name))
                self._refuse_globals(name, statement, containers)
        classes: dict[str, set[str]] = {}
        for name in self.names - self.immutable:
            classes.setdefault(self.find(name), set()).add(name)
        # The class is called by its first name, whatever order the joins came in.
        members = {min(names): frozenset(names) for names in classes.values()}
        roots = {name: root for root, names in members.items() for name in names}
        shadowed = frozenset(name for top in mutable for name in classes.get(top, ()))
        return MemoryClasses(shadowed, self._summary(mutable), roots, members)

    def _refuse_globals(self, name: str, statement: Statement, containers: bool) -> None:
        if self.function.generated:
            return  # looked at when it was written: a global that lies beside what is stored into is only read
        for node, leaf in self.globals.items():
            if self.find(node) != self.find(name):
                continue
            if containers and (leaf is None or isinstance(leaf.value, np.ndarray)):
                continue  # what changes is a container that was made here
            known = "a global or closure variable" if leaf is None else f"the global or closure variable {leaf.name!r}"
            raise UnsupportedSyntax(
                f"this may store into {known}",
                statement.span, code="E0308",
                label="this store",
                hint="store into a copy, or give the array as an argument",
            )

    def _summary(self, mutable: set[str]) -> Summary:
        positions: dict[str, list[int]] = {}
        for position, name in enumerate(self.function.parameters):
            if name not in self.immutable:
                positions.setdefault(self.find(name), []).append(position)
        results = {self.find(name) for name in self.results}
        outside = {self.find(name) for name in self.globals}
        return Summary(
            frozenset(j for root in mutable for j in positions.get(root, ())),
            frozenset(j for root in results for j in positions.get(root, ())),
            tuple(frozenset(group) for group in positions.values() if len(group) > 1),
            frozenset(j for root in outside for j in positions.get(root, ())),
            bool(outside & results),
        )


def _runs_through_keys(loop: For) -> bool:
    """Whether a loop over a container reads ``container[item]`` in every pass: the items are keys, or whole numbers."""
    reads = [s.operation for s in loop.body.statements if isinstance(s, Bind) and isinstance(s.operation, Index)]
    return isinstance(loop.iterable, gast.Name) and any(
        made.base == loop.iterable.id and isinstance(made.index, gast.Name) and made.index.id == loop.index
        for made in reads
    )
