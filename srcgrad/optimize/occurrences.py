"""Occurrences of names in one block, in order, and in the function as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from srcgrad.optimize.effects import Effects
from srcgrad.optimize.sites import Site, sites_of
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_bound, walk

COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try)


@dataclass(slots=True)
class Uses:
    """Of one name in one block: positions of statements, and what happens there.

    r: one read on the statement's own line, at a place that may be replaced; w: the statement surely binds the name;
    n: anything else, on its line or below it.
    """

    positions: list[int] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    def add(self, position: int, kind: str) -> None:
        self.positions.append(position)
        self.kinds.append(kind)


class Table:
    """``uses``, ``reads`` (how many) and ``binds`` (where) of every name in a block, and where control may leave it."""

    def __init__(self, statements: list[gast.stmt], effects: Effects) -> None:
        self.uses: dict[str, Uses] = {}
        self.reads: dict[str, int] = {}
        self.binds: dict[str, list[int]] = {}
        self.exits: list[int] = []
        self.sites: list[dict[str, list[Site]]] = []
        self.compound: set[int] = set()
        for position, statement in enumerate(statements):
            self.sites.append(sites_of(statement))
            if not isinstance(statement, Comment):
                self._add(position, statement, effects)

    def _add(self, position: int, statement: gast.stmt, effects: Effects) -> None:
        effect = effects.of(statement)
        if isinstance(statement, COMPOUND):
            self.compound.add(position)
        if effect.exits:
            self.exits.append(position)
        own = {} if isinstance(statement, gast.While) else self.sites[position]
        for name, sites in own.items():
            for _ in sites:
                self._use(name).add(position, "r")
        counted: dict[str, int] = {}
        for node in walk(statement):
            if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
                if isinstance(node.ctx, gast.Load):
                    counted[node.id] = counted.get(node.id, 0) + 1
        for name, count in counted.items():
            self.reads[name] = self.reads.get(name, 0) + count
            if count > len(own.get(name, ())):
                self._use(name).add(position, "n")
        for name in effect.binds:
            self.binds.setdefault(name, []).append(position)
            surely = name in effect.definite and isinstance(statement, gast.Assign)
            self._use(name).add(position, "w" if surely else "n")

    def _use(self, name: str) -> Uses:
        return self.uses.setdefault(name, Uses())


class Counts:
    """How often each name is read and bound in the whole function; where it is read; which names have other scopes."""

    def __init__(self, function: gast.FunctionDef) -> None:
        self.binds: dict[str, int] = {}
        self.reads: dict[str, list[Site]] = {}
        self.foreign: set[str] = set()  # read or bound by a lambda, a comprehension or a function inside
        for node in walk(function):
            match node:
                case gast.Name() if not isinstance(node, GlobalReference) and not isinstance(node.ctx, gast.Load):
                    self.binds[node.id] = self.binds.get(node.id, 0) + 1
                case gast.Lambda() | gast.FunctionDef() if node is not function:
                    self.foreign |= {name.id for name in walk(node) if isinstance(name, gast.Name)}
                case gast.comprehension():
                    self.foreign |= names_bound(node.target)
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    for index, item in enumerate(value):
                        self._read(node, name, index, item)
                else:
                    self._read(node, name, None, value)

    def _read(self, parent: gast.AST, field_name: str, index: int | None, node: object) -> None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and isinstance(node.ctx, gast.Load):
            self.reads.setdefault(node.id, []).append(Site(parent, field_name, index, 1))
