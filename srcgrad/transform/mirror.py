"""What the shadows of statements share: the function that is written again, and the tables about its statements.

Enters: a function, its facts, classes of memory and modes.  Leaves: ``Mirror``, which every function that writes the
shadow of a statement is given first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import gast

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.references import names_mentioned
from srcgrad.analysis.summaries import Summary
from srcgrad.errors import Span
from srcgrad.ir.normal_form import (
    Append,
    Bind,
    Call,
    Copy,
    Delete,
    Effect,
    Exchange,
    Fixed,
    Function,
    Pop,
    Return,
    SetField,
    Statement,
    Store,
    Unruled,
)
from srcgrad.rules.facts import Array, Fact, Static, Unknown, is_discrete, is_floating
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.facts import Sequence as SequenceFact
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.namer import Namer
from srcgrad.transform.build import load
from srcgrad.transform.shadows import Modes, Shadows


@dataclass(eq=False)
class Mirror:
    """A function while its shadows are written; ``out`` is the block that statements go to."""

    function: Function
    facts: Mapping[str, Fact]
    summary_of: Callable[[Call], Summary]
    modes: Modes
    shadowed: frozenset[str]
    stored: frozenset[str]  # those, and the names of classes that change and need no shadow
    namer: Namer
    result: Shadows
    out: list[Statement] = field(default_factory=list)
    loops: int = 0  # how many loops the block stands in

    def fact(self, name: str) -> Fact:
        return self.facts.get(name, Unknown())

    def is_number(self, name: str) -> bool:
        fact = self.fact(name)
        return isinstance(fact, Array) and fact.scalar

    def is_array(self, name: str) -> bool:
        return isinstance(self.fact(name), Array)

    def is_container(self, name: str) -> bool:
        return isinstance(self.fact(name), SequenceFact | MappingFact)

    def bar(self, name: str) -> gast.expr:
        return load(self.result.bars[name])

    def zeros(self, name: str) -> gast.expr:
        fact = self.fact(name)
        plain = isinstance(fact, Array) and bool(fact.shape) and is_floating(fact.dtype)
        return call_runtime(runtime.zeros_like if plain else runtime.shadow, load(name))

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


def mirror_of(
    function: Function,
    facts: Mapping[str, Fact],
    classes: MemoryClasses,
    summary_of: Callable[[Call], Summary],
    modes: Modes,
    *,
    door: bool,
) -> Mirror:
    namer = Namer([*function.parameters, *(n for s in walk(function.body) for n in names_mentioned(s))])
    kept = {*modes.shadowed(function.parameters), *(function.parameters if door else ())}
    idle = frozenset(name for name in classes.shadowed if _is_idle(classes.members(name), facts, kept))
    made = Shadows(function, classes, idle=idle)
    mirror = Mirror(function, facts, summary_of, modes, classes.shadowed - idle, classes.shadowed, namer, made)
    mirror.result.changing = frozenset(_changing(mirror, classes))
    given = *modes.shadowed(function.parameters), *modes.changed(function.parameters)
    _may_change_later(mirror, classes, given)
    if modes.result:
        returns = (s for s in walk(function.body) if isinstance(s, Return))
        _may_change_later(mirror, classes, [name for s in returns for name in atoms(s.value)])
    return mirror


def _changing(mirror: Mirror, classes: MemoryClasses) -> set[str]:
    """The names of classes in which a container changes, or may."""
    roots: set[str] = set()
    for statement in walk(mirror.function.body):
        match statement:
            case Append(sequence=name) | Pop(sequence=name) | SetField(base=name) | Delete(base=name) | Bind(
                operation=Exchange(base=name) | Unruled(changes=str() as name)
            ):
                roots.add(classes.root(name))
            case Store(base=name) if not isinstance(mirror.fact(name), Array):
                roots.add(classes.root(name))
            case Bind(operation=Call(arguments=arguments) as made):
                stored = (n for j in mirror.summary_of(made).stored for n in atoms(arguments[j]))
                roots.update(classes.root(n) for n in stored if not isinstance(mirror.fact(n), Array))
    return {name for name in mirror.stored if classes.root(name) in roots}


def _is_idle(members: Collection[str], facts: Mapping[str, Fact], kept: Collection[str]) -> bool:
    """Whether a class consists of lists and tuples of whole numbers, which have no derivative; ``kept``: parameters
    that have a shadow, or are the user's."""
    return all(name not in kept and _holds_whole_numbers(facts.get(name, Unknown())) for name in members)


def _holds_whole_numbers(fact: Fact) -> bool:
    match fact:
        case Array(scalar=True, dtype=dtype):
            return is_discrete(dtype)
        case SequenceFact(items=tuple() as items):
            return all(map(_holds_whole_numbers, items))
        case SequenceFact(item=item):
            return item is not None and _holds_whole_numbers(item)
        case Static(value=bool() | int() | str() | None):
            return True
    return False


def _may_change_later(mirror: Mirror, classes: MemoryClasses, given: Collection[str]) -> None:
    """The caller may change the containers that it has given or is returned, after this function is done and before
    it is reversed."""
    roots = {classes.root(name) for name in given if not mirror.is_array(name)}
    mirror.result.changing |= {name for name in mirror.stored if classes.root(name) in roots}
