"""What functions do to the memory they are given, and the fixpoint that finds it for functions that call each other.

Enters: a way to work out one callee.  Leaves: ``Summary`` by callee and facts of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from srcgrad.ir.normal_form import Callee
from srcgrad.rules.facts import Fact

Key = tuple[Callee, tuple[Fact, ...]]


@dataclass(frozen=True)
class Summary:
    """What a callee does to the memory it is given, by parameter position."""

    stored: frozenset[int] = frozenset()  # parameters whose class is stored into
    returned: frozenset[int] = frozenset()  # parameters whose class the result may belong to
    joined: tuple[frozenset[int], ...] = ()  # parameters that end up in one class
    outside: frozenset[int] = frozenset()  # parameters that end up in one class with a global
    returns_outside: bool = False  # whether the result may be, or contain, what a global holds


class Summaries:
    """The summaries of callees, to a fixpoint over recursion.

    ``solve`` works out one callee; what it asks about a callee that is being worked out already is answered by what is
    known so far, and everything met on the way is worked out again until nothing changes.
    """

    def __init__(self, solve: Callable[[Callee, tuple[Fact, ...]], Summary]) -> None:
        self.solve = solve
        self.known: dict[Key, Summary] = {}  # final
        self.rising: dict[Key, Summary] = {}  # what the present round stands on
        self.met: set[Key] = set()
        self.is_underway = False

    def of(self, callee: Callee, facts: tuple[Fact, ...]) -> Summary:
        key = (callee, facts)
        if key in self.known:
            return self.known[key]
        if self.is_underway:
            self._work(key)
            return self.rising[key]
        self.is_underway = True
        try:
            self.rising = {}
            before: dict[Key, Summary] | None = None
            while before != self.rising:
                before = dict(self.rising)
                self.met = set()
                self._work(key)
            self.known.update(self.rising)
        finally:
            self.is_underway = False
        return self.known[key]

    def _work(self, key: Key) -> None:
        if key not in self.met:
            self.met.add(key)
            self.rising.setdefault(key, Summary())
            self.rising[key] = self.solve(*key)
