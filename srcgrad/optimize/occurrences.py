"""Occurrences of names in one block, in order, and in the function as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.optimize.effects import Effects
from srcgrad.optimize.scan import COMPOUND, Site, blocks_below, statements_of
from srcgrad.syntax.parse import parameters_of


@dataclass(slots=True)
class Uses:
    """Of one name in one block: positions of statements, and what happens there.

    r: one read on the statement's own line, at a place that may be replaced; w: the statement surely binds the name;
    n: anything else, on its line or below it.
    """

    positions: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    binds: list[int] = field(default_factory=list)  # positions of the statements that may bind it
    reads: int = 0  # how many, those below statements included

    def add(self, position: int, kind: str) -> None:
        self.positions.append(position)
        self.kinds.append(kind)


class Table:
    """The uses of every name in a block, and where control may leave it."""

    def __init__(self, statements: list[gast.stmt], effects: Effects) -> None:
        self.uses: dict[str, Uses] = {}
        self.exits: list[int] = []
        self.compound: set[int] = set()
        self.sites: list[dict[str, list[Site]]] = []
        for position, statement in enumerate(statements):
            effect = effects.of(statement)
            kind = type(statement)
            self.sites.append(effect.line.sites)
            if effect.exits:
                self.exits.append(position)
            for name, sites in effect.line.sites.items():
                uses = self._use(name)
                uses.reads += len(sites)
                for _ in sites:
                    uses.add(position, "n" if kind is gast.While else "r")
            if kind in COMPOUND:
                self.compound.add(position)
                below: dict[str, int] = {}
                count_below(statement, effects, below)
                for name, count in below.items():
                    uses = self._use(name)
                    uses.reads += count
                    uses.add(position, "n")
            for name in effect.binds:
                uses = self._use(name)
                uses.binds.append(position)
                uses.add(position, "w" if kind is gast.Assign and name in effect.definite else "n")

    def _use(self, name: str) -> Uses:
        found = self.uses.get(name)
        if found is None:
            found = self.uses[name] = Uses()
        return found


def count_below(statement: gast.stmt, effects: Effects, counts: dict[str, int]) -> None:
    """Add up the reads in the blocks of a compound statement."""
    pending = blocks_below(statement)
    while pending:
        for inner in pending.pop():
            for name, sites in effects.scan(inner).sites.items():
                counts[name] = counts.get(name, 0) + len(sites)
            if isinstance(inner, COMPOUND):
                pending += blocks_below(inner)


class Counts:
    """How often each name is bound in the whole function, where it is read, and which names have other scopes."""

    def __init__(self, function: gast.FunctionDef, effects: Effects) -> None:
        self.binds: dict[str, int] = {}
        self.reads: dict[str, list[Site]] = {}
        self.foreign: set[str] = set()
        for statement in statements_of(function):
            line = effects.scan(statement)
            self.foreign |= line.foreign
            for name in line.stores:
                self.binds[name] = self.binds.get(name, 0) + 1
            for name, sites in line.sites.items():
                self.reads.setdefault(name, []).extend(sites)
        for name in parameters_of(function.args):
            self.binds[name] = self.binds.get(name, 0) + 1
