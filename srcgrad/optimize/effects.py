"""What a statement reads, binds and changes in place.

Enters: one statement of a joint program.  Leaves: an ``Effect``.  A *binding* changes what a name holds; a *change*
alters the object that a name holds, and is seen through every other name of it.  ``name`` in ``changes`` is the object,
``name.*`` what it contains.  A *barrier* is a call that may do anything: nothing moves across it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from srcgrad.language import effects
from srcgrad.optimize.scan import (
    COMPOUND,
    Scan,
    Size,
    blocks_below,
    fields_below,
    header_fields,
    header_size,
    scan,
    searches,
)
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

Pure = Callable[[gast.expr], bool]

CHANGING_METHODS = effects.updating()
_ODD = frozenset((gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await))
_LEAVES = frozenset((gast.Name, gast.Constant, GlobalReference))
_OWN_LIST = ("append", "pop")
#: Functions of the runtime that change their first argument, and do nothing else that is seen.
IN_PLACE = effects.updating_in_emitted() - {"step", "tangent_like"}
EXITS = (gast.Return, gast.Raise, gast.Break, gast.Continue)


NO_NAMES: frozenset[str] = frozenset()


@dataclass(slots=True)
class Effect:
    """Of one statement with everything below it; ``header`` and ``definite`` concern its own line only."""

    line: Scan
    header: tuple[str, ...] = ()  # names read on its own line, each once, in order
    definite: frozenset[str] = NO_NAMES  # names surely bound by the statement
    reads: frozenset[str] = NO_NAMES
    binds: frozenset[str] = NO_NAMES
    changes: frozenset[str] = NO_NAMES
    barrier: bool = False
    exits: bool = False


class Effects:
    """Scans and effects of the statements of one function, remembered by identity.

    ``forget`` a statement whose line has changed; ``renew`` when a pass has changed anything, since what
    stands below compound statements may have.
    """

    def __init__(
        self, pure: Callable[[gast.Call], bool], silent: Pure | None = None, data: frozenset[str] = frozenset()
    ) -> None:
        self._is_pure_call = pure
        self._is_silent = silent
        self.data = data
        self.raising = silent is not None  # it matters whether an expression raises: what calls nothing may, too
        self._pure: dict[gast.expr, bool] = {}
        self._scans: dict[gast.stmt, Scan] = {}
        self._simple: dict[gast.stmt, Effect] = {}
        self._compound: dict[gast.stmt, Effect] = {}
        self._simplified: dict[gast.stmt, Scan] = {}

    def pure(self, expression: gast.expr) -> bool:
        """Whether evaluating has no effect and the value depends on the operands alone."""
        if isinstance(expression, (gast.Name, gast.Constant)):
            return True
        found = self._pure.get(expression)
        if found is None:
            calls = calls_of(expression)
            pure = calls is not None and all(not _changes_operand(call) and self._is_pure_call(call) for call in calls)
            found = self._pure[expression] = pure and (self._is_silent is None or self._is_silent(expression))
        return found

    def renew(self) -> None:
        self._compound.clear()

    def forget(self, statement: gast.stmt) -> None:
        self._scans.pop(statement, None)
        self._simple.pop(statement, None)
        self._compound.pop(statement, None)
        for name in header_fields(statement):
            value = getattr(statement, name, None)
            if isinstance(value, gast.expr):
                self._pure.pop(value, None)

    def scan(self, statement: gast.stmt) -> Scan:
        """What stands on the statement's own line."""
        found = self._scans.get(statement)
        if found is None:
            found = self._scans[statement] = scan(statement)
        return found

    def size(self, statement: gast.stmt) -> Size:
        """The size of the statement's own line."""
        line = self.scan(statement)
        if line.size is None:
            line.size = header_size(statement)
        return line.size

    def is_simplified(self, statement: gast.stmt) -> bool:
        """Whether the line is as it was when this was asked last."""
        now = self.scan(statement)
        before = self._simplified.get(statement)
        self._simplified[statement] = now
        return before is now

    def of(self, statement: gast.stmt) -> Effect:
        found = self._simple.get(statement) or self._compound.get(statement)
        if found is None:
            known = self._compound if isinstance(statement, COMPOUND) else self._simple
            found = known[statement] = self._of(statement)
        return found

    def _of(self, statement: gast.stmt) -> Effect:
        line = self.scan(statement)
        effect = Effect(line, exits=isinstance(statement, EXITS))
        effect.header = tuple(line.sites)
        if line.odd:
            effect.barrier = True
            effect.binds |= set(line.stores)
        match statement:
            case gast.Assign():
                effect.definite = _bound(statement.targets)
                self._store(effect, statement.targets)
                self._evaluate(effect, statement.value, line)
            case gast.AugAssign():
                effect.definite = _bound([statement.target])
                effect.header = (*effect.definite, *(name for name in effect.header if name not in effect.definite))
                self._store(effect, [statement.target])
                effect.changes |= effect.definite
                self._evaluate(effect, statement.value, line)
            case gast.Expr():
                self._evaluate(effect, statement.value, line)
            case gast.If() | gast.While():
                effect.barrier = line.odd or ((line.calls or self.raising) and not self.pure(statement.test))
                self._below(effect, statement)
            case gast.For():
                effect.barrier = line.odd or ((line.calls or self.raising) and not self.pure(statement.iter))
                effect.binds |= _bound([statement.target])
                self._store(effect, [statement.target])
                self._below(effect, statement)
            case gast.With():
                for item in statement.items:
                    effect.barrier = effect.barrier or not self.pure(item.context_expr)
                    if item.optional_vars is not None:
                        effect.binds |= _bound([item.optional_vars])
                        self._store(effect, [item.optional_vars])
                self._below(effect, statement)
            case gast.Return():
                effect.barrier = line.odd or ((line.calls or self.raising) and not self.pure(statement.value))
            case gast.Raise() | gast.Assert():
                effect.barrier = True
            case Comment() | gast.Pass() | gast.Break() | gast.Continue():
                return effect
            case _:
                self._anything(effect, statement)
        effect.binds |= effect.definite
        effect.reads = effect.reads.union(effect.header) if effect.reads else frozenset(effect.header)
        return effect

    def _store(self, effect: Effect, targets: list[gast.expr]) -> None:
        """What storing through subscripts and attributes changes."""
        for target in _flat(targets):
            if isinstance(target, (gast.Subscript, gast.Attribute)):
                base = base_name(target)
                if base is None:
                    effect.barrier = True
                else:
                    effect.changes |= {base, f"{base}.*"}

    def _evaluate(self, effect: Effect, value: gast.expr, line: Scan) -> None:
        """The effect of evaluating a value."""
        if not (line.calls or line.odd or self.raising):
            return
        change = recognized_change(value)
        if change is not None and all(self.pure(argument) for argument in arguments_of(value)):
            effect.changes |= change
        elif not self.pure(value):
            effect.barrier = True

    def _below(self, effect: Effect, statement: gast.stmt) -> None:
        below = [self.of(inner) for block in blocks_below(statement) for inner in block]
        effect.reads = effect.reads.union(*(inner.reads for inner in below))
        effect.binds = effect.binds.union(*(inner.binds for inner in below))
        effect.changes = effect.changes.union(*(inner.changes for inner in below))
        effect.barrier = effect.barrier or any(inner.barrier for inner in below)
        effect.exits = effect.exits or any(inner.exits for inner in below)

    @staticmethod
    def _anything(effect: Effect, statement: gast.stmt) -> None:
        """Whatever else there may be does everything."""
        names = [node for node in walk(statement) if _is_local(node)]
        effect.reads |= {node.id for node in names if isinstance(node.ctx, gast.Load)}
        effect.binds |= {node.id for node in names if not isinstance(node.ctx, gast.Load)}
        effect.barrier = effect.exits = True


def _is_local(node: gast.AST) -> bool:
    return isinstance(node, gast.Name) and not isinstance(node, GlobalReference)


def calls_of(expression: gast.expr) -> list[gast.Call] | None:
    """Every call in an expression; None if it binds, suspends, or takes items out of what may be an iterator."""
    found: list[gast.Call] = []
    pending: list[gast.AST] = [expression]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is gast.Call:
            found.append(node)
        elif kind in _ODD or kind is gast.Compare and searches(node):
            return None
        for name in fields_below(kind):
            value = getattr(node, name, None)
            if type(value) is list:
                pending += [item for item in value if item is not None]
            elif isinstance(value, gast.AST) and type(value) not in _LEAVES:
                pending.append(value)
    return found


def _changes_operand(call: gast.Call) -> bool:
    """Calls that change what they are given, whatever the caller's table says."""
    if recognized_change(call) is not None or any(word.arg == "out" for word in call.keywords):
        return True
    func = call.func
    return type(func) is gast.Attribute and func.attr in CHANGING_METHODS and not _is_module_path(func.value)


def _is_module_path(node: gast.expr) -> bool:
    """``np.linalg``: attributes of a global; ``np.add`` is a function there, not a method of an object."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, GlobalReference)


def recognized_change(value: gast.expr) -> frozenset[str] | None:
    """What ``tape.append(e)``, ``tape.pop()`` and the runtime's ``add_at(buffer, ...)`` change; None for all others."""
    match value:
        case gast.Call(func=gast.Attribute(value=gast.Name() as owner, attr=method)) if method in _OWN_LIST:
            if _is_local(owner) and not value.keywords and len(value.args) == (method == "append"):
                return frozenset((owner.id,))
        case gast.Call(func=GlobalReference() as function, args=[gast.Name() as buffer, *_]) if _is_local(buffer):
            binding = function.binding
            if not IN_PLACE.isdisjoint((binding.attribute, binding.preferred)) and not value.keywords:
                return frozenset((buffer.id, f"{buffer.id}.*"))
    return None


def is_pop(value: gast.expr) -> bool:
    match value:
        case gast.Call(func=gast.Attribute(attr="pop")):
            return recognized_change(value) is not None
    return False


def arguments_of(call: gast.expr) -> list[gast.expr]:
    assert isinstance(call, gast.Call)
    return [*call.args, *(word.value for word in call.keywords)]


def base_name(target: gast.expr) -> str | None:
    """The local name at the root of ``y[i].a[j]``."""
    while isinstance(target, (gast.Subscript, gast.Attribute, gast.Starred)):
        target = target.value
    return target.id if _is_local(target) else None


def _flat(targets: list[gast.expr]) -> list[gast.expr]:
    found: list[gast.expr] = []
    pending = list(reversed(targets))
    while pending:
        target = pending.pop()
        match target:
            case gast.Tuple() | gast.List():
                pending.extend(reversed(target.elts))
            case gast.Starred():
                pending.append(target.value)
            case _:
                found.append(target)
    return found


def _bound(targets: list[gast.expr]) -> frozenset[str]:
    if len(targets) == 1 and type(targets[0]) is gast.Name:
        return frozenset((targets[0].id,))
    return frozenset(target.id for target in _flat(targets) if isinstance(target, gast.Name))


def targets_of(statement: gast.stmt) -> list[gast.expr]:
    """The flat targets of an assignment."""
    match statement:
        case gast.Assign():
            return _flat(statement.targets)
        case gast.AugAssign():
            return [statement.target]
    return []
