"""What the functions that write one random function share: its choices, and what it has used up so far.

Enters: choices, what may be called, and the features of the language that may be used.  Leaves: ``Writer``, the first
argument of every production.  Each production notes what it is by ``writer.met(...)``: that is what the coverage of a
hunt counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from srcgrad.fuzz.choices import Choices
from srcgrad.fuzz.scope import Scope, Signature

T = TypeVar("T")


@dataclass(eq=False)
class Writer:
    """One function while it is written."""

    choices: Choices
    callables: list[Signature]
    result: str  # the kind of what it returns
    budget: int  # how many statements may still come
    features: frozenset[str]
    constructs: set[str]
    flags: int = 0
    counters: int = 0
    functions: int = 0  # how many names of its own the program has so far

    def met(self, construct: str, made: T) -> T:
        """``made``, a use of this construct."""
        self.constructs.add(construct)
        return made

    def has(self, feature: str) -> bool:
        return feature in self.features

    def own(self, letters: str) -> str:
        """A name that nothing else in the program has."""
        self.functions += 1
        return f"{letters}{self.functions}"


Simple = Callable[[Writer, Scope], list[str]]
