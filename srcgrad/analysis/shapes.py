"""Shapes: what is known of every local name, whatever point of the function is asked about.

Enters: ``Function``, the facts of its parameters, and a way to ask what a callee returns.  Leaves: one ``Fact`` per
name, the join over all its binders, found with a worklist (facts only climb, and give up after a few steps)::

    def f(x, n):                     x   Array(("x.0",), "float64")
        s = 0.0                      n   number("int")
        for i in range(n):           i   number("int")
            s = s + x[i]             s   number("float64")
        return s

A name that is bound once, outside every loop, holds one value in a call: its unknown dimensions get symbols of their
own (``y.0``), so that two results of the same shape can be told to have it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Table
from dataclasses import dataclass, replace
from functools import reduce
from heapq import heappop, heappush

import gast

from srcgrad.analysis.cfg import blocks_of, bound_here, walk
from srcgrad.analysis.changes import Put, opened, opened_by
from srcgrad.analysis.indices import indexed
from srcgrad.analysis.literals import INTEGER, literal
from srcgrad.analysis.values import (
    arithmetic,
    fact_of_expression,
    is_copy,
    joined_fact,
    operator_result,
    value_of,
    valued,
)
from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    Apply,
    AugStore,
    Bind,
    Block,
    Call,
    Callee,
    Copy,
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
    While,
)
from srcgrad.rules.facts import (
    Array,
    Fact,
    Mapping,
    Object,
    Sequence,
    Static,
    Unknown,
    element,
    is_discrete,
    join,
    without_value,
)
from srcgrad.rules.facts import same_shape as same_shape_of
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as nodes_of

CLIMBS = 8  # changes of one name's fact before nothing is assumed about it any more
ALIKE = {"int": "int64", "float": "float64", "complex": "complex128"}
WIDE = frozenset({"bool", *ALIKE, *ALIKE.values()})


@dataclass(frozen=True)
class Outcome:
    """What a call gives, and puts into the containers that it reaches; at first, in a recursion, neither."""

    result: Fact | None = None  # None: no way through the callee is known to come to an end
    put: Put | None = None  # None: no container changes

    def mapped(self, change: Callable[[Fact], Fact]) -> Outcome:
        """The same with each fact put through a function."""
        put = self.put
        if put is not None and put.stored is not None:
            put = replace(put, stored=change(put.stored))
        return Outcome(None if self.result is None else change(self.result), put)


NOTHING_KNOWN = Outcome(Unknown(), Put(Unknown()))


def shapes(
    function: Function,
    entry: Table[str, Fact],
    outcome_of: Callable[[Callee, tuple[Fact, ...]], Outcome],
    changes: Callable[[Callee], bool] = lambda callee: True,
    also: Callable[[Bind, Callable[[gast.expr], Fact]], Fact | None] | None = None,
) -> Table[str, Fact]:
    """One fact per local name; parameters start from ``entry`` (absent: ``Unknown()``).

    ``changes`` says of a callee whether it may change the containers that it is given.  ``also``: the fact of a
    binding of emitted text, given the facts of expressions; there sums of cotangents have the form of these.
    """
    return shapes_and_outcome(function, entry, outcome_of, changes, also)[0]


def shapes_and_outcome(
    function: Function,
    entry: Table[str, Fact],
    outcome_of: Callable[[Callee, tuple[Fact, ...]], Outcome],
    changes: Callable[[Callee], bool],
    also: Callable[[Bind, Callable[[gast.expr], Fact]], Fact | None] | None = None,
) -> tuple[Table[str, Fact], Outcome]:
    """The facts of the names of a function, and the outcome of a call of it with such arguments."""
    open_at = opened_by(function, changes)
    solver = _Solver(function, entry, outcome_of, open_at, also, alike=True)
    facts = solver.solve()
    # Where every number has 8 bytes a Python float and a float64 promote alike, so that their join keeps the dtype.
    alike = all(dtype in WIDE for fact in facts.values() for dtype in _dtypes(fact))
    # Powers of Python's floats are real unless a negative one is raised to a fraction.  That would matter only where
    # complex numbers become real ones: their adjoint is the real part of what comes back.
    powers_real = not (solver.raises and any(map(_may_be_complex, facts.values())))
    if not (alike and powers_real):
        solver = _Solver(function, entry, outcome_of, open_at, also, alike=alike, powers_real=powers_real)
        facts = solver.solve()
    return facts, solver.outcome


def result(function: Function, facts: Table[str, Fact]) -> Fact:
    """What the function returns: the join over its returns."""
    made: Fact | None = None
    for statement in walk(function.body):
        if isinstance(statement, Return):
            fact = fact_of_expression(statement.value, lambda name: facts.get(name, Unknown()))
            made = fact if made is None else meet(made, fact, alike=False)
    return Static(None) if made is None else made


def inert(fact: Fact) -> bool:
    """Whether the value provably carries no derivative: integers, truth values, None, containers of them.

    Text and records that are made of numbers lose the derivative of these: where it is of use, a cotangent or tangent
    reaches them, which is refused.
    """
    match fact:
        case Array(dtype=dtype):
            return is_discrete(dtype)
        case Static(value):
            return not isinstance(value, float | complex) and not hasattr(value, "dtype")
        case Sequence(items=tuple() as items):
            return all(map(inert, items))
        case Sequence(item=item):
            return item is not None and inert(item)
        case Mapping(items=tuple() as entries) | Object(items=entries):
            return all(inert(item) for _, item in entries)
    return False


def same_shape(facts: Table[str, Fact], a: str, b: str) -> bool:
    """Whether two names provably hold arrays of one shape."""
    return same_shape_of(facts.get(a, Unknown()), facts.get(b, Unknown()))


def meet(a: Fact, b: Fact, *, alike: bool) -> Fact:
    """``join`` that keeps what it can of numbers of one kind, and of a list that was empty at first."""
    match a, b:
        case Array(dtype=str() as m), Array(dtype=str() as n) if alike and ALIKE.get(m, m) == ALIKE.get(n, n):
            dtype = m if m == n else ALIKE.get(m, m)
            return join(replace(a, dtype=dtype), replace(b, dtype=dtype))
        case Sequence(kind=kind, items=()), Sequence(kind=other) if kind == other and b.items != ():
            return Sequence(kind, None, element(b))
        case Sequence(kind=kind), Sequence(kind=other, items=()) if kind == other and a.items != ():
            return Sequence(kind, None, element(a))
        case Sequence(kind=kind), Sequence(kind=other) if kind == other:
            if a.items is not None and b.items is not None and len(a.items) == len(b.items):
                return Sequence(kind, tuple(meet(m, n, alike=alike) for m, n in zip(a.items, b.items, strict=True)))
            return Sequence(kind, None, meet(element(a), element(b), alike=alike))
    return join(a, b)


def _dtypes(fact: Fact) -> Iterator[str]:
    match fact:
        case Array(dtype=str() as dtype):
            yield dtype
        case Sequence(items=items, item=item):
            for inner in items or ():
                yield from _dtypes(inner)
            if item is not None:
                yield from _dtypes(item)
        case Mapping(items=tuple() as entries) | Object(items=entries):
            for _, inner in entries:
                yield from _dtypes(inner)


def _may_be_complex(fact: Fact) -> bool:
    match fact:
        case Array(dtype=None, real=real):
            return not real
        case Array(dtype=dtype):
            return dtype is not None and dtype.startswith("complex")
        case Sequence(items=tuple() as items):
            return any(map(_may_be_complex, items))
        case Sequence(item=item):
            return item is None or _may_be_complex(item)
        case Mapping(items=tuple() as entries) | Object(items=entries):
            return any(_may_be_complex(item) for _, item in entries)
        case Static(value):
            return isinstance(value, complex)
    return True


_ADDS = {operator.add: gast.Add, operator.sub: gast.Sub}


class _NotYet(Exception):
    """An operand has no fact so far: no binder of it has been reached."""


class _Solver:
    """The worklist: statements in program order, woken up when a fact that they read climbs."""

    def __init__(
        self,
        function: Function,
        entry: Table[str, Fact],
        outcome_of: Callable[[Callee, tuple[Fact, ...]], Outcome],
        open_at: Table[Statement, frozenset[str]],
        also: Callable[[Bind, Callable[[gast.expr], Fact]], Fact | None] | None,
        *,
        alike: bool,
        powers_real: bool = True,
    ) -> None:
        self.function = function
        self.outcome_of = outcome_of
        self.also = also
        self.alike = alike
        self.powers_real = powers_real
        self.raises = False  # whether the facts rest on a power of a Python number being real
        self.statements = list(walk(function.body))
        self.facts: dict[str, Fact] = {p: entry.get(p, Unknown()) for p in function.parameters}
        self.climbs: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        self.once = _bound_once(function)
        self.open_at = open_at
        self.opened: set[str] = set()  # names whose containers were found to change
        self.outcome = Outcome()
        for position, statement in enumerate(self.statements):
            for name in dict.fromkeys([*_read(statement), *sorted(open_at.get(statement, ()))]):
                self.readers.setdefault(name, []).append(position)

    def solve(self) -> Table[str, Fact]:
        queue = list(range(len(self.statements)))
        queued = set(queue)
        while queue:
            position = heappop(queue)
            queued.discard(position)
            try:
                bound = [*self._bound(self.statements[position]), *self._opened(self.statements[position])]
            except _NotYet:
                continue
            for name, fact in bound:
                if self._raise(name, fact):
                    for reader in self.readers.get(name, ()):
                        if reader not in queued:
                            queued.add(reader)
                            heappush(queue, reader)
        self.outcome = self._outcome()
        for statement in self.statements:
            for name in bound_here(statement):
                self.facts.setdefault(name, Unknown())
        return self.facts

    def _raise(self, name: str, fact: Fact) -> bool:
        """Join what a binder says into the fact of a name; whether that changed it."""
        if name in self.once:
            fact = _with_symbols(fact, name)
        present = self.facts.get(name)
        if present is None:
            self.facts[name] = fact
            return True
        if name not in self.once or name in self.opened:
            fact = meet(present, fact, alike=self.alike)
        if fact == present:
            return False
        self.climbs[name] = self.climbs.get(name, 0) + 1
        if self.climbs[name] > CLIMBS:
            fact = Unknown()
        self.facts[name] = fact
        return fact != present

    # --- one statement -----------------------------------------------------------------------------------------------
    def _of(self, name: str) -> Fact:
        fact = self.facts.get(name)
        if fact is None:
            raise _NotYet
        return fact

    def _fact(self, expression: gast.expr) -> Fact:
        fact = fact_of_expression(expression, self._of)
        if isinstance(fact, Array) and fact.real and any(isinstance(node, gast.Pow) for node in nodes_of(expression)):
            return self._power(fact)
        return fact

    def _power(self, fact: Array) -> Fact:
        self.raises = True
        return fact if self.powers_real else replace(fact, real=False)

    def _bound(self, statement: Statement) -> Iterable[tuple[str, Fact]]:
        match statement:
            case Bind(target=target):
                return [(target, self._value(statement))]
            case Unpack(targets=targets, source=source, star=star):
                return zip(targets, _parts(self._of(source), len(targets), star), strict=True)
            case Append(sequence=sequence, value=value):
                return [(sequence, Sequence("list", None, self._fact(value)))]
            case Pop(sequence=sequence, targets=targets, tupled=tupled):
                held = self._of(sequence)
                item = element(held) if isinstance(held, Sequence) and held.items != () else None
                if item is None:
                    if isinstance(held, Sequence):
                        raise _NotYet
                    item = Unknown()
                return zip(targets, _parts(item, len(targets), None) if tupled else [item], strict=True)
            case AddAt(buffer=buffer):
                # The parts of a container of buffers are replaced by sums.
                is_kept = isinstance(self._of(buffer), Array) or self.also is not None
                return [] if is_kept else [(buffer, self._added_to(statement))]
            case For(index=index, iterable=iterable, counted=counted):
                return [(index, INTEGER if counted else _item_of(self._fact(iterable)))]
        return []

    def _opened(self, statement: Statement) -> Iterator[tuple[str, Fact]]:
        """What a change of a container takes from the facts of all that may hold it."""
        names = self.open_at.get(statement)
        if names is None:
            return
        put = self._put(statement)
        if put is None:
            return
        for name in sorted(names):
            before = self.facts.get(name)
            if before is None or (after := opened(before, put)) is before:
                continue
            if after != before:
                self.opened.add(name)
                yield name, after

    def _put(self, statement: Statement) -> Put | None:
        """What a statement that may change a container puts in; None if none changes, by the facts."""
        match statement:
            case AddAt() if self.also is not None:
                return None
            case Store(base=base) | AugStore(base=base) if isinstance(self._of(base), Array):
                return None
            case Bind(target=base, inplace=True) if isinstance(self.facts.get(base), Array | Static):
                return None
            case Store(base=base, index=index, value=value) if not isinstance(index, gast.Slice):
                return Put(self._fact(value), index, self._of(base))
            case SetField(base=base, name=field, value=value):
                return Put(self._fact(value), gast.Constant(field, None), self._of(base))
            case Append(sequence=base, value=value):
                return Put(self._fact(value), None, self._of(base))
            case Bind(operation=Exchange(base=base, method="append" | "appendleft", arguments=(argument,))):
                return Put(self._fact(argument), None, self._of(base))
            case Bind(operation=Exchange(base=base, method="extend", arguments=(argument,))):
                given = self._fact(argument)
                return Put(element(given) if isinstance(given, Sequence) else Unknown(), None, self._of(base))
            case Bind(operation=Exchange(method="pop" | "popleft" | "clear" | "reverse" | "sort")) | Pop() | Delete():
                return Put(None)
            case Bind(inplace=False, operation=Call(callee=callee, arguments=arguments)):
                return self.outcome_of(callee, tuple(self._fact(a) for a in arguments)).put
        return Put(Unknown())

    def _added_to(self, statement: AddAt) -> Fact:
        """A list of numbers, to one of which a number is added: each may be the sum."""
        held, value, index = self._of(statement.buffer), self._fact(statement.value), statement.index
        if not isinstance(held, Sequence) or not held.items or statement.shared or not isinstance(index, gast.Constant):
            return Unknown()
        if type(index.value) is not int or not all(map(_is_number, (value, *held.items))):
            return Unknown()
        return replace(held, items=tuple(join(item, arithmetic(gast.Add(), item, value)) for item in held.items))

    def _outcome(self) -> Outcome:
        """The outcome of a call of the function, from the paths on which every name has a fact so far."""
        made: Fact | None = None
        put: Put | None = None
        for statement in self.statements:
            try:
                if isinstance(statement, Return):
                    fact = fact_of_expression(statement.value, self._of)
                    made = fact if made is None else meet(made, fact, alike=False)
                elif statement in self.open_at and (more := self._put(statement)) is not None:
                    stored = [each.stored for each in (put, more) if each is not None and each.stored is not None]
                    put = Put(reduce(join, stored) if stored else None)
            except _NotYet:
                continue
        if made is None and not any(isinstance(statement, Return) for statement in self.statements):
            made = Static(None)
        return Outcome(made, put)

    def _value(self, statement: Bind) -> Fact:
        known = None if self.also is None else self.also(statement, self._fact)
        if known is not None:
            return known
        match statement.operation:
            case Copy(source=source):
                return self._of(source)
            case Field(base=base, name=name):
                whole = self._of(base)
                return whole.field(name) if isinstance(whole, Object) else Unknown()
            case Pack(kind="object", of=type() as kind, elements=elements, keys=keys):
                return Object(kind, tuple((k.value, self._fact(e)) for k, e in zip(keys, elements, strict=True)))
            case Index(base=base, index=index):
                if self._of(base) == Sequence("list", ()) and self._is_number(index):
                    raise _NotYet  # an item of a list that has none on any way that was met so far
                return indexed(self._of(base), index, self._fact)
            case Pack(kind="dict", elements=elements, keys=keys):
                values = [self._fact(e) for e in elements]
                return Mapping(tuple((literal(k), v) for k, v in zip(keys, values, strict=True)))
            case Pack(kind=kind, elements=elements):
                return Sequence(kind, tuple(self._fact(e) for e in elements))
            case Apply(arguments=arguments) if is_copy(statement):
                whole = self._fact(arguments["a"])  # of a list a list
                return self._applied(statement.operation) if isinstance(whole, Array) else whole
            case Apply():
                return self._applied(statement.operation)
            case Call(callee=callee, arguments=arguments):
                result = self.outcome_of(callee, tuple(self._fact(a) for a in arguments)).result
                if result is None:
                    raise _NotYet
                return result
            case Exchange(base=base, method=method) if isinstance(held := self._of(base), Sequence):
                if held.kind == "list" and method in ("append", "extend", "insert", "clear", "reverse", "sort"):
                    return Static(None)
            case Fixed() | Unruled():
                return self._fact(statement.expression)
        return Unknown()

    def _is_number(self, index: gast.expr) -> bool:
        """Whether an index is surely one number, which asks for one item."""
        if isinstance(index, gast.Slice):
            return False
        fact = self._fact(index)
        return isinstance(fact, Array) and fact.scalar or isinstance(fact, Static) and type(fact.value) is int

    def _applied(self, apply: Apply) -> Fact:
        facts: dict[str, Fact] = {}
        literals: dict[str, object] = {}
        for parameter, expression in apply.arguments.items():
            try:
                literals[parameter] = literal(expression)
            except ValueError:
                pass
            fact = self._fact(expression)
            facts[parameter] = fact if parameter == "shape" else without_value(fact)
        if apply.function in (operator.add, operator.mul) and any(isinstance(f, Sequence) for f in facts.values()):
            return joined_fact(apply.function, *facts.values())
        second = list(facts)[1] if len(facts) > 1 else None
        known = operator_result(apply.function, list(facts.values()), literals.get(second or ""))
        if known is not None and (operator_ := _ADDS.get(apply.function)) is not None:  # type: ignore[call-overload]
            left, right = apply.arguments.values()
            return valued(known, operator_, value_of(left, self._fact(left)), value_of(right, self._fact(right)))
        if known is None:
            return apply.rule.shape(facts, literals, apply.function)
        if isinstance(known, Array) and known.real and getattr(apply.function, "__name__", "") == "pow":
            return self._power(known)
        return known


def _is_number(fact: Fact) -> bool:
    return isinstance(fact, Array) and fact.shape == () and fact.scalar


def _bound_once(function: Function) -> frozenset[str]:
    """The names that one statement binds, outside of every loop, and that are no parameters."""
    count: dict[str, int] = dict.fromkeys(function.parameters, 2)
    pending: list[tuple[Block, int]] = [(function.body, 1)]
    while pending:
        block, weight = pending.pop()
        for statement in block.statements:
            again = 2 if isinstance(statement, For) else weight
            for name in bound_here(statement):
                count[name] = count.get(name, 0) + again
            if isinstance(statement, Append | AddAt):
                name = statement.sequence if isinstance(statement, Append) else statement.buffer
                count[name] = count.get(name, 0) + 1
            inside = 2 if isinstance(statement, For | While) else weight
            pending += [(inner, inside) for inner in blocks_of(statement)]
    return frozenset(name for name, times in count.items() if times == 1)


def _with_symbols(fact: Fact, name: str) -> Fact:
    match fact:
        case Array((), "int", scalar=True, value=None):
            return replace(fact, value=f"{name}.v")
        case Array(shape=tuple() as shape) if None in shape:
            return replace(fact, shape=tuple(f"{name}.{j}" if n is None else n for j, n in enumerate(shape)))
        case Sequence(items=tuple() as items):
            return replace(fact, items=tuple(_with_symbols(item, f"{name}[{j}]") for j, item in enumerate(items)))
    return fact


def _read(statement: Statement) -> Iterator[str]:
    match statement:
        case Bind(expression=expression, operation=operation):
            yield from names_read(expression)
            if isinstance(operation, Apply):
                yield from names_read(*operation.arguments.values())
            elif isinstance(operation, Call):
                yield from names_read(*operation.arguments)
        case Unpack(source=source) | Pop(sequence=source) | AddAt(buffer=source):
            yield source
        case Append(value=value):
            yield from names_read(value)
        case Store(base=base, value=value) | AugStore(base=base, value=value):
            yield base
            yield from names_read(value)
        case For(iterable=iterable):
            yield from names_read(iterable)


def _parts(whole: Fact, count: int, star: int | None) -> list[Fact]:
    """What unpacking gives to each target; the starred one gets a list."""
    match whole:
        case Sequence(items=tuple() as items):
            if star is None:
                return list(items) if len(items) == count else [Unknown()] * count
            after = count - star - 1
            if len(items) < count - 1:
                return [Unknown()] * count
            middle = items[star : len(items) - after]
            return [*items[:star], Sequence("list", middle), *items[len(items) - after :]]
        case Sequence():
            item = element(whole)
        case Array(shape=(_, *rest), dtype=dtype):
            item = Array(tuple(rest), dtype, scalar=not rest)
        case _:
            return [Unknown()] * count
    return [Sequence("list", None, item) if j == star else item for j in range(count)]


def _item_of(iterable: Fact) -> Fact:
    return element(iterable) if isinstance(iterable, Sequence) else Unknown()
