"""Reads of variables that may have no value: that nothing has bound yet, or that lost what they had.

Enters: the body of a function.  Leaves: the places of such reads, found in one walk along the paths of control, or
``UnsupportedSyntax`` where a variable lost its value by ``del`` or at the end of ``except ... as name``::

    if m:
        v = x * 2.0
    return v                 read where nothing may have bound it: Python raises UnboundLocalError

    del v
    return v * x             refused: the names of the normal form keep their values
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.names import (
    Definition,
    bindings,
    body_of,
    bound_by,
    default_values,
    free_names,
    keeps_exceptions,
    name_of_handler,
    names_of,
    names_of_scope,
    surely_read,
)
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, parameters_of, walk

if TYPE_CHECKING:
    from srcgrad.frontend.source import Source

Place = tuple[int, int]


@dataclass(frozen=True)
class _State:
    """The variables that have a value on every way to here, and the statements by which others lost theirs."""

    bound: frozenset[str]
    lost: Mapping[str, gast.AST] = field(default_factory=dict)

    def with_names(self, names: Iterable[str]) -> _State:
        return replace(self, bound=self.bound.union(names))


def _meet(states: Iterable[_State | None]) -> _State | None:
    """What holds where ways meet; a way that is left for good is None."""
    found: _State | None = None
    for state in states:
        if found is None or state is None:
            found = found or state
        else:
            found = _State(found.bound & state.bound, {**found.lost, **state.lost})
    return found


@dataclass
class _Left:
    """What holds where a loop's body is left."""

    breaks: list[_State] = field(default_factory=list)
    continues: list[_State] = field(default_factory=list)


class Unassigned:
    """The reads of a function's variables that may come before a binding.

    ``places``: where their names stand; ``through``: local functions that capture a variable and are read where it may
    have no value, by the variable; ``lost``: the statements by which variables lost their value that are read after;
    ``expected``: reads in a ``try`` that catches a NameError, by the variable, functions excepted, which hold marks.
    """

    def __init__(self, body: Sequence[gast.stmt], parameters: frozenset[str]) -> None:
        self.places: dict[Place, str] = {}
        self.through: dict[str, str] = {}
        self.lost: dict[str, gast.AST] = {}
        self.expected: dict[str, gast.AST] = {}
        self._expecting = 0  # how many of the ``try`` around catch a NameError
        self._own = names_of_scope(body)
        self._body, self._captured = body, _captured(body)
        self._leaving: list[_Left] = []
        self._block(body, _State(parameters))

    @cached_property
    def passed(self) -> frozenset[str]:
        """The variables that may be passed with a local function without a value: it reads them in some calls only,
        or is not called there.  They begin as None."""
        if not self.through:
            return frozenset()
        found: set[str] = set()
        called = _only_called(self._body)
        for inner in walk(*self._body):
            if isinstance(inner, Definition):
                captured = set(free_names(inner))
                captured.update(*(self._captured.get(name, ()) for name in captured))
                found |= captured - ({name.id for name in surely_read(inner)} if inner in called else set())
        return frozenset(found & self.through.keys())

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables that may be read, by a local function too, where they have no value."""
        return frozenset({*self.places.values(), *self.through})

    @cached_property
    def _read_inside(self) -> frozenset[str]:
        """The names that local functions read, also those that have no name and are kept."""
        inner = (node for node in walk(*self._body) if isinstance(node, Definition))
        return frozenset().union(*map(free_names, inner))

    # --- statements --------------------------------------------------------------------------------------------------
    def _block(self, statements: Sequence[Any], state: _State | None) -> _State | None:
        for statement in statements:
            if state is None:
                return None  # control reaches nothing that follows
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: Any, state: _State) -> _State | None:
        match statement:
            case gast.FunctionDef(name=name):
                state = self._reads([*default_values(statement.args), *statement.decorator_list], state)
                return state.with_names([name])
            case gast.ClassDef(name=name):
                values = [k.value for k in statement.keywords]
                state = self._reads([*statement.bases, *statement.decorator_list, *values], state)
                return state.with_names([name])
            case gast.Import(names=names) | gast.ImportFrom(names=names):
                return state.with_names(alias.asname or alias.name.split(".")[0] for alias in names)
            case gast.If(test=test, body=body, orelse=orelse):
                state = self._reads([test], state)
                return _meet([self._block(body, state), self._block(orelse, state)])
            case gast.While(test=test):
                state = self._reads([test], state)
                is_endless = isinstance(test, gast.Constant) and bool(test.value)
                return self._loop(statement, state, lambda s: self._reads([test], s), is_endless)
            case gast.For(target=target, iter=iterated):
                state = self._reads([iterated], state)
                return self._loop(statement, state, lambda s: self._stored([target], s), False)
            case gast.With(items=items, body=body):
                for item in items:
                    state = self._reads([item.context_expr], state)
                    state = self._stored([item.optional_vars], state)
                ended = self._block(body, state)
                keeps = all(keeps_exceptions(item.context_expr) for item in items)
                # What it suppresses may be raised before a name is bound.
                return ended if keeps or ended is None else _meet([ended, state])
            case gast.Try():
                return self._try(statement, state)
            case gast.Match(subject=subject, cases=cases):
                state = self._reads([subject], state)
                ways: list[_State | None] = []
                for case in cases:
                    bound = state.with_names(_bound_by(case.pattern) | _stored_in(case.pattern))
                    ways.append(self._block(case.body, self._reads([case.guard], bound)))
                last = cases[-1]
                is_any = isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None and last.guard is None
                return _meet(ways if is_any else [*ways, state])
            case gast.Break():
                self._leaving[-1].breaks.append(state)
                return None
            case gast.Continue():
                self._leaving[-1].continues.append(state)
                return None
            case gast.Return() | gast.Raise():
                self._reads(children(statement), state)
                return None
            case gast.Delete(targets=targets):
                for target in targets:
                    state = self._deleted(target, statement, state)
                return state
            case gast.Assign(targets=[gast.Name()] as targets, value=gast.Lambda(args=arguments)):
                return self._stored(targets, self._reads(default_values(arguments), state))
            case gast.Assign(targets=targets, value=value):
                return self._stored(targets, self._reads([value], state))
            case gast.AugAssign(target=gast.Name() as target, value=value):
                return self._stored([target], self._reads([value], self._read(target, state)))
            case gast.AugAssign(target=target, value=value):
                return self._reads([target, value], state)
            case gast.AnnAssign(target=target, value=value):
                state = self._reads([value], state)
                return state if value is None else self._stored([target], state)
        return self._reads(children(statement), state)

    def _loop(
        self, loop: Any, state: _State, begins: Callable[[_State], _State], is_endless: bool
    ) -> _State | None:
        self._leaving.append(_Left())
        turn = _meet([self._block(loop.body, begins(state)), *self._leaving[-1].continues])
        again = _meet([state, turn])
        assert again is not None
        if again.lost.keys() - state.lost.keys():  # what lost its value may be read at the next turn
            self._block(loop.body, begins(again))
        after = None if is_endless else self._block(loop.orelse, _State(state.bound & again.bound, again.lost))
        return _meet([after, *self._leaving.pop().breaks])

    def _try(self, statement: Any, state: _State) -> _State | None:
        is_expecting = any(_catches_unbound(handler.type) for handler in statement.handlers)
        self._expecting += is_expecting
        tried = self._block(statement.body, state)
        self._expecting -= is_expecting
        ways = [self._block(statement.orelse, tried)]
        # What raised may have unbound names before.
        begun = state if tried is None else _State(state.bound & tried.bound, tried.lost)
        for handler in statement.handlers:
            name = None if handler.name is None else name_of_handler(handler)
            caught = self._reads([handler.type], begun)
            ended = self._block(handler.body, caught if name is None else caught.with_names([name]))
            ways.append(ended if name is None or ended is None else self._unbound(name, handler, ended))
        after = _meet(ways)
        if not statement.finalbody:
            return after
        final = self._block(statement.finalbody, begun)
        return None if final is None else self._block(statement.finalbody, after)

    # --- expressions -------------------------------------------------------------------------------------------------
    def _stored(self, targets: Sequence[Any], state: _State) -> _State:
        for target in targets:
            if isinstance(target, gast.Tuple | gast.List):
                state = self._stored(target.elts, state)
            elif target is not None:
                state = self._reads([target], state).with_names(_stored_in(target))
        return state

    def _deleted(self, target: Any, by: gast.AST, state: _State) -> _State:
        if isinstance(target, gast.Name):
            return self._unbound(target.id, by, self._read(target, state))
        if isinstance(target, gast.Tuple | gast.List):
            for part in target.elts:
                state = self._deleted(part, by, state)
            return state
        return self._reads([target], state)

    def _reads(self, parts: Iterable[Any], state: _State) -> _State:
        for part in parts:
            if part is not None:
                state = self._evaluated(part, state)
        return state

    def _evaluated(self, node: Any, state: _State) -> _State:
        pending = [node]
        while pending:
            match pending.pop():
                case GlobalReference():
                    pass
                case gast.Name(ctx=gast.Load()) as name:
                    state = self._read(name, state)
                case gast.NamedExpr(target=target, value=value):
                    state = self._evaluated(value, state).with_names([target.id])
                case gast.IfExp(test=test, body=body, orelse=orelse):
                    state = self._evaluated(test, state)
                    state = _meet([self._evaluated(body, state), self._evaluated(orelse, state)]) or state
                case gast.BoolOp(values=[first, *rest]):
                    state = self._evaluated(first, state)
                    self._reads(rest, state)
                case gast.Lambda(args=arguments) as function:
                    state = self._reads(default_values(arguments), state)
                    self._captures("a lambda", free_names(function), function, state)
                case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp() as made:
                    first, *others = made.generators
                    state = self._evaluated(first.iter, state)
                    inside = state.with_names(names_of(generator.target for generator in made.generators))
                    inside = self._reads([*first.ifs, *(p for g in others for p in (g.iter, *g.ifs))], inside)
                    self._reads([made.key, made.value] if isinstance(made, gast.DictComp) else [made.elt], inside)
                case gast.AST() as other:
                    pending += reversed(children(other))
        return state

    def _read(self, node: Any, state: _State) -> _State:
        """A read of a name; behind it the name has a value: where it had none, Python raised."""
        name = node.id
        if name not in self._own:
            return state
        self._captures(name, self._captured.get(name, ()), node, state)
        if name in state.bound:
            return state
        place = place_of(node)
        if place is not None:
            self.places.setdefault(place, name)
        self._note(name, node, state)
        return state.with_names([name])

    def _captures(self, function: str, captured: Iterable[str], at: gast.AST, state: _State) -> None:
        """What a function reads that may be called from here on."""
        for name in captured:
            if name in self._own and name not in {*state.bound, function}:
                self.through.setdefault(name, function)
                self._note(name, at, state)

    def _unbound(self, name: str, by: gast.AST, state: _State) -> _State:
        if name in self._read_inside:
            self.lost.setdefault(name, by)  # the function may be called at any time
        return _State(state.bound - {name}, {**state.lost, name: by})

    def _note(self, name: str, at: gast.AST, state: _State) -> None:
        if self._expecting and name not in self._captured:
            self.expected.setdefault(name, at)
        if name in state.lost:
            self.lost.setdefault(name, state.lost[name])


def unassigned_in(node: gast.AST) -> Unassigned:
    """The same of a function; of what else runs as one, such as the body of a class, nothing is asked."""
    if not isinstance(node, Definition):
        return Unassigned([], frozenset())
    return Unassigned(body_of(node), frozenset(parameters_of(node.args)))


def place_of(node: gast.AST) -> Place | None:
    """Where a node stands; None of what the compiler made."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    return None if line is None or column is None else (line, column)


def _captured(body: Sequence[gast.stmt]) -> dict[str, set[str]]:
    """The names that each local function reads from around it, itself or through others."""
    found: dict[str, set[str]] = {}
    for own, node in bindings(*body):
        if isinstance(node, Definition):
            found.setdefault(own, set()).update(free_names(node))
    for _ in found:
        for own, captured in found.items():
            for other in captured & found.keys() - {own}:
                found[own] = found[own] | found[other]
    return found


def _catches_unbound(kind: gast.expr | None) -> bool:
    """Whether a handler may catch a NameError: all that is not called like an error of another class."""
    kinds = kind.elts if isinstance(kind, gast.Tuple) else [kind]
    names = [str(getattr(each, "attr", None) or getattr(each, "id", "")) for each in kinds]
    return any(
        name in ("NameError", "UnboundLocalError") or name not in _OTHERS and not name.endswith("Error")
        for name in names
    )


_OTHERS = frozenset({"StopIteration", "ArithmeticError", "KeyboardInterrupt", "SystemExit", "GeneratorExit"})


def _bound_by(*parts: gast.AST) -> set[str]:
    """The names that patterns, imports and classes bind, besides those that stand as names to be stored."""
    nodes = (node for node in walk(*parts) if not isinstance(node, gast.Name | gast.FunctionDef | gast.ExceptHandler))
    return {name for node in nodes for name in bound_by(node)}


def _only_called(body: Sequence[gast.stmt]) -> set[gast.AST]:
    """The local functions that nothing is done with but to call them by their names."""
    made, named, heads = dict[gast.AST, str](), set[str](), set[int]()
    for node in walk(*body):
        match node:
            case gast.FunctionDef(name=name) | gast.Assign(targets=[gast.Name(id=name)], value=gast.Lambda()):
                made[node if isinstance(node, gast.FunctionDef) else node.value] = name
            case gast.Call(func=gast.Name() as head):
                heads.add(id(head))
            case gast.Name(id=name, ctx=gast.Load()) if id(node) not in heads:
                named.add(name)
    return {node for node, name in made.items() if name not in named}


def _stored_in(part: gast.AST) -> set[str]:
    return {node.id for node in walk(part) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)}


def refuse_unassigned(source: Source) -> None:
    """Refuse variables of a function, or of one inside it, that lose their value and may be read then, or that may have
    none where that is expected."""
    if not any(isinstance(node, gast.Delete | gast.ExceptHandler) for node in walk(source.node)):
        return
    for node in [node for node in walk(source.node) if isinstance(node, Definition)]:
        found = unassigned_in(node)
        for name, at in (*found.lost.items(), *found.expected.items()):
            is_lost = name in found.lost
            reason = "has no value any more here, and is read again" if is_lost else "may have no value in this try"
            hint = "give it another name, or a value"
            raise UnsupportedSyntax(f"the variable {name!r} {reason}", source.span(at), code="E0114", hint=hint)
