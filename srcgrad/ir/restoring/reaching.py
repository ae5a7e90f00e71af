"""What each spelling holds, statement by statement, in the order of evaluation (reaching definitions).

Enters: the statements of a function, whose versions have spellings.  Leaves: the same, with other spellings where a
read found another version than its own; ``refused`` has what asks for one spelling of versions that cannot share it::

    x2 = x + 1          x holds x2
    return x * x2       x is read as x, and is x2: x2 gets a spelling of its own

>>> one, other = Version("x", "x"), Version("x2", "x")
>>> joined = _join([{"x": frozenset({one})}, {"x": frozenset({other})}, None])
>>> sorted(map(repr, joined["x"]))
['x', 'x2']
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import gast

from srcgrad.errors import InternalError, Span
from srcgrad.ir.operations import UNBOUND, Version
from srcgrad.ir.regions import Statement
from srcgrad.ir.restoring.scanning import outside
from srcgrad.ir.restoring.tree import Branch, Copies, Inner, is_nothing
from srcgrad.syntax.namer import Namer

if TYPE_CHECKING:
    from srcgrad.ir.restoring.names import Naming

Held: TypeAlias = frozenset[object]  # versions, and UNBOUND
State: TypeAlias = dict[str, Held]
NOTHING: Held = frozenset({UNBOUND})


@dataclass(eq=False)
class Rounds:
    """What the spellings hold where a loop is left, and where it goes on."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


def _join(states: Iterable[State | None]) -> State | None:
    joined: State | None = None
    for state in states:
        if state is None:
            continue
        if joined is None:
            joined = dict(state)
            continue
        for spelling in {*joined, *state}:
            joined[spelling] = joined.get(spelling, NOTHING) | state.get(spelling, NOTHING)
    return joined


@dataclass(eq=False)
class Walk:
    naming: Naming
    namer: Namer
    refused: set[Statement] = field(default_factory=set)

    def read(self, version: Version, state: State) -> None:
        version = self.naming.plan.same.get(version, version)
        held = state.get(self.naming.name(version), NOTHING)
        if held != frozenset({version}) and not self.naming.changed:  # else the walk is about other spellings
            self.separate(version, held)

    def separate(self, version: Version, held: Held) -> None:
        """Spell what a name holds differently from the version that was meant."""
        own = self.naming.root(version)
        fixed = self.naming.fixed
        others = {self.naming.root(v) for v in held if isinstance(v, Version)} - {own}
        if any(isinstance(v, Version) and v is not version and self.naming.root(v) is own for v in held):
            self.refuse({own})
        elif others - fixed:
            for other in [root for root in self.naming.spelled if root in others - fixed]:  # in the order of the text
                self.respell(other)
        elif own not in fixed and own not in self.naming.alone:
            self.respell(own)
        else:
            self.refuse(others | {own})

    def respell(self, root: Version) -> None:
        self.naming.spelled[root] = self.namer.fresh(root.variable or "t")
        self.naming.alone.add(root)
        self.naming.changed = True

    def refuse(self, roots: set[Version]) -> None:
        """Give up the forms that ask for one spelling."""
        reasons = [reason for root in roots for reason in self.naming.reasons.get(root, [])]
        if not reasons:
            function = self.naming.plan.function
            versions = ", ".join(map(str, roots))
            raise InternalError(f"no names for {versions} in {function.name}", Span.unknown(), door=str(function))
        self.refused.update(reasons)

    def bind(self, version: Version, state: State, is_seen: bool = True) -> None:
        """``is_seen``: whether the name is assigned, which an exception handler sees."""
        version = self.naming.plan.same.get(version, version)
        if is_seen:
            self.hold(self.naming.name(version), frozenset({version}), state)
        else:
            state[self.naming.name(version)] = frozenset({version})

    def hold(self, spelling: str, held: Held, state: State) -> None:
        state[spelling] = held
        for watched in self.naming.watched:
            watched[spelling] = watched.get(spelling, NOTHING) | held

    # --- statements --------------------------------------------------------------------------------------------------
    def statements(self, body: list[Any], state: State | None) -> State | None:
        for place, statement in enumerate(body):
            if state is None:
                return None
            behind: Any = body[place + 1] if place + 1 < len(body) else None
            if isinstance(statement, Copies) and getattr(behind, "heads", None) is statement:
                self.copies(body[place], state, kept=False)
            else:
                state = self.statement(statement, state)
        return state

    def statement(self, node: Any, state: State) -> State | None:
        match node:
            case Copies():
                return self.copies(node, state)
            case Branch(test=test, body=body, orelse=orelse) | gast.If(test=test, body=body, orelse=orelse):
                self.value(test, state)
                return _join([self.statements(body, dict(state)), self.statements(orelse, dict(state))])
            case Inner(bound=bound, cells=cells, body=body):
                names = {*(self.naming.name(version) for version in bound), *cells}
                inside = {**state, **{text: frozenset({text}) if text in cells else NOTHING for text in names}}
                after = self.statements(body, inside)
                return None if after is None else {**after, **{text: state.get(text, NOTHING) for text in names}}
            case gast.For() | gast.While():
                return self.loop(node, state)
            case gast.Break():
                self.naming.loops[-1].breaks.append(state)
                return None
            case gast.Continue():
                self.naming.loops[-1].continues.append(state)
                return None
            case gast.Return(value=value):
                self.value(value, state)
                return None
            case gast.Raise(exc=exception, cause=cause):
                self.value(exception, state)
                self.value(cause, state)
                return None
            case gast.Assign(targets=targets, value=value):
                self.value(value, state)
                self.targets(targets, state)
            case gast.AnnAssign(annotation=kind, value=value):
                self.value(value, state)
                self.value(kind, state)
            case gast.AugAssign(target=gast.Name() as target, value=value):
                if hasattr(target, "version"):
                    self.read(getattr(target, "held", target.version), state)
                self.value(value, state)
                self.targets([target], state)
            case gast.AugAssign(target=target, value=value):
                self.targets([target], state)
                self.value(value, state)
            case gast.With(items=items, body=body):
                return self.managed(items, body, state)
            case gast.Try():
                return self.attempt(node, state)
            case gast.Match():
                return self.statements(node.shape, state)
            case gast.Delete(targets=targets):
                self.targets(targets, state)
            case gast.FunctionDef() | gast.ClassDef():
                for part in outside(node):
                    self.value(part, state)
                self.targets([node.target], state)
            case gast.Import(names=names) | gast.ImportFrom(names=names):
                self.targets([alias.target for alias in names], state)
            case gast.Assert(test=test, msg=message):
                self.value(test, state)
                self.value(message, dict(state))
            case gast.Expr(value=value):
                self.value(value, state)
        return state

    def copies(self, node: Copies, state: State, kept: bool | None = None) -> State:
        """Block arguments; ``kept``: only those that keep their spelling, or only the others."""
        chosen: list[tuple[Version, bool]] = []
        for place, (target, value) in enumerate(zip(node.targets, node.values, strict=True)):
            keeps = self.keeps(target, value)
            if kept is not None and keeps is not kept:
                continue
            chosen.append((target, keeps))
            if not is_nothing(value):
                self.value(value, state)
                continue
            held = state.get(self.naming.name(target), NOTHING)
            node.found[place] = node.found.get(place, frozenset()) | held
            if node.tied is not None and held != NOTHING and not self.naming.changed:
                self.refused.add(node.tied)
        for target, keeps in chosen:
            self.bind(target, state, is_seen=not keeps)
        return state

    def keeps(self, target: Version, value: Any) -> bool:
        """Whether a block argument is no assignment."""
        spelling = self.naming.name(target)
        return hasattr(value, "version") and self.naming.name(value.version) == spelling

    def loop(self, node: Any, state: State) -> State | None:
        if isinstance(node, gast.For) and node.iter is not None:
            self.value(node.iter, state)
        if hasattr(node, "heads"):  # the heads of a loop are bound once what it goes over has been evaluated
            self.copies(node.heads, state, kept=True)
        begins = dict(state)
        while True:
            here = Rounds()
            self.naming.loops.append(here)
            inside = dict(begins)
            if isinstance(node, gast.While):
                self.value(node.test, inside)
            ended = dict(inside)
            if isinstance(node, gast.For):
                self.targets([node.target], inside)
            last = self.statements(node.body, inside)
            self.naming.loops.pop()
            again = _join([begins, last, *here.continues])
            assert again is not None
            if again == begins or self.naming.changed or self.refused:
                break
            begins = again
        forever = isinstance(node, gast.While) and isinstance(node.test, gast.Constant)
        return _join([None if forever else self.statements(node.orelse, ended), *here.breaks])

    def managed(self, items: list[Any], body: list[Any], state: State) -> State | None:
        for item in items:
            self.value(item.context_expr, state)
            if item.optional_vars is not None:
                self.targets([item.optional_vars], state)
        seen = dict(state)
        self.naming.watched.append(seen)
        after = self.statements(body, dict(state))
        self.naming.watched.pop()
        return _join([after, seen])

    def attempt(self, node: Any, state: State) -> State | None:
        seen, whole = dict(state), dict(state)
        self.naming.watched += [whole, seen]
        after = self.statements(node.body, dict(state))
        self.naming.watched.pop()
        ends = [after if after is None else self.statements(node.orelse, after)]
        for handler in node.handlers:
            inside = dict(seen)
            self.value(handler.type, inside)
            if handler.name is not None:
                self.targets([handler.name], inside)
            last = self.statements(handler.body, inside)
            if last is not None and hasattr(handler.name, "version"):
                last = {**last, self.naming.name(handler.name.version): NOTHING}
            ends.append(last)
        self.naming.watched.pop()
        end = _join(ends)
        if not node.finalbody:
            return end
        final = self.statements(node.finalbody, _join([end, whole]))
        return None if end is None else final

    # --- expressions -------------------------------------------------------------------------------------------------
    def value(self, node: Any, state: State) -> None:
        if node is None:
            return
        if isinstance(node, list):
            for part in node:
                self.value(part, state)
            return
        if hasattr(node, "shape"):
            after = self.statements(node.shape, state)
            assert after is not None
            state.update(after)
            return
        match node:
            case gast.Name():
                self.named(node, state)
            case gast.Constant():
                pass
            case gast.NamedExpr(target=target, value=value):
                self.value(value, state)
                self.targets([target], state)
            case gast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    self.value(key, state)
                    self.value(value, state)
            case gast.Lambda():
                for part in outside(node):
                    self.value(part, state)
            case gast.AST():
                for part in node._fields:
                    child = getattr(node, part, None)
                    if isinstance(child, gast.AST | list):
                        self.value(child, state)

    def named(self, node: Any, state: State) -> None:
        if hasattr(node, "version"):
            self.read(node.version, state)
            return
        held = state.get(node.id, NOTHING)
        for version in held if not self.naming.changed else ():
            if isinstance(version, Version) and self.naming.root(version) not in self.naming.fixed:
                self.respell(self.naming.root(version))

    def targets(self, targets: list[Any], state: State) -> None:
        for target in targets:
            match target:
                case gast.Name():
                    if not hasattr(target, "version"):
                        continue
                    if isinstance(target.ctx, gast.Del):
                        self.read(target.version, state)
                        self.hold(self.naming.name(target.version), NOTHING, state)
                    else:
                        self.bind(target.version, state)
                case gast.Tuple(elts=elements) | gast.List(elts=elements):
                    self.targets(elements, state)
                case gast.Starred(value=value):
                    self.targets([value], state)
                case gast.Attribute(value=value):
                    self.value(value, state)
                case gast.Subscript(value=value, slice=index):
                    self.value(value, state)
                    self.value(index, state)
