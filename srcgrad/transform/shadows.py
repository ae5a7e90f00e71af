"""What the shadow pass found: tables about the statements of the function that it wrote.

Enters: nothing; this module declares what ``transform.shadowing`` hands to the sweeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import gast

from srcgrad.analysis.memory import MemoryClasses
from srcgrad.ir.normal_form import AddAt, Bind, Function, Return, Statement
from srcgrad.rules.facts import Array, Fact


@dataclass(frozen=True)
class Modes:
    """How a callee's derivative is given its arguments, aligned with its parameters, and hands out its result."""

    given: tuple[bool, ...] = ()  # arguments that come with their shadows; the others by value
    result: bool = False  # whether the result goes out with its shadow
    changing: tuple[bool, ...] = ()  # arguments without a shadow, lists of integers, that change or may change later
    added: tuple[bool, ...] = ()  # arguments by value to whose adjoints, buffers of the caller's, the sweep adds
    restored: bool = True  # whether the sweep leaves memory that came with its shadow as it was when the callee began

    def shadowed(self, parameters: Sequence[str]) -> tuple[str, ...]:
        return tuple(p for p, comes in zip(parameters, self.given, strict=True) if comes) if self.given else ()

    def changed(self, parameters: Sequence[str]) -> tuple[str, ...]:
        return tuple(p for p, may in zip(parameters, self.changing, strict=True) if may) if self.changing else ()

    def added_to(self, parameters: Sequence[str]) -> tuple[str, ...]:
        return tuple(p for p, comes in zip(parameters, self.added, strict=True) if comes) if self.added else ()


PLAIN = Modes()


def is_whole(statement: AddAt, fact: Fact) -> bool:
    """Whether our own output adds to all that a shadow holds, which may be a container: ``accumulate(v_bar, e)``."""
    index = statement.index
    return isinstance(index, gast.Constant) and index.value is ... and not isinstance(fact, Array)


def may_be_users(statement: AddAt) -> bool:
    """Whether this may be ``np.add.at`` or ``y[i] += e`` of the user's, which may add to integers, as no shadow is."""
    return isinstance(statement.function, gast.Attribute) or statement.function is None and statement.shared


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
    made: set[Statement] = field(default_factory=set)  # the statements that were added
    idle: frozenset[str] = frozenset()  # names of mutable classes that need no shadow: lists of integers
    with_shadow: frozenset[str] = frozenset()  # parameters that come with a shadow
    calls: dict[Bind, Modes] = field(default_factory=dict)  # calls that are given shadows
    changed: dict[Bind, tuple[bool, ...]] = field(default_factory=dict)  # call -> arguments that are idle, and change
    silent: set[Statement] = field(default_factory=set)  # what is bound by the statement before it
    outs: dict[Statement, str] = field(default_factory=dict)  # call -> what the shadow of its result is bound to first
    results: dict[Return, str] = field(default_factory=dict)  # the shadows that go out with the result
    entries: dict[str, str] = field(default_factory=dict)  # parameter -> its shadow as it was at first
    changing: frozenset[str] = frozenset()  # names of classes in which containers change: reads of them are kept
    effects: dict[Statement, str] = field(default_factory=dict)  # changes of shadow containers -> a name of the class
    put: dict[Statement, list[tuple[str, str]]] = field(default_factory=dict)  # (name, cell) of what went in
    taken: dict[Statement, list[tuple[str, str]]] = field(default_factory=dict)  # (name, cell) of what came out
    parts: dict[Statement, list[tuple[str, str, gast.expr]]] = field(default_factory=dict)  # (shadow, base, index)
    stored: dict[Statement, str] = field(default_factory=dict)  # stores where nothing is known -> shadow of the value
    frozen: dict[Statement, dict[str, tuple[str, str]]] = field(default_factory=dict)  # name -> (value, shadow) as then
    results_frozen: dict[Statement, str] = field(default_factory=dict)  # the shadow of a result as then
    detached: set[Bind] = field(default_factory=set)  # calls of which the result, a new container, changes here
    settled: dict[Statement, dict[str, gast.expr]] = field(default_factory=dict)  # parameter -> argument as then

    @property
    def owned(self) -> frozenset[str]:
        """The names that the shadow pass made."""
        return frozenset(s.target for s in self.made if isinstance(s, Bind)) | frozenset(self.outs.values())

    def root(self, name: str) -> str:
        return self.classes.root(name)
