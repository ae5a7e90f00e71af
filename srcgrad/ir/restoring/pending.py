"""Nesting: values wait on a stack until what uses them is written.

``Pad.pending`` holds what has been computed and not yet written, in the order of evaluation.  An operation takes the
topmost values if they are its operands in the order in which Python evaluates these, and if nothing else reads them.
Whatever is in the way is written first, into temporaries; a statement writes all that is pending before it.  So
effects, reads and exceptions keep the order that they have in the IR, whether they are nested or not::

    t = f(x)            pending: f(x)
    t2 = g(y)           pending: f(x), g(y)
    t3 = t - t2         pending: f(x) - g(y)
    t3 = t2 - t         t = f(x); t4 = g(y); pending: t4 - t

>>> import gast
>>> from srcgrad.frontend.lowering import lowered
>>> from srcgrad.ir.restoring import restored
>>> print(gast.unparse(restored(lowered(lambda f, g, x, y: f(x) - g(y)))))
lambda f, g, x, y: f(x) - g(y)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Function, If, Loop, Statement, With, blocks_of, operands_of
from srcgrad.ir.restoring.tree import assigned, call, name, of_version, operand
from srcgrad.syntax.parse import clone


@dataclass(frozen=True)
class Layout:
    """What is written otherwise than its author did."""

    apart: Set[Version] = frozenset()  # values that are bound by statements of their own
    movable: Set[Version] = frozenset()  # those that are the same wherever they are computed
    spread: Set[Statement] = frozenset()  # comprehensions that are loops
    refused: Set[Statement] = frozenset()  # other expressions that are statements
    kinds: Mapping[Version, object] = field(default_factory=dict)  # versions of one variable that share no name
    is_bound: bool = False  # no variable is read where it may have no value, so that it may as well hold None


@dataclass(eq=False)
class Plan:
    """A function that is restored."""

    function: Function
    uses: Counter[Operand]
    refused: set[Statement] = field(default_factory=set)  # what is not written in the form that it came from
    names: set[str] = field(default_factory=set)  # that the function uses otherwise
    same: dict[Version, Version] = field(default_factory=dict)  # checked versions -> what they check
    outer: frozenset[str] = frozenset()  # variables of the functions around
    has_match: bool = False
    ends: dict[Operand, Version] = field(default_factory=dict)  # items -> what they are where there is none any more
    called: dict[Version, str] = field(default_factory=dict)  # functions and classes that no statement binds
    kinds: dict[Operand, str] = field(default_factory=dict)  # containers that are made -> what they are
    layout: Layout = field(default_factory=lambda: Layout())


@dataclass(eq=False)
class Part:
    """An expression: as a value, as a test if that is another one, and what an iterator goes over."""

    value: Any
    test: Any = None
    source: Any = None
    node: gast.AST | None = None
    is_keywords: bool = False  # whether it is the dict of a call's keywords

    @property
    def tested(self) -> Any:
        return self.value if self.test is None else self.test


@dataclass(eq=False)
class Entry:
    """A value that waits, under the operand that reads it.

    ``targets`` are what ``:=`` binds; a ``named`` one can be read again by its name.  ``origin`` is the expression that
    the user wrote, which tells the operand that it is from others that read the same name."""

    key: Operand
    part: Part
    uses: int
    named: bool = False
    targets: list[Any] = field(default_factory=list)
    origin: gast.AST | None = None
    shared: Operand | None = None  # of a comparison: the operand that the next one of its chain begins with


@dataclass(eq=False)
class Pad:
    """A block that is being written."""

    plan: Plan
    out: list[Any] = field(default_factory=list)
    pending: list[Entry] = field(default_factory=list)
    here: gast.AST | None = None  # where the statement that is being written comes from

    def inner(self) -> Pad:
        return Pad(self.plan)

    @property
    def is_clear(self) -> bool:
        return not self.out and not self.pending


def uses_of(function: Function) -> Counter[Operand]:
    """How often each operand is read."""
    found: Counter[Operand] = Counter()
    blocks = [function.body]
    while blocks:
        block = blocks.pop()
        found.update(operands_of(block.exit))
        for statement in block.statements:
            found.update(own_operands(statement))
            blocks += blocks_of(statement)
    return found


def own_operands(statement: Statement) -> list[Operand]:
    match statement:
        case Assign(operation=operation):
            return list(operands_of(operation))
        case If(test=test):
            return [test]
        case Loop(initial=initial):
            return list(initial)
        case With(manager=manager):
            return [manager]
    return []


def reads_of(statements: Sequence[Statement], *blocks: Block) -> set[Operand]:
    """The operands that statements and blocks read, those in regions below included."""
    found: set[Operand] = set()
    pending = list(blocks)
    for statement in statements:
        found.update(own_operands(statement))
        pending += blocks_of(statement)
    while pending:
        block = pending.pop()
        found.update(operands_of(block.exit))
        for statement in block.statements:
            found.update(own_operands(statement))
            pending += blocks_of(statement)
    return found


def builtin(plan: Plan, wanted: str) -> Any:
    """A builtin, whatever else the function calls by this name."""
    if wanted not in plan.names:
        return name(wanted)
    return gast.Attribute(call(name("__import__"), gast.Constant("builtins", None)), wanted, gast.Load())


def plain(plan: Plan, value: Any) -> Any:
    """An expression that may stand anywhere: slices and replacement fields are at home in their places only."""
    written = _plain(plan, value)
    if written is not value and hasattr(value, "computes"):
        written.computes = value.computes
    return written


def _plain(plan: Plan, value: Any) -> Any:
    match value:
        case gast.Slice(lower=lower, upper=upper, step=step):
            parts = [gast.Constant(None, None) if part is None else part for part in (lower, upper, step)]
            return call(builtin(plan, "slice"), *parts)
        case gast.Tuple(elts=elements) if any(isinstance(element, gast.Slice) for element in elements):
            return gast.Tuple([plain(plan, element) for element in elements], gast.Load())
        case gast.FormattedValue():
            return gast.JoinedStr([value])
    return value


# --- the stack -------------------------------------------------------------------------------------------------------
def waiting(pad: Pad, key: Operand) -> Entry | None:
    return next((entry for entry in reversed(pad.pending) if entry.key is key), None)


def push(pad: Pad, key: Version, part: Part, uses: int | None = None) -> Entry | None:
    """Let a value wait; one that nothing reads is a statement."""
    part.value.computes = key
    entry = Entry(key, part, pad.plan.uses[key] if uses is None else uses)
    if not entry.uses:
        emit(pad, gast.Expr(plain(pad.plan, part.value)))
        return None
    pad.pending.append(entry)
    if key in pad.plan.layout.apart:
        flush(pad, len(pad.pending))
    return entry


def emit(pad: Pad, statement: Any) -> None:
    """Write a statement, after all that is pending."""
    flush(pad, len(pad.pending))
    statement.comes_from = pad.here
    pad.out.append(statement)


def flush(pad: Pad, count: int, read: Set[Operand] = frozenset()) -> None:
    """Write the first values that are pending, but for those that can be computed later as well, if nobody reads them
    now."""
    movable = pad.plan.layout.movable
    kept = [entry for entry in pad.pending[:count] if entry.key in movable and entry.key not in read]
    for entry in pad.pending[:count]:
        if entry in kept:
            continue
        value = plain(pad.plan, entry.part.value)
        targets = list(entry.targets)
        if not entry.named and entry.uses:
            assert isinstance(entry.key, Version)
            targets.insert(0, of_version(entry.key, gast.Store))
        statement = assigned(targets, value) if targets else gast.Expr(value)
        statement.comes_from = entry.origin or pad.here
        pad.out.append(statement)
    pad.pending[:count] = kept


def settle(pad: Pad, read: set[Operand]) -> None:
    """Write the values that a region reads, and what comes before them."""
    places = [place for place, entry in enumerate(pad.pending) if entry.key in read]
    flush(pad, max(places, default=-1) + 1, read)


def take(pad: Pad, operands: Sequence[Operand], allow: Mapping[Operand, int] | None = None) -> list[Part]:
    """The expressions of operands, given in the order in which Python evaluates them where they will stand.

    ``allow`` says of which operands more than one use is written at once."""
    free = [entry for entry in pad.pending if entry.key in pad.plan.layout.movable]
    pad.pending = [entry for entry in pad.pending if entry.key not in pad.plan.layout.movable]
    places = {entry.key: place for place, entry in enumerate(pad.pending)}
    first: dict[Operand, int] = {}
    for position, given in enumerate(operands):
        if given in places:
            first.setdefault(given, position)
    chosen: dict[int, Entry] = {}
    last = len(operands)
    for entry in reversed(pad.pending):
        position = first.get(entry.key, last)
        once = entry.named or entry.uses <= (allow or {}).get(entry.key, 1)
        if position >= last or places[entry.key] != pad.pending.index(entry) or not once or not _belongs(pad, entry):
            break
        chosen[position] = entry
        last = position
    left = [places[given] for given, p in first.items() if p not in chosen]
    flush(pad, max((place for place in left if not pad.pending[place].named), default=-1) + 1, set(operands))
    if chosen:
        del pad.pending[-len(chosen) :]
    for entry in free:  # written wherever it is read
        for position in (p for p, given in enumerate(operands) if given is entry.key):
            chosen[position] = replace(entry, part=replace(entry.part, value=clone(entry.part.value)))
        entry.uses -= min(operands.count(entry.key), (allow or {}).get(entry.key, 1)) if entry.key in operands else 0
    pad.pending = [*(entry for entry in free if entry.uses > 0), *pad.pending]
    return [_nested(chosen[p]) if p in chosen else Part(_read(pad.plan, given)) for p, given in enumerate(operands)]


def _belongs(pad: Pad, entry: Entry) -> bool:
    """Whether what is being written is where the user put an expression that binds a name."""
    if entry.origin is None or pad.here is None:
        return True
    return any(part is entry.origin for part in gast.walk(pad.here))


def _nested(entry: Entry) -> Part:
    if not entry.targets:
        return entry.part
    value = entry.part.value
    for target in entry.targets:
        value = gast.NamedExpr(target, value)
    return Part(value)


def _read(plan: Plan, given: Operand) -> Any:
    if isinstance(given, Literal) and callable(given.value):
        return builtin(plan, str(getattr(given.value, "__name__", given.value)))
    return operand(plan.same.get(given, given) if isinstance(given, Version) else given)


def take_values(pad: Pad, operands: Sequence[Operand], allow: Mapping[Operand, int] | None = None) -> list[Any]:
    """The same, as values that may stand anywhere."""
    return [plain(pad.plan, part.value) for part in take(pad, operands, allow)]
