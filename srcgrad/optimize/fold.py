"""Put expressions where they are used.

    t = u * x                        s = u * x + s / 3.0
    t2 = s / 3.0           →         x_bar = s_bar * np.cos(x)
    s = t + t2
    w_bar = s_bar
    x_bar = w_bar * np.cos(x)

A temporary that is read once, in the block that binds it, gives way to its expression, if between the two nothing binds
an operand, changes an object that the expression sees, or does what no table knows; a temporary that only names another
name, or a literal, gives way everywhere.  Nothing is evaluated twice, under a condition, or in another order than other
effects; lines stay readable, and what a comment heads stays below it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import gast

from srcgrad.optimize.effects import Effects, arguments_of, targets_of
from srcgrad.optimize.known import Known
from srcgrad.optimize.occurrences import Table
from srcgrad.optimize.scan import BETWEEN, Scan, Site, Size, blocks
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.parse import clone

_WIDTH = 86  # columns that a line with a folded expression may take, indentation included
_DEPTH = 16  # levels that its expressions may nest


def fold(known: Known) -> bool:
    """Fold a function in place; whether anything was folded."""
    if any(isinstance(statement, gast.Try) for statement in known.statements):
        return False  # a handler may see any binding of the body
    temporaries = known.temporaries - known.counts.foreign
    copied = _Copies(known, temporaries).run()
    if copied:
        known.changed()
    return _Inliner(known, temporaries).run() or copied


class _Copies:
    """``t = name`` and ``t = 2.0``: the other name, or the literal, wherever t is read."""

    def __init__(self, known: Known, temporaries: frozenset[str]) -> None:
        self.known = known
        self.temporaries = temporaries
        self.effects = known.effects
        self.counts = known.counts
        self.changed = False

    def run(self) -> bool:
        for statements, positions in self.known.copies:
            copies = [position for position in positions if self._is_copy(statements[position])]
            if copies:
                self._block(statements, copies)
        return self.changed

    def _is_copy(self, statement: gast.stmt) -> bool:
        match statement:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name() as value):
                if value.id in self.counts.foreign or value.id == name:
                    return False
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Constant(value=int() | float() | None)):
                pass
            case _:
                return False
        return name in self.temporaries and self.counts.binds.get(name) == 1

    def _block(self, statements: list[gast.stmt], copies: list[int]) -> None:
        table = self.known.table(statements, self.changed)
        gone: set[int] = set()
        for position in copies:
            statement = statements[position]
            assert isinstance(statement, gast.Assign)
            name, value = statement.targets[0].id, statement.value
            uses = table.uses[name]
            reads = self.counts.reads.get(name, [])
            # Every read stands behind the binding, in this block or below it.
            if uses.positions[0] != position or uses.reads != len(reads):
                continue
            if isinstance(value, gast.Name) and not self._stays(value.id, position, uses.positions[-1], table):
                continue
            for site in reads:
                site.put(clone(value))
                self.effects.forget(site.owner)
            if isinstance(value, gast.Name):
                self._merge(name, value.id, table, statement)
            gone.add(position)
        if gone:
            self.changed = True
            statements[:] = [kept for index, kept in enumerate(statements) if index not in gone] or [gast.Pass()]

    def _stays(self, value: str, position: int, last: int, table: Table) -> bool:
        """Whether ``value`` holds the same object from ``position`` to the last read, at ``last``."""
        binds = table.uses[value].binds
        following = bisect_left(binds, position + 1)
        if following == len(binds):
            return True
        bound = binds[following]
        return bound > last or (bound == last and last not in table.compound)

    def _merge(self, name: str, value: str, table: Table, copy: gast.Assign) -> None:
        """What read ``name`` reads ``value`` now."""
        old, new = table.uses[name], table.uses[value]
        entries = sorted(zip(new.positions + old.positions[1:], new.kinds + old.kinds[1:]), key=lambda entry: entry[0])
        new.positions[:] = [position for position, _ in entries]
        new.kinds[:] = [kind for _, kind in entries]
        here = self.counts.reads[value]
        here[:] = [site for site in here if site.parent is not copy] + self.counts.reads.get(name, [])
        new.reads += old.reads - 1


@dataclass(slots=True)
class _Candidate:
    """A definition on its way to its single use."""

    statement: gast.Assign
    position: int
    heading: int  # number of comments before it in the block


class _Inliner:
    """Single uses of temporaries."""

    def __init__(self, known: Known, temporaries: frozenset[str]) -> None:
        self.known = known
        self.temporaries = temporaries
        self.effects = known.effects
        self.aliases = known.aliases
        self.changed = False

    def run(self) -> bool:
        for statements, level in blocks(self.known.function):
            if len(statements) > 1:
                _Block(self, statements, level).run()
        return self.changed


class _Block:
    """One block, walked forwards with the definitions that wait for their use."""

    def __init__(self, inliner: _Inliner, statements: list[gast.stmt], level: int) -> None:
        self.inliner = inliner
        self.effects = inliner.effects
        self.statements = statements
        self.level = level
        self.table = inliner.known.table(statements, inliner.changed)
        self.waiting: dict[str, _Candidate] = {}
        self.bound: dict[str, int] = {}  # name -> last position that binds it
        self.changed: dict[str, int] = {}  # class of objects -> last position that changes one in place
        self.barrier = -1
        self.gone: set[int] = set()

    def run(self) -> None:
        heading = 0
        for position, statement in enumerate(self.statements):
            if isinstance(statement, Comment):
                heading += 1
                continue
            self._receive(statement, position, heading)
            effect = self.effects.of(statement)
            for name in effect.binds:
                self.bound[name] = position
            if effect.changes:
                for root in self.inliner.aliases.classes_of(effect.changes):
                    self.changed[root] = position
            if effect.barrier:
                self.barrier = position
            self._offer(statement, position, heading)
        if self.gone:
            self.inliner.changed = True
            self.statements[:] = [kept for index, kept in enumerate(self.statements) if index not in self.gone]

    # --- definitions -------------------------------------------------------------------------------------------------
    def _offer(self, statement: gast.stmt, position: int, heading: int) -> None:
        """Let a definition wait for its use, if it has exactly one, in this block."""
        match statement:
            case gast.Assign(targets=[gast.Name(id=name)]) if name in self.inliner.temporaries:
                if self._has_one_use(name, position) and not self.effects.scan(statement).foreign:
                    self.waiting[name] = _Candidate(statement, position, heading)

    def _has_one_use(self, name: str, position: int) -> bool:
        """Whether the value bound at ``position`` is read once, on the line of a statement of this block."""
        uses = self.table.uses[name]
        first = bisect_left(uses.positions, position)
        while uses.positions[first] == position and uses.kinds[first] != "w":
            first += 1
        following = list(zip(uses.positions[first + 1 : first + 3], uses.kinds[first + 1 : first + 3]))
        if not following or following[0][1] != "r":
            return False
        used = following[0][0]
        if isinstance(self.statements[used], gast.Return):
            return len(following) == 1 or following[1][0] != used
        if len(following) == 2 and following[1][1] != "w":
            return False
        block = id(self.statements)
        if self.level == 1:  # behind the body of the function nothing is read
            return True
        if len(following) == 1 and name in self.inliner.known.liveness.after[block]:
            return False
        leaves = bool(self.table.exits) and self.table.exits[-1] > position
        return not (leaves and name in self.inliner.known.liveness.exits[block])

    # --- uses --------------------------------------------------------------------------------------------------------
    def _receive(self, statement: gast.stmt, position: int, heading: int) -> None:
        """Replace what waits and is read here."""
        sites = self.table.sites[position]
        wanted = [name for name in sites if name in self.waiting]
        if not wanted:
            return
        size = self.effects.size(statement)
        for name in wanted:
            candidate = self.waiting.pop(name)
            [site] = sites[name][:1]
            line = self.effects.size(candidate.statement)
            width = line.width - len(name) - BETWEEN
            grown = Size(size.width + width - len(name), size.depth + line.depth)
            if heading != candidate.heading or width > len(name) and not self._fits(grown):
                continue
            moves = self._may_move(candidate, site, statement)
            if not moves and not self._follows(candidate, statement, position, name):
                continue
            site.put(candidate.statement.value)
            size = grown
            del sites[name]
            for other, moved in self.table.sites[candidate.position].items():
                for old in moved:
                    at_root = old.parent is candidate.statement
                    rank = min(old.rank, site.rank)
                    new = site if at_root else Site(old.parent, old.field, old.index, rank, statement)
                    sites.setdefault(other, []).append(new)
            self.gone.add(candidate.position)
            self.effects.forget(statement)

    def _fits(self, grown: Size) -> bool:
        return grown.width + 4 * self.level <= _WIDTH and grown.depth <= _DEPTH

    def _may_move(self, candidate: _Candidate, site: Site, statement: gast.stmt) -> bool:
        """Whether a value is the same when it is evaluated at ``site``."""
        if not self.effects.pure(candidate.statement.value):
            return False
        start = candidate.position
        if site.rank < 2 or self.barrier > start or not _receptive(statement, self.effects):
            return False
        names = [*self.table.sites[start], *_global_data(self.effects.scan(candidate.statement))]
        if any(self.bound.get(name, -1) > start for name in names):
            return False
        if not self.changed:
            return True
        classes = self.inliner.aliases.classes(names)
        return all(self.changed.get(root, -1) <= start for root in classes)

    def _follows(self, candidate: _Candidate, statement: gast.stmt, position: int, name: str) -> bool:
        """Whether a value with an effect is evaluated at once, as the first thing the statement does."""
        if any(index not in self.gone for index in range(candidate.position + 1, position)):
            return False
        match statement:
            case gast.Assign(value=first) | gast.Return(value=first) | gast.Expr(value=first):
                return isinstance(first, gast.Name) and first.id == name
            case gast.If(test=first) | gast.For(iter=first):
                return isinstance(first, gast.Name) and first.id == name
        return False


def _receptive(statement: gast.stmt, effects: Effects) -> bool:
    """Whether what a statement evaluates has no effect, but perhaps for the call that it ends in."""
    match statement:
        case gast.Assign(value=value) | gast.AugAssign(value=value) | gast.Expr(value=value) | gast.Return(value=value):
            if value is None or effects.pure(value):
                return True
            if not isinstance(value, gast.Call) or not all(effects.pure(part) for part in arguments_of(value)):
                return False
            stores = any(not isinstance(target, gast.Name) for target in targets_of(statement))
            return not stores and all(not isinstance(part, gast.Starred) for part in value.args)
        case gast.If(test=test) | gast.Assert(test=test):
            return effects.pure(test)
        case gast.For(iter=iterable):
            return effects.pure(iterable)
        case gast.With(items=[item]):
            return effects.pure(item.context_expr)
    return False


def _global_data(line: Scan) -> list[str]:
    """The nodes of aliases that stand for data reached through globals."""
    values = [reference.binding.value for reference in line.references]
    return [f"<global {id(value)}>" for value in values if not callable(value)]
