"""Remove what computes nothing that is used.

    t = np.sin(x)                    tape = []
    tape = []                        for i in range(n):
    for i in range(n):                   tape.append((x, i))
        tape.append((x, i))     →        x = x * 0.5
        x = x * 0.5                  for i in reversed(range(n)):
    for i in reversed(range(n)):         x, _ = tape.pop()
        x, i = tape.pop()            return x
    return x

Dead pure assignments, empty branches and loops over ``range``, tapes of which no popped value is read, unreachable
statements and comments with nothing below them vanish; unused targets of an unpacking become ``_``; an unused result of
a call that has an effect is dropped, the call stays.
"""

from __future__ import annotations

from functools import cached_property

import gast

from srcgrad import runtime
from srcgrad.frontend.names import names_evaluated
from srcgrad.optimize.effects import EXITS, Effects
from srcgrad.optimize.known import Known
from srcgrad.optimize.liveness import Liveness, Names
from srcgrad.optimize.scan import blocks
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import parameters_of, walk


def prune(known: Known) -> bool:
    """Prune a function in place; whether anything went."""
    function = known.function
    pruner = _Pruner(function, known.liveness, known.effects, known.statements)
    function.body = pruner.block(function.body) or [gast.Pass()]
    return pruner.changed


def _instead(old: gast.stmt, new: gast.stmt) -> gast.stmt:
    """``new`` at the place of ``old``."""
    place = {name: value for name, value in old.__dict__.items() if name not in old._fields}
    new.__dict__.update(place)
    return new


def _binders(function: gast.FunctionDef) -> dict[str, int]:
    """How many places bind each name; a parameter counts as one."""
    counts: dict[str, int] = {}
    for node in walk(function):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store | gast.Param):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


class _Pruner:
    def __init__(self, function: gast.FunctionDef, facts: Liveness, effects: Effects, every: list[gast.stmt]) -> None:
        self.function = function
        self.facts = facts
        self.effects = effects
        self.every = every  # statement before anything went
        self.changed = False

    def block(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        """The same list, of what is left: it is by its identity that more is known of a block."""
        kept: list[gast.stmt] = []
        emptied = False  # whether all statements that a comment headed went
        for position, statement in enumerate(statements):
            if id(statement) in self.facts.dead or self._is_idle(statement):
                self.changed = True
                emptied = bool(kept) and isinstance(kept[-1], Comment) and bool(kept[-1].text.strip())
                continue
            if emptied and isinstance(statement, gast.Return):
                kept.pop()
            emptied = False
            kept += self.statement(statement)
            if isinstance(statement, EXITS):
                self.changed = self.changed or position < len(statements) - 1
                break
        statements[:] = self._without_idle_comments(kept)
        return statements

    def _is_idle(self, statement: gast.stmt) -> bool:
        """``x = x``, which copy propagation leaves behind; not if nothing else makes x a local of the function."""
        match statement:
            case gast.Assign(targets=[gast.Name(id=target)], value=gast.Name(id=value)):
                own = target == value and not isinstance(statement.value, GlobalReference)
                return own and self.binders.get(target, 0) > 1
        return False

    @cached_property
    def blank(self) -> str:
        """What unused targets are called; empty if the function has another use for the name."""
        lines = map(self.effects.scan, self.every)
        taken = any("_" in line.sites or "_" in line.foreign for line in lines)
        return "" if taken or "_" in parameters_of(self.function.args) else "_"

    @cached_property
    def binders(self) -> dict[str, int]:
        return _binders(self.function)

    def statement(self, statement: gast.stmt) -> list[gast.stmt]:
        match statement:
            case gast.Assign(targets=[gast.Tuple() | gast.List() as target], value=value):
                unused = self.facts.unused.get(id(statement), frozenset())
                if unused and self._drop_pairs(statement, target, value, unused):
                    self.effects.forget(statement)
                elif unused and self.blank:
                    self._blank(target, unused)
                    self.effects.forget(statement)
            case gast.Assign(targets=[gast.Name() as target], value=gast.Call() as value):
                if target.id in self.facts.unused.get(id(statement), ()) and not self.effects.pure(value):
                    self.changed = True
                    return [_instead(statement, gast.Expr(value))]
            case gast.If(test=gast.Constant(value=True)) if not statement.orelse:
                self.changed = True
                return self.block(statement.body)
            case gast.If():
                statement.body, statement.orelse = self.block(statement.body), self.block(statement.orelse)
                if not statement.body and not statement.orelse:
                    self.changed = True
                    pure = self.effects.pure(statement.test)
                    return [] if pure else [_instead(statement, gast.Expr(statement.test))]
                statement.body = statement.body or [gast.Pass()]
            case gast.For() | gast.While():
                statement.body = self.block(statement.body) or [gast.Pass()]
                statement.orelse = self.block(statement.orelse)
            case gast.With():
                statement.body = self.block(statement.body) or [gast.Pass()]
            case gast.Try():
                statement.body = self.block(statement.body) or [gast.Pass()]
                for handler in statement.handlers:
                    handler.body = self.block(handler.body) or [gast.Pass()]
                statement.orelse, statement.finalbody = self.block(statement.orelse), self.block(statement.finalbody)
        return [statement]

    def _drop_pairs(self, statement: gast.Assign, target: gast.expr, value: gast.expr, unused: Names) -> bool:
        """``a, b = f, g`` without the pairs that nobody reads."""
        if not isinstance(value, gast.Tuple) or len(value.elts) != len(target.elts):
            return False
        if any(isinstance(part, gast.Starred) for part in (*value.elts, *target.elts)):
            return False
        kept = [
            (left, right)
            for left, right in zip(target.elts, value.elts)
            if not (isinstance(left, gast.Name) and left.id in unused and self.effects.pure(right))
        ]
        if len(kept) == len(value.elts) or not kept:
            return False
        target.elts, value.elts = [left for left, _ in kept], [right for _, right in kept]
        if len(kept) == 1:
            statement.targets, statement.value = [kept[0][0]], kept[0][1]
        self.changed = True
        return True

    def _blank(self, target: gast.expr, unused: Names) -> None:
        pending = [target]
        while pending:
            part = pending.pop()
            match part:
                case gast.Tuple() | gast.List():
                    pending += part.elts
                case gast.Starred():
                    pending.append(part.value)
                case gast.Name() if part.id in unused and part.id != self.blank:
                    part.id = self.blank
                    self.changed = True

    def _without_idle_comments(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        """A comment speaks of the statements up to the next one; blank lines stay where they separate something."""
        kept: list[gast.stmt] = []
        for statement in statements:
            if isinstance(statement, Comment) and kept and isinstance(kept[-1], Comment):
                if statement.text.strip() and kept[-1].text.strip():
                    kept.pop()
                elif not statement.text.strip():
                    while kept and isinstance(kept[-1], Comment):
                        kept.pop()
            if isinstance(statement, gast.Pass) and len(statements) > 1:
                continue
            kept.append(statement)
        while kept and isinstance(kept[-1], Comment):
            kept.pop()
        self.changed = self.changed or len(kept) != len(statements)
        return kept


def without_needless_reads(function: gast.FunctionDef) -> None:
    """Drop reads of variables that may have no value where the next statement reads them as well."""
    for block, _ in blocks(function):
        if not any(map(_only_read, block)):
            continue
        follows: set[str] = set()  # what the next statement reads
        for position in reversed(range(len(block))):
            match block[position]:
                case Comment():
                    pass
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Constant()):
                    follows.discard(name)
                case statement if _only_read(statement) in follows:
                    del block[position]
                case statement:
                    follows = {name.id for name in names_evaluated(statement)}


def _only_read(statement: gast.stmt) -> str | None:
    match statement:
        case gast.Expr(value=gast.Call(func=GlobalReference() as function, args=[gast.Name(id=name)])):
            return str(name) if function.binding.value is runtime.require_assigned else None
    return None
