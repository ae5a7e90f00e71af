"""Stores into what no caller passes: refused, because a derivative works on a copy, and would lose them.

That is the object of a bound method, and what a local function captured.  Enters: a callee, the facts of its arguments,
the parameters that have to stay as they are.  Raises at the first store into an object, in the callee or in what it
calls.  What else is stored into has to be a number when the program runs: ``s += e`` stores into arrays, not into
numbers.  Memory classes hold a container and its contents together; here a store into a list, array or object that the
function makes itself changes that one alone, whatever it contains::

    parts = [self.w]         parts and self are one class
    parts.append(x)          changes parts
    self.seen.append(x)      changes self
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.memory import Solver
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import (
    Apply,
    AugStore,
    Bind,
    Call,
    Callee,
    Copy,
    Create,
    Function,
    Guarded,
    Pack,
    Statement,
    unguarded,
)
from srcgrad.rules.facts import Array, Fact, Unknown
from srcgrad.rules.memory import makes_new
from srcgrad.syntax.globals import call_runtime

Key = tuple[Callee, tuple[Fact, ...]]
Prepare = Callable[[Callee, tuple[Fact, ...]], tuple[Function, Mapping[str, Fact]]]
#: Each makes a container of its own, of what it is given.
CONTAINERS = (list, dict, set, tuple, deque, defaultdict, runtime.joined)


@dataclass
class Stores:
    """Where parameters are stored into, by position: themselves, or what may be contained in them."""

    itself: dict[int, Span] = field(default_factory=dict)
    within: dict[int, Span] = field(default_factory=dict)

    def at(self, position: int) -> Span | None:
        return self.itself.get(position) or self.within.get(position)


def refuse_stores(
    callee: Callee,
    facts: tuple[Fact, ...],
    kept: tuple[str, ...],
    prepared: Prepare,
    summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
) -> dict[str, Span]:
    """Refuse a function that stores into the objects that its parameters ``kept`` are, or into what they hold.

    Gives those that may be numbers, with the place of the store: ``require_kept`` looks at them.
    """
    if not kept:
        return {}
    function, known = prepared(callee, facts)
    objects = frozenset() if callee.instance is None else callee.instance.objects
    positions = [j for j, name in enumerate(function.parameters) if name in kept]
    if summary_of(callee, facts).stored.isdisjoint(positions):
        return {}
    stores = _Reader(prepared, summary_of).stores_of(callee, facts) or Stores()
    unknown: dict[str, Span] = {}
    for position in positions:
        span = stores.at(position)
        if span is None:
            continue
        name = function.parameters[position]
        if name not in objects and isinstance(known.get(name, Unknown()), Unknown):
            unknown[name] = span
            continue
        raise UnsupportedSyntax(
            "a store into the object of a bound method, or into one that was captured, would be lost",
            span, code="E0305",
            label="this may store into the object",
            hint="pass the object as an argument, `value_and_grad(C.loss, argnums=1)(c, x)`, or return what is kept",
        )
    return unknown


def require_kept(definition: gast.FunctionDef, stores: Mapping[str, Span]) -> None:
    """Begin an emitted function with a look at each of these parameters."""
    for name, span in stores.items():
        place = gast.Constant(span.origin, None)
        look = gast.Expr(call_runtime(runtime.require_kept, gast.Name(name, gast.Load(), None, None), place))
        definition.body.insert(0, look)


class _Reader:
    def __init__(self, prepared: Prepare, summary_of: Callable[[Callee, tuple[Fact, ...]], Summary]) -> None:
        self.prepared = prepared
        self.summary_of = summary_of
        self.found: dict[Key, Stores | None] = {}  # None: underway

    def stores_of(self, callee: Callee, facts: tuple[Fact, ...]) -> Stores | None:
        """What a callee stores into; None of one that is being read already (recursion)."""
        key = (callee, facts)
        if key not in self.found:
            self.found[key] = None
            self.found[key] = self._read(*self.prepared(callee, facts))
        return self.found[key]

    def _read(self, function: Function, known: Mapping[str, Fact]) -> Stores:
        solver = Solver(function, known, self.summary_of)
        statements = list(walk(function.body))
        for statement in statements:
            solver.flow(statement)
        for statement in statements:
            solver.store(statement)
        found = Stores()
        origins = _Origins(function, statements)
        for name, span, itself in self._changes(solver, statements):
            exact = origins.of(name) if itself else None
            if name in solver.immutable:
                continue
            if exact is not None:
                for position in exact:
                    found.itself.setdefault(position, span)
                continue
            for position, parameter in enumerate(function.parameters):
                if parameter not in solver.immutable and solver.find(parameter) == solver.find(name):
                    found.within.setdefault(position, span)
        return found

    def _changes(self, solver: Solver, statements: list[Statement]) -> Iterator[tuple[str, Span, bool]]:
        """The names that are stored into, where, and whether that changes what they name and no part of it."""
        for name, statement, _ in solver.changes:
            if not isinstance(statement, Bind) or not isinstance(statement.operation, Call):
                whole = not isinstance(statement, AugStore) or isinstance(solver.fact(name), Array)
                yield name, statement.span, whole
        for statement in statements:
            if isinstance(statement, Bind) and isinstance(statement.operation, Call):
                yield from self._changed_by(solver, statement.operation, statement.span)

    def _changed_by(self, solver: Solver, made: Call, span: Span) -> Iterator[tuple[str, Span, bool]]:
        summary = solver.called(made)
        if not summary.stored:
            return
        facts = tuple(fact_of_expression(argument, solver.fact) for argument in made.arguments)
        callee = unguarded(made.callee) if isinstance(made.callee.function, Guarded) else made.callee
        stores = self.stores_of(callee, facts)
        for position in sorted(summary.stored):
            for name in solver.sources(made.arguments[position]):
                if stores is None:
                    yield name, span, False
                    continue
                if (itself := stores.itself.get(position)) is not None:
                    yield name, itself, isinstance(made.arguments[position], gast.Name)
                if (within := stores.within.get(position)) is not None:
                    yield name, within, False


class _Origins:
    """Which parameters a name may hold; none: what the function makes itself; None where that is not known."""

    def __init__(self, function: Function, statements: list[Statement]) -> None:
        self.positions = {name: j for j, name in enumerate(function.parameters)}
        self.binds: dict[str, list[Bind]] = defaultdict(list)
        self.others: set[str] = set()  # bound by other statements
        for statement in statements:
            if isinstance(statement, Bind):
                self.binds[statement.target].append(statement)
            else:
                self.others.update(bound_here(statement))

    def of(self, name: str) -> frozenset[int] | None:
        found: set[int] = set()
        seen = {name}
        pending = [name]
        while pending:
            one = pending.pop()
            if one in self.others or (one not in self.positions and one not in self.binds):
                return None
            if one in self.positions:
                found.add(self.positions[one])
            for bind in self.binds.get(one, ()):
                if isinstance(bind.operation, Copy):
                    pending += {bind.operation.source} - seen
                    seen.add(bind.operation.source)
                elif not bind.inplace and not _makes_new(bind):
                    return None
        return frozenset(found)


def _makes_new(bind: Bind) -> bool:
    """Whether what is bound is surely a new array, container or object, or a number."""
    match bind.operation:
        case Pack() | Create():
            return True
        case Call(callee=Callee(makes=made)):
            return made is not None
        case Apply(function=function):
            joined = isinstance(bind.expression, gast.BinOp)  # a user's operators are calls
            return joined or any(function is kind for kind in CONTAINERS) or makes_new(function)
    return False
