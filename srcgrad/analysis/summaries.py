"""What functions do to the memory they are given, and the fixpoint that finds it for functions that call each other.

Enters: a way to work out one callee.  Leaves: ``Summary`` by callee and facts of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Summary:
    """What a callee does to the memory it is given, by parameter position."""

    stored: frozenset[int] = frozenset()  # parameters whose class is stored into
    returned: frozenset[int] = frozenset()  # parameters whose class the result may belong to
    joined: tuple[frozenset[int], ...] = ()  # parameters that end up in one class
    outside: frozenset[int] = frozenset()  # parameters that end up in one class with a global
    returns_outside: bool = False  # whether the result may be, or contain, what a global holds


class Summaries(Generic[Result]):
    """Results of callees, worked out by ``solve``, to a fixpoint over recursion.

    What it asks about a call that is being worked out already is answered by the summary as it stands, at first
    ``nothing``; then everything met on the way is worked out again until nothing changes.
    """

    def __init__(self, solve: Callable[..., Result], nothing: Result) -> None:
        self.solve, self.nothing = solve, nothing
        self.known: dict[Any, Result] = {}  # final
        self.rising: dict[Any, Result] = {}  # what the present round stands on
        self.met: dict[Any, bool] = {}  # in this round, and whether it is worked out
        self.is_provisional = self.is_underway = False

    def of(self, *key: Any) -> Result:
        if key in self.known:
            return self.known[key]
        if self.is_underway:
            self._work(key)
            return self.rising[key]
        self.is_underway = self.is_provisional = True
        try:
            self.rising = {}
            before: dict[Any, Result] | None = None
            while self.is_provisional and before != self.rising:
                before = dict(self.rising)
                self.met, self.is_provisional = {}, False
                self._work(key)
            self.known.update(self.rising)
        finally:
            self.is_underway = False
        return self.known[key]

    def _work(self, key: Any) -> None:
        if key in self.met:
            self.is_provisional |= not self.met[key]
            return
        self.met[key] = False
        self.rising.setdefault(key, self.nothing)
        self.rising[key] = self.solve(*key)
        self.met[key] = True
