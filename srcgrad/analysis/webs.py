"""Webs: the bindings of a variable that some read joins, each under a name of its own.

Enters: ``Function`` and the facts of its names.  Leaves: the same function, in which a variable that may hold memory
and is bound several times, for reads that never meet, is several names.  The analysis of memory goes
by names and ignores the order of statements: without this the ``state`` that comes in would be stored into, because
the copy of it is::

    def step(state, x):                     def step(state, x):
        state = state.copy()        ->          state2 = state.copy()
        state[0] = x                            state2[0] = x
        return state                            return state2

Reaching definitions, joined by union-find where they reach one read (Muchnick, *Advanced Compiler Design and
Implementation*, 1997, §16.3.3).  The web that holds a parameter, or the first one, keeps the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import gast

from srcgrad.analysis.cfg import ENTRY, Graph, bound_here, graph_of, solve, walk
from srcgrad.analysis.memory import is_immutable
from srcgrad.ir.normal_form import AugStore, Bind, Block, For, Function, If, Pop, Statement, Unpack, While, With
from srcgrad.ir.renaming import mentioned, renamed
from srcgrad.rules.facts import Fact, Unknown
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk as nodes_of


def webs_named(function: Function, facts: Mapping[str, Fact]) -> Function:
    """The function with a name for each web; the same object where each name is one web already."""
    bindings: dict[str, list[Statement | None]] = {name: [None] for name in function.parameters}
    for statement in walk(function.body):
        for name in bound_here(statement):
            bindings.setdefault(name, []).append(statement)
    several = {
        name for name, found in bindings.items() if len(found) > 1 and not is_immutable(facts.get(name, Unknown()))
    }
    several -= _fixed(function) if several else set()
    if not several:
        return function
    webs = _Webs(function, graph_of(function), several)
    return webs.function() if webs.names else function


def _fixed(function: Function) -> set[str]:
    """The names that stay: those that an expression or a manager binds, or that a loop spells as the user did."""
    found: set[str] = set()
    for statement in walk(function.body):
        match statement:
            case With():
                found |= mentioned(statement)
            case AugStore(base=base, part=part, result=result):
                found |= {part, result} - {base}
            case For(index=index, heading=heading):
                found |= {index, *(mentioned(heading[0]) if heading is not None else ())}
        for value in vars(statement).values():
            if isinstance(value, gast.AST):
                found |= {node.id for node in nodes_of(value) if isinstance(node, gast.Name) and not _is_load(node)}
    return found


def _is_load(node: gast.Name) -> bool:
    return isinstance(node.ctx, gast.Load)


_EMPTY = Block(())


class _Webs:
    """Bindings are numbered; of each variable there is one that stands for its value where the function begins."""

    def __init__(self, function: Function, graph: Graph, several: set[str]) -> None:
        self.start = function
        self.graph = graph
        self.several = several
        self.number: dict[tuple[Statement | None, str], int] = {}
        self.bits: dict[str, int] = {}  # all bindings of a variable
        for name in sorted(several):
            self._add(None, name)
        for statement in walk(function.body):
            for name in bound_here(statement):
                if name in several:
                    self._add(statement, name)
        self.parents = list(range(len(self.number)))
        self.before, _ = solve(graph, self._through, sum(1 << self.number[None, name] for name in several))
        self._join()
        self.names = self._named()

    def _add(self, statement: Statement | None, name: str) -> None:
        self.number[statement, name] = number = len(self.number)
        self.bits[name] = self.bits.get(name, 0) | 1 << number

    def _through(self, node: int, state: int) -> int:
        statement = self.graph.statements[node]
        if node == ENTRY or statement is None or self.graph.is_tail[node]:
            return state
        for name in bound_here(statement):
            if name in self.several:
                state = state & ~self.bits[name] | 1 << self.number[statement, name]
        return state

    # --- which bindings are one web ----------------------------------------------------------------------------------
    def _find(self, number: int) -> int:
        while self.parents[number] != number:
            self.parents[number] = number = self.parents[self.parents[number]]
        return number

    def _reaching(self, statement: Statement, name: str) -> list[int]:
        bits, found = self.before[self.graph.heads[statement]] & self.bits[name], []
        while bits:
            found.append((bits & -bits).bit_length() - 1)
            bits &= bits - 1
        return found

    def _join(self) -> None:
        reached = set(self.graph.from_entry)
        for statement in walk(self.start.body):
            for name in _read(statement) & self.several:
                found = self._reaching(statement, name)
                if self.graph.heads[statement] not in reached:  # never run, but it has to mean something
                    found = [number for (_, of), number in self.number.items() if of == name]
                if isinstance(statement, Bind) and statement.target == name and _keeps_object(statement):
                    found.append(self.number[statement, name])
                for number in found[1:]:
                    self.parents[self._find(number)] = self._find(found[0])

    def _named(self) -> dict[int, str]:
        """The new names, by the root of the web."""
        namer = Namer(names_taken(self.start))
        kept: dict[str, int] = {}
        given = set(self.start.parameters)
        made: dict[int, str] = {}
        read = {
            self._find(number)
            for statement in walk(self.start.body) for name in _read(statement) & self.several
            for number in self._reaching(statement, name)
        }  # fmt: skip
        for (statement, name), number in self.number.items():
            root = self._find(number)
            if statement is None and name not in given and root not in read:
                continue  # nothing reads it before it is bound
            if kept.setdefault(name, root) != root and root not in made:
                made[root] = namer.fresh(name)
        return made

    # --- the function with these names -------------------------------------------------------------------------------
    def function(self) -> Function:
        body = self._block(self.start.body)
        names = {(old, self.names.get(self._find(number))) for (_, old), number in self.number.items()}
        made = {new for old, new in names if new is not None and old in self.start.temporaries}
        return replace(self.start, body=body, temporaries=self.start.temporaries | made)

    def _block(self, block: Block) -> Block:
        return Block(tuple(map(self._statement, block.statements)))

    def _statement(self, statement: Statement) -> Statement:
        read = dict(self._reads(statement))
        match statement:
            case If(body=body, orelse=orelse):
                made = renamed(replace(statement, body=_EMPTY, orelse=_EMPTY), read)
                assert isinstance(made, If)
                return replace(made, body=self._block(body), orelse=self._block(orelse))
            case For(body=body) | While(body=body) | With(body=body):
                made = renamed(replace(statement, body=_EMPTY), read)
                assert isinstance(made, For | While | With)
                return replace(made, body=self._block(body))
        made = renamed(statement, read)
        match made:  # what is bound is another web than what is read
            case Bind():
                return replace(made, target=self._bound(statement)[0])
            case Unpack() | Pop():
                return replace(made, targets=self._bound(statement))
        return made

    def _reads(self, statement: Statement) -> Iterator[tuple[str, str]]:
        for name in _read(statement) & self.several:
            found = self._reaching(statement, name)
            if found and (new := self.names.get(self._find(found[0]))) is not None:
                yield name, new

    def _bound(self, statement: Statement) -> tuple[str, ...]:
        return tuple(
            self.names.get(self._find(self.number[statement, name]), name) if name in self.several else name
            for name in bound_here(statement)
        )


def _keeps_object(statement: Bind) -> bool:
    """Whether what is bound may be the object that the name held before, changed in place."""
    return statement.inplace or statement.renewed or statement.owned


def _read(statement: Statement) -> set[str]:
    """The names that a statement reads, those inside its blocks apart."""
    bound = bound_here(statement)
    if not bound:
        return mentioned(statement)
    match statement:
        case Bind():
            bare: Statement = replace(statement, target="")
        case Unpack() | Pop():
            bare = replace(statement, targets=())
        case _:
            return mentioned(statement)
    return mentioned(bare) - {""}


def names_taken(function: Function) -> set[str]:
    """Every name that a function mentions, those of globals included."""
    found = set(function.parameters)
    for statement in walk(function.body):
        found |= mentioned(statement)
        for value in vars(statement).values():
            if isinstance(value, gast.AST):
                found.update(node.id for node in nodes_of(value) if isinstance(node, gast.Name))
    return found
