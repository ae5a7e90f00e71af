"""Live names, backwards over structured control flow.

Enters: a function.  Leaves: which statements compute nothing that is used, which targets of unpackings nobody reads,
and what is live at the ends of blocks.  The analysis is *strong*: a statement whose target is dead reads nothing, so
that a chain of dead statements, or a loop that only feeds itself, falls in one run (Nielson, Nielson & Hankin,
Principles of Program Analysis, exercise 2.4, calls the complement faint variables).

Changing an object in place is a use of it, unless the name is the object's only one and itself dead afterwards.  A tape
lives if a popped value does: else its appends and pops are dead together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import gast

from srcgrad.optimize.aliases import Aliases, callee_of
from srcgrad.optimize.effects import Effect, Effects, is_pop, recognized_change, targets_of
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import parameters_of, walk

Names = frozenset[str]
EMPTY: Names = frozenset()


@dataclass
class Liveness:
    """``dead`` and ``unused`` are keyed by ``id`` of statements, ``after`` and ``exits`` by ``id`` of block lists."""

    dead: set[int] = field(default_factory=set)
    unused: dict[int, Names] = field(default_factory=dict)
    after: dict[int, Names] = field(default_factory=dict)  # live where the block falls through
    exits: dict[int, Names] = field(default_factory=dict)  # live where a break or continue in the block leads


def liveness(
    function: gast.FunctionDef, effects: Effects, aliases: Aliases, statements: Sequence[gast.stmt]
) -> Liveness:
    """Solve for one function, of which these are all the statements."""
    tapes = _own_tapes(statements, effects, aliases)
    pinned = frozenset(name for statement in statements for name in effects.scan(statement).foreign)
    while True:
        solver = _Solver(effects, aliases, tapes)
        live = solver.block(function.body, EMPTY, _Context(EMPTY, EMPTY, pinned))
        unbound = _unbound(function, live - pinned, statements, effects, solver.result)
        if not solver.needed and not unbound:
            return solver.result
        tapes -= solver.needed
        pinned |= unbound


def _unbound(
    function: gast.FunctionDef, live: Names, statements: Sequence[gast.stmt], effects: Effects, found: Liveness
) -> frozenset[str]:
    """The names that may be read before they are bound, and that nothing would bind any more: without a binding they
    would be read as globals, where Python raises UnboundLocalError."""
    exposed = live - parameters_of(function.args)
    if not exposed:
        return EMPTY
    bound: set[str] = set()
    kept: set[str] = set()
    for statement in statements:
        names = exposed.intersection(effects.scan(statement).stores)
        bound |= names
        if id(statement) not in found.dead:
            kept |= names - found.unused.get(id(statement), EMPTY)
    return frozenset(bound - kept)


def _may_run_methods(value: gast.expr) -> bool:
    """Whether an expression that somebody wrote for its effect alone may have one: ``len(o)`` and ``o == p`` have none
    of numbers and arrays, but run methods of objects, which nothing here tells apart."""
    is_ours = isinstance(value, gast.Call) and isinstance(value.func, GlobalReference) and (
        (value.func.binding.module or "").startswith("srcgrad.runtime")
    )
    return not isinstance(value, gast.Name | gast.Constant | GlobalReference) and not is_ours


@dataclass(frozen=True)
class _Context:
    """Where control goes from inside a loop, and the names that are live throughout."""

    at_break: Names
    at_continue: Names
    pinned: Names


def _own_tapes(statements: Sequence[gast.stmt], effects: Effects, aliases: Aliases) -> set[str]:
    """Lists that are made here, appended to, popped from, asserted empty, and nothing else."""
    made = {
        statement.targets[0].id
        for statement in statements
        if isinstance(statement, gast.Assign)
        and isinstance(statement.value, gast.List)
        and not statement.value.elts
        and isinstance(statement.targets[0], gast.Name)
        and len(statement.targets) == 1
    }
    for statement in statements if made else ():
        line = effects.scan(statement)
        for name in made & line.sites.keys():
            if len(line.sites[name]) != 1 or not _is_tape_use(statement, name):
                made.discard(name)
        for name in made & set(line.stores):
            match statement:
                case gast.Assign(targets=[gast.Name()], value=gast.List(elts=[])):
                    pass
                case _:
                    made.discard(name)
    return {name for name in made if aliases.is_private([name])}


def _is_tape_use(statement: gast.stmt, name: str) -> bool:
    match statement:
        case gast.Expr(value=value) | gast.Assign(value=value):
            return recognized_change(value) == frozenset((name,))
        case gast.Assert(test=gast.UnaryOp(op=gast.Not(), operand=gast.Name(id=other))):
            return bool(other == name)
    return False


class _Solver:
    def __init__(self, effects: Effects, aliases: Aliases, tapes: set[str]) -> None:
        self.effects = effects
        self.aliases = aliases
        self.tapes = tapes  # tapes of which no popped value is known to be live
        self.needed: set[str] = set()
        self.result = Liveness()
        self._heads: dict[int, Names] = {}  # what is live at the head of each loop, so far

    def block(self, statements: list[gast.stmt], after: Names, context: _Context) -> Names:
        """What is live before a block, given what is live behind it."""
        self.result.after[id(statements)] = after
        self.result.exits[id(statements)] = context.at_break | context.at_continue
        live = set(after | context.pinned)
        for statement in reversed(statements):
            self._step(statement, live, context)
        return frozenset(live)

    def _step(self, statement: gast.stmt, live: set[str], context: _Context) -> None:
        """Turn what is live after a statement into what is live before it."""
        match statement:
            case gast.Assign() | gast.AugAssign() | gast.Expr() | gast.Assert():
                self._simple(statement, live, context)
            case Comment() | gast.Pass():
                return
            case gast.Break() | gast.Continue():
                to = context.at_break if isinstance(statement, gast.Break) else context.at_continue
                self._become(live, to | context.pinned)
                return
            case gast.Return() | gast.Raise():
                self._become(live, context.pinned)
                live |= self.effects.of(statement).reads
                return
            case gast.If():
                before = frozenset(live)
                merged = self.block(statement.body, before, context) | self.block(statement.orelse, before, context)
                if self._mark(statement, self._empty(statement.body, statement.orelse), statement.test):
                    return
                live |= merged
                live.update(self.effects.of(statement).header)
            case gast.For():
                self._for(statement, live, context)
            case gast.While():
                after = frozenset(live)
                leaving = self.block(statement.orelse, after, context) if statement.orelse else after
                test = frozenset(self.effects.of(statement).header)
                live |= self._loop(statement, leaving | test, after, EMPTY, context)
            case gast.With():
                inner = _Context(context.at_break, context.at_continue, context.pinned | live)
                before = self.block(statement.body, frozenset(live), inner)
                context_values = [item.context_expr for item in statement.items]
                if self._mark(statement, self._empty(statement.body), *context_values):
                    return
                live |= before
                live.update(self.effects.of(statement).header)
            case gast.Try():
                self._try(statement, live, context)
            case _:
                self.result.dead.discard(id(statement))
                live |= self.effects.of(statement).reads | self.effects.of(statement).binds

    @staticmethod
    def _become(live: set[str], other: Iterable[str]) -> None:
        live.clear()
        live.update(other)

    def _mark(self, statement: gast.stmt, dead: bool, *evaluated: gast.expr) -> bool:
        """Note whether a statement is dead, provided that what it evaluates has no effect."""
        dead = dead and all(self.effects.pure(expression) for expression in evaluated)
        if dead:
            self.result.dead.add(id(statement))
        else:
            self.result.dead.discard(id(statement))
        return dead

    def _empty(self, *blocks: Sequence[gast.stmt]) -> bool:
        return all(
            isinstance(statement, (Comment, gast.Pass)) or id(statement) in self.result.dead
            for block in blocks
            for statement in block
        )

    # --- simple statements -------------------------------------------------------------------------------------------
    def _simple(self, statement: gast.stmt, live: set[str], context: _Context) -> None:
        effect = self.effects.of(statement)
        if self._mark(statement, self._is_dead(statement, effect, live)):
            return
        match statement:
            case gast.Assign(value=value):
                if is_pop(value):
                    self.needed |= effect.changes & self.tapes
                self.result.unused[id(statement)] = effect.definite - live
                live -= effect.definite - context.pinned
        live |= effect.reads
        live |= effect.binds - effect.definite

    def _is_dead(self, statement: gast.stmt, effect: Effect, live: set[str]) -> bool:
        if not effect.binds.isdisjoint(live):
            return False
        match statement:
            case gast.Assert(test=gast.UnaryOp(op=gast.Not(), operand=gast.Name(id=name))):
                return name in self.tapes
            case gast.Assert():
                return False
            case gast.Assign(targets=[gast.Tuple() | gast.List()]) if self.effects.raising:
                return False
        if effect.barrier or effect.changes and self.effects.raising:
            return False
        match statement:
            case gast.Assign(value=value) if is_pop(value):
                return effect.changes <= self.tapes and all(isinstance(t, gast.Name) for t in targets_of(statement))
            case gast.Expr(value=value) if is_pop(value):
                return effect.changes <= self.tapes
            case gast.Expr(value=gast.Constant(value=str())):
                return False  # a docstring
            case gast.Expr(value=value) if not effect.changes:
                return not _may_run_methods(value)
        if not effect.changes:
            return True
        changed = {node.removesuffix(".*") for node in effect.changes}
        return not changed & live and self.aliases.is_private(effect.changes)

    # --- compound statements -----------------------------------------------------------------------------------------
    def _for(self, statement: gast.For, live: set[str], context: _Context) -> None:
        after = frozenset(live)
        leaving = self.block(statement.orelse, after, context) if statement.orelse else after
        target = frozenset(node.id for node in walk(statement.target) if isinstance(node, gast.Name))
        plain = all(isinstance(node, gast.Name) for node in _leaves(statement.target))
        head = self._loop(statement, leaving, after, target if plain else EMPTY, context)
        finite = is_range(statement.iter)
        empty = self._empty(statement.body, statement.orelse) and finite and plain and not target & after
        if self._mark(statement, empty, statement.iter):
            return
        live |= head
        live.update(self.effects.of(statement).header)

    def _loop(self, statement: gast.stmt, leaving: Names, after: Names, target: Names, context: _Context) -> Names:
        """The least fixed point of what is live at the head; a loop inside a loop starts where it stood before."""
        assert isinstance(statement, (gast.For, gast.While))
        head = leaving | self._heads.get(id(statement), EMPTY)
        while True:
            before = self.block(statement.body, head, _Context(after, head, context.pinned))
            grown = head | (before - target)
            if grown == head:
                break
            head = grown
        self._heads[id(statement)] = head
        return head

    def _try(self, statement: gast.Try, live: set[str], context: _Context) -> None:
        """Control may reach a handler from anywhere in the body: what handlers read is live throughout."""
        blocks = [statement.body, *(handler.body for handler in statement.handlers)]
        blocks += [statement.orelse, statement.finalbody]
        read: set[str] = set()
        for block in blocks[1:]:
            for inner in block:
                read |= self.effects.of(inner).reads | self.effects.of(inner).binds
        for handler in statement.handlers:
            if handler.type is not None:
                read |= {node.id for node in walk(handler.type) if isinstance(node, gast.Name)}
        everything = frozenset(live | read) | context.at_break | context.at_continue
        inner_context = _Context(context.at_break, context.at_continue, context.pinned | everything)
        for block in blocks:
            live |= self.block(block, everything, inner_context)
        live |= everything


def _leaves(target: gast.expr) -> list[gast.expr]:
    pending, found = [target], []
    while pending:
        part = pending.pop()
        if isinstance(part, (gast.Tuple, gast.List)):
            pending += part.elts
        else:
            found.append(part)
    return found


def is_range(iterable: gast.expr) -> bool:
    """``range(...)`` and ``reversed(range(...))``: iterating them has no effect and ends."""
    while isinstance(iterable, gast.Call) and callee_of(iterable.func) is reversed and len(iterable.args) == 1:
        iterable = iterable.args[0]
    return isinstance(iterable, gast.Call) and callee_of(iterable.func) is range
