"""Names: the versions of one variable share its spelling, as long as every read finds the version that it means.

At first each version is spelled like its variable.  A walk in the order of evaluation then follows which versions each
spelling may hold (reaching definitions: Aho et al., *Compilers*, 9.2.4).  Where a read finds another version than its
own, what overwrote it gets a fresh spelling, and the walk starts again.  Block arguments that keep their spelling are
no assignments; of versions that are *tied* one spelling has to do, or the form that ties them is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import gast

from srcgrad.errors import InternalError, Span
from srcgrad.ir.operations import UNBOUND, Version
from srcgrad.ir.regions import Statement
from srcgrad.ir.restoring.pending import Plan
from srcgrad.ir.restoring.tree import Branch, Copies, Inner, is_nothing
from srcgrad.syntax.namer import Namer

Held: TypeAlias = frozenset[object]  # versions, and UNBOUND
State: TypeAlias = dict[str, Held]  # None: not reached
NOTHING: Held = frozenset({UNBOUND})


@dataclass(eq=False)
class _Loop:
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


@dataclass(eq=False)
class Naming:
    """The names of a function's versions."""

    plan: Plan
    parent: dict[Version, Version] = field(default_factory=dict)  # of the classes of versions that are tied
    reasons: dict[Version, list[Statement]] = field(default_factory=dict)
    spelled: dict[Version, str] = field(default_factory=dict)
    fixed: set[Version] = field(default_factory=set)  # classes of parameters
    loops: list[_Loop] = field(default_factory=list)
    watched: list[State] = field(default_factory=list)  # what a spelling may hold where an exception is handled
    doubtful: set[Version] = field(default_factory=set)  # versions that may hold no value
    inner: set[Version] = field(default_factory=set)  # what comprehensions bind
    alone: set[Version] = field(default_factory=set)  # classes whose spelling nothing else has
    changed: bool = False

    def root(self, version: Version) -> Version:
        version = self.plan.same.get(version, version)
        while version in self.parent:
            version = self.parent[version]
        return version

    def name(self, version: Version) -> str:
        return self.spelled[self.root(version)]


def named(naming: Naming, body: list[Any]) -> bool:
    """Decide the names of versions for statements; False if a form is refused."""
    plan = naming.plan
    versions = _tie(naming, body)
    naming.doubtful = _doubtful(naming, body)
    namer = Namer({*plan.names, *plan.outer, *filter(None, (v.variable for v in versions))})
    for parameter in plan.function.parameters:
        naming.fixed.add(naming.root(parameter))
    for version in [*plan.function.parameters, *versions]:
        root = naming.root(version)
        if root not in naming.spelled:
            naming.spelled[root] = _wanted(plan, version) or namer.fresh("t")
    outer, bound = _free_names(body), _bound_here(body)
    naming.inner = {naming.root(v) for node in _nodes(body) if isinstance(node, Inner) for v in node.bound}
    for version in bound:
        root = naming.root(version)
        if root not in naming.fixed and naming.spelled[root] in outer:
            naming.spelled[root] = namer.fresh(version.variable or "t")
    copies = [node for node in _nodes(body) if isinstance(node, Copies)]
    while True:
        naming.changed = False
        for node in copies:
            node.found.clear()
        start: State = {naming.name(p): frozenset({plan.same.get(p, p)}) for p in plan.function.parameters}
        walk = _Walk(naming, namer)
        walk.statements(body, start)
        if walk.refused:
            plan.refused |= walk.refused
            return False
        if not naming.changed:
            return True


def versions_of(naming: Naming) -> list[Version]:
    """The versions of the function that have a name, not those of its comprehensions."""
    return [version for version in naming.spelled if version not in naming.inner]


def _wanted(plan: Plan, version: Version) -> str | None:
    is_parameter = version in {*plan.function.parameters}
    text = version.variable or plan.called.get(version) or (version.name if is_parameter else None)
    return text if text is None or text.isidentifier() else "_"


# --- what is there ---------------------------------------------------------------------------------------------------
def _nodes(part: Any) -> Iterable[Any]:
    """The nodes and statements of a function, those of inner functions left out."""
    pending = [part]
    while pending:
        here = pending.pop()
        if isinstance(here, list):
            pending += here[::-1]
            continue
        if here is None or isinstance(here, str | int | float | complex | bytes | Version):
            continue
        yield here
        match here:
            case Copies(values=values):
                pending += values[::-1]
            case Branch(test=test, body=body, orelse=orelse):
                pending += [orelse, body, test]
            case Inner(body=body):
                pending.append(body)
            case gast.AST() if hasattr(here, "shape"):
                pending.append(here.shape)
            case gast.FunctionDef():
                pending += [here.target, *_outside(here)[::-1]]
            case gast.ClassDef():
                pending += [here.target, *_outside(here)[::-1]]
            case gast.Lambda():
                pending += _outside(here)[::-1]
            case gast.alias():
                pending.append(here.target)
            case gast.Constant():
                pass
            case gast.AST():
                pending += [getattr(here, field, None) for field in reversed(here._fields)]


def _outside(node: Any) -> list[Any]:
    """What of a definition is evaluated around it, in order."""
    if isinstance(node, gast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    given = node.args
    parameters = [*given.args, *given.posonlyargs, given.vararg, *given.kwonlyargs, given.kwarg]
    annotations = [p.annotation for p in parameters if p is not None and p.annotation is not None]
    parts = [*given.defaults, *filter(None, given.kw_defaults), *annotations]
    return [*getattr(node, "decorator_list", []), *parts, *filter(None, [getattr(node, "returns", None)])]


def _tie(naming: Naming, body: list[Any]) -> list[Version]:
    """Unite what has to share a spelling; all versions."""
    found: dict[Version, None] = {}
    for node in _nodes(body):
        match node:
            case gast.Name() if hasattr(node, "version"):
                found[node.version] = None
            case Copies(targets=targets, values=values, tied=tied):
                found.update(dict.fromkeys(targets))
                for target, value in zip(targets, values, strict=True):
                    if tied is not None and isinstance(value, gast.Name):
                        _unite(naming, target, value.version, tied)
            case gast.AugAssign(target=gast.Name() as target) if getattr(target, "statement", None) is not None:
                found[target.held] = None
                _unite(naming, target.version, target.held, target.statement)
    return list(found)


def _unite(naming: Naming, one: Version, other: Version, reason: Statement) -> None:
    left, right = naming.root(one), naming.root(other)
    if left is not right:
        if left in naming.plan.function.parameters:
            left, right = right, left
        naming.parent[left] = right
        naming.reasons.setdefault(right, []).extend(naming.reasons.pop(left, []))
    naming.reasons.setdefault(right, []).append(reason)


def _doubtful(naming: Naming, body: list[Any]) -> set[Version]:
    """The versions that some path leaves without a value."""
    copies = [node for node in _nodes(body) if isinstance(node, Copies)]
    pairs = [pair for node in copies for pair in zip(node.targets, node.values, strict=True)]
    found = {target for target, value in pairs if is_nothing(value)}
    while True:
        more = {target for target, value in pairs if getattr(value, "version", None) in found} - found
        if not more:
            return found
        found |= more


def _free_names(body: list[Any]) -> set[str]:
    """The names that are no versions, but for those of comprehensions."""
    found: set[str] = set()
    for node in _nodes(body):
        if isinstance(node, gast.Name) and not hasattr(node, "version"):
            found.add(node.id)
    inner = [node for node in _nodes(body) if isinstance(node, Inner)]
    return found - {text for scope in inner for text in scope.cells}


def _bound_here(body: list[Any]) -> list[Version]:
    """The versions that the function binds itself, outside of comprehensions."""
    inner = {version for node in _nodes(body) if isinstance(node, Inner) for version in node.bound}
    found: dict[Version, None] = {}
    for node in _nodes(body):
        match node:
            case gast.Name(ctx=gast.Store()) if hasattr(node, "version") and node.version not in inner:
                found[node.version] = None
            case Copies(targets=targets, tied=None):
                found.update(dict.fromkeys(targets))
    return list(found)


# --- what each spelling holds ----------------------------------------------------------------------------------------
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
class _Walk:
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
            for other in others - fixed:
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
                self.copies(statement, state, kept=False)
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
                for part in _outside(node):
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
            here = _Loop()
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
                for part in _outside(node):
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
