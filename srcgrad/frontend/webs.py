"""One name for several things, told apart: each web of a name (its definitions that reach a common use) by itself.

Enters: the body of a function as its author wrote it, its parameters, and the names in question.  Leaves: the body in
which every web but the first has a name of its own, so that what is known of one is not blurred by the other::

    def f(theta):                                       def f(theta):
        theta = Theta(theta[0], theta[1])       ->          theta2 = Theta(theta[0], theta[1])
        return theta.scale * theta.shift                    return theta2.scale * theta2.shift

Webs: Muchnick, Advanced Compiler Design and Implementation, 16.3.3.  They are found by definitions that reach uses,
forward over structured control flow; where an exception may be caught, from any point of what it is caught around.
Names that a function inside reads, or that live by other rules (comprehensions, patterns, imports, ``nonlocal``), stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import gast

from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.parse import walk

Definitions = frozenset[int]
State = dict[str, Definitions]


def told_apart(
    body: Sequence[gast.stmt], parameters: Iterable[str], names: Collection[str], fresh: Callable[[str], str]
) -> list[gast.stmt]:
    """The body with a name for each web of ``names``; that of a parameter keeps its name, or else the first web."""
    if not names:
        return list(body)
    found = _Webs(parameters, frozenset(names) - _by_other_rules(body))
    found.block(body, found.entry)
    called: dict[int, str] = {found.root(definition): name for name, definition in found.given.items()}
    taken = set(called.values())
    for name, definition in found.order:
        root = found.root(definition)
        if root not in called:
            called[root] = fresh(name) if name in taken else name
            taken.add(name)

    def renamed(node: gast.AST) -> gast.expr | None:
        if not isinstance(node, gast.Name) or id(node) not in found.places:
            return None
        name = called[found.root(found.places[id(node)])]
        return None if name == node.id else gast.copy_location(gast.Name(name, node.ctx, None, None), node)

    if taken == set(called.values()):
        return list(body)
    return [rebuilt(statement, renamed) for statement in body]


def _by_other_rules(body: Sequence[gast.stmt]) -> set[str]:
    """The names that are bound or read in ways that are not followed here."""
    found: set[str] = set()
    for node in walk(*body):
        match node:
            case gast.FunctionDef() | gast.Lambda() | gast.ClassDef() | gast.GeneratorExp():
                found.update(_names_in(node))
                found.add(getattr(node, "name", ""))
            case gast.comprehension(target=target) | gast.NamedExpr(target=target):
                found.update(_names_in(target))
            case gast.ExceptHandler(name=gast.Name(id=name)):
                found.add(name)
            case gast.Global(names=names) | gast.Nonlocal(names=names):
                found.update(names)
            case gast.Import(names=aliases) | gast.ImportFrom(names=aliases):
                found.update((alias.asname or alias.name).partition(".")[0] for alias in aliases)
            case gast.Match():
                found.update(_names_in(node))
                found.update(n for part in walk(node) for n in vars(part).values() if isinstance(n, str))
    return found


def _names_in(node: gast.AST) -> Iterator[str]:
    return (part.id for part in walk(node) if isinstance(part, gast.Name))


def _merged(*states: State | None) -> State | None:
    """What may reach a point from several; None where none of them is ever left."""
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    made = dict(reached[0])
    for state in reached[1:]:
        for name, definitions in state.items():
            made[name] = made.get(name, frozenset()) | definitions
    return made


class _Webs:
    """Definitions by number, joined where they reach one use."""

    def __init__(self, parameters: Iterable[str], names: frozenset[str]) -> None:
        self.names = names
        self.parents: list[int] = []
        self.places: dict[int, int] = {}  # id of a name in the text -> a definition of its web
        self.order: list[tuple[str, int]] = []  # definitions in the order of the text
        self.given = {name: self._new() for name in parameters if name in names}
        self.entry: State = {name: frozenset((definition,)) for name, definition in self.given.items()}
        self.breaks: list[State | None] = []
        self.continues: list[State | None] = []
        self.caught: list[State | None] = []  # around each ``try`` or ``with``: what its points were reached by

    # --- webs --------------------------------------------------------------------------------------------------------
    def _new(self) -> int:
        self.parents.append(len(self.parents))
        return len(self.parents) - 1

    def root(self, definition: int) -> int:
        while self.parents[definition] != definition:
            definition = self.parents[definition]
        return definition

    def _join(self, place: gast.Name, definitions: Iterable[int]) -> None:
        for definition in definitions:
            first = self.places.setdefault(id(place), definition)
            self.parents[self.root(definition)] = self.root(first)

    def _define(self, place: gast.Name, state: State) -> None:
        if id(place) not in self.places:  # a loop is gone through several times
            self.places[id(place)] = self._new()
            self.order.append((place.id, self.places[id(place)]))
        state[place.id] = frozenset((self.places[id(place)],))

    # --- expressions -------------------------------------------------------------------------------------------------
    def _visit(self, node: gast.AST | None, state: State) -> None:
        """Reads first, then what is bound."""
        bound: list[gast.Name] = []
        for part in walk(node) if node is not None else ():
            if isinstance(part, gast.Name) and part.id in self.names:
                if isinstance(part.ctx, gast.Store):
                    bound.append(part)
                else:
                    self._join(part, state.get(part.id, ()))
        for name in bound:
            self._define(name, state)

    def _bind(self, target: gast.AST, state: State) -> None:
        """Targets from left to right: in ``i, y[i] = ...`` the second reads what the first has bound."""
        match target:
            case gast.Tuple(elts=parts) | gast.List(elts=parts):
                for part in parts:
                    self._bind(part, state)
            case gast.Starred(value=value):
                self._bind(value, state)
            case _:
                self._visit(target, state)

    # --- statements --------------------------------------------------------------------------------------------------
    def block(self, statements: Sequence[gast.stmt], state: State | None) -> State | None:
        """What reaches the end of a block; None where it is never reached."""
        for statement in statements:
            if state is None:
                state = {}  # nothing runs this; its names still need webs
            self._reach(state)
            state = self._statement(statement, dict(state))
            self._reach(state)
        return state

    def _reach(self, state: State | None) -> None:
        for j, caught in enumerate(self.caught):
            self.caught[j] = _merged(caught, state)

    def _statement(self, statement: gast.stmt, state: State) -> State | None:
        match statement:
            case gast.Return() | gast.Raise():
                self._visit(statement, state)
                return None
            case gast.Break():
                self.breaks[-1] = _merged(self.breaks[-1], state)
                return None
            case gast.Continue():
                self.continues[-1] = _merged(self.continues[-1], state)
                return None
            case gast.If(test=test, body=body, orelse=orelse):
                self._visit(test, state)
                return _merged(self.block(body, state), self.block(orelse, state))
            case gast.For() | gast.While():
                return self._loop(statement, state)
            case gast.With(items=items, body=body):
                for item in items:
                    self._visit(item.context_expr, state)
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, state)
                self.caught.append(state)  # a manager may swallow what is raised inside
                after = self.block(body, state)
                return _merged(after, self.caught.pop())
            case gast.Try():
                return self._try(statement, state)
            case gast.AugAssign(target=gast.Name() as target, value=value) if target.id in self.names:
                self._visit(value, state)
                self._define(target, state_before := dict(state))
                self._join(target, state.get(target.id, ()))
                return state_before
            case gast.Assign(targets=targets, value=value):
                self._visit(value, state)
                for target in targets:
                    self._bind(target, state)
            case gast.AnnAssign(target=target, value=value):
                self._visit(value, state)
                if value is not None:
                    self._visit(target, state)
            case gast.Match(subject=subject, cases=cases):
                self._visit(subject, state)
                ends = []
                for case in cases:
                    here = dict(state)
                    self._visit(case.guard, here)
                    ends.append(self.block(case.body, here))
                return _merged(state, *ends)
            case _:
                self._visit(statement, state)
        return state

    def _loop(self, statement: gast.For | gast.While, state: State) -> State | None:
        if isinstance(statement, gast.For):
            self._visit(statement.iter, state)
        head: State = state
        while True:
            self.breaks.append(None)
            self.continues.append(None)
            inside = dict(head)
            if isinstance(statement, gast.For):
                self._bind(statement.target, inside)
            else:
                self._visit(statement.test, inside)
            end = self.block(statement.body, inside)
            left, again = self.breaks.pop(), _merged(end, self.continues.pop())
            grown = _merged(head, again)
            if grown == head:
                break
            assert grown is not None
            head = grown
        leaving = dict(head)
        if isinstance(statement, gast.While):
            self._visit(statement.test, leaving)
        return _merged(left, self.block(statement.orelse, leaving))

    def _try(self, statement: gast.Try, state: State) -> State | None:
        left = self.breaks, self.continues
        self.breaks, self.continues = [None], [None]
        self.caught.append(state)
        end = self.block(statement.body, state)
        raised = self.caught.pop()
        self.caught.append(raised)  # what a handler or the else does may be left by an exception too
        ends = [self.block(statement.orelse, end)] if end is not None else []
        for handler in statement.handlers:
            inside = dict(raised or {})
            self._visit(handler.type, inside)
            ends.append(self.block(handler.body, inside))
        anywhere = _merged(self.caught.pop(), *ends)
        jumps = self.breaks[0], self.continues[0]
        self.breaks, self.continues = left
        after = self.block(statement.finalbody, anywhere) if statement.finalbody else None
        for around, jump in zip(left, jumps, strict=True):
            if jump is not None:  # it goes through what is done finally
                around[-1] = _merged(around[-1], after if statement.finalbody else jump)
        if not statement.finalbody:
            return _merged(*ends)
        return after if any(each is not None for each in ends) else None
