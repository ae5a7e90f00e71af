"""One name for several things, split into its webs: definitions that reach a common use, each with a name of its own.

Enters: the body of a function, and its parameters.  Leaves: the body in which every web but the first has a fresh name,
and the spelling of each, so that no fact about one is blurred by the other, and no answer depends on how variables are
spelt::

    for v in x:                                         for v in x:
        d[v] = v * 2.0                      ->              d[v] = v * 2.0
    for k, v in d.items():                              for k, v2 in d.items():
        s += k * v                                          s += k * v2             {"v2": "v"}

Where nothing is gained by it ``analysis.joining`` gives the webs of one spelling one name again.

Webs: Muchnick, Advanced Compiler Design and Implementation, 16.3.3.  They are found by definitions that reach uses,
forward over structured control flow; where an exception may be caught, from any point of what it is caught around.
Names that a function or generator inside reads later, and what patterns, imports, walruses in comprehensions,
``nonlocal`` and local classes bind, stay as they are spelt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import gast

from srcgrad.frontend.names import default_values, free_names
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, names_bound, walk

Definitions = frozenset[int]
_AT_ONCE = (all, any, dict, list, max, min, set, sorted, sum, tuple)
State = dict[str, Definitions]


def split(
    body: Sequence[gast.stmt], parameters: Iterable[str], meaning: Callable[[str], object], fresh: Callable[[str], str]
) -> tuple[list[gast.stmt], dict[str, str]]:
    """The body with a name for each web, and the spellings of those that are new; that of a parameter keeps its name,
    or else the first web.  ``meaning`` gives what a name means outside of the function."""
    parameters = frozenset(parameters)
    names = _bound_again(body, parameters)
    names -= _by_other_rules(body, meaning) if names else set()
    if not names:
        return list(body), {}
    found = _Webs(parameters, frozenset(names))
    found.block(body, found.entry)
    called: dict[int, str] = {found.root(definition): name for name, definition in found.given.items()}
    taken = set(called.values())
    spelt: dict[str, str] = {}
    for name, definition in found.order:
        root = found.root(definition)
        if root not in called:
            called[root] = name
            if name in taken:
                called[root] = fresh(name)
                spelt[called[root]] = name
            taken.add(name)

    def renamed(node: gast.AST) -> gast.expr | None:
        if not isinstance(node, gast.Name) or id(node) not in found.places:
            return None
        name = called[found.root(found.places[id(node)])]
        return None if name == node.id else gast.copy_location(gast.Name(name, node.ctx, None, None), node)

    return [rebuilt(statement, renamed) for statement in body] if spelt else list(body), spelt


def _bound_again(body: Sequence[gast.stmt], parameters: frozenset[str]) -> set[str]:
    """The names that are bound at more than one place."""
    counts = Counter(parameters)
    counts.update(
        node.id for node in walk(*body) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
    )
    return {name for name, count in counts.items() if count > 1}


def _by_other_rules(body: Sequence[gast.stmt], meaning: Callable[[str], object]) -> set[str]:
    """The names that are bound or read in ways that are not followed here."""
    found: set[str] = set()
    at_once: set[int] = set()  # generators that are consumed where they stand
    for node in walk(*body):
        match node:
            case gast.Call(func=gast.Name(id=name), args=[gast.GeneratorExp() as made, *_]):
                if any(meaning(name) is each for each in _AT_ONCE):
                    at_once.add(id(made))
            case gast.GeneratorExp() if id(node) in at_once:
                found.update(_walruses(node))
            case gast.FunctionDef() | gast.Lambda():
                found.update(free_names(node))
                found.add(getattr(node, "name", ""))
            case gast.ClassDef() | gast.GeneratorExp():
                found.update(part.id for part in walk(node) if isinstance(part, gast.Name))
                found.add(getattr(node, "name", ""))
            case gast.ListComp() | gast.SetComp() | gast.DictComp():
                found.update(_walruses(node))
            case gast.Global(names=names) | gast.Nonlocal(names=names):
                found.update(names)
            case gast.Import(names=aliases) | gast.ImportFrom(names=aliases):
                found.update((alias.asname or alias.name).partition(".")[0] for alias in aliases)
            case gast.match_case(pattern=pattern):
                found.update(n for part in walk(pattern) for n in vars(part).values() if isinstance(n, str))
    return found


def _walruses(node: gast.AST) -> Iterable[str]:
    return (part.target.id for part in walk(node) if isinstance(part, gast.NamedExpr))


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

    def __init__(self, parameters: frozenset[str], names: frozenset[str]) -> None:
        self.names = names
        self.parents: list[int] = []
        self.places: dict[int, int] = {}  # id of a name in the text -> a definition of its web
        self.order: list[tuple[str, int]] = []  # definitions in the order of the text
        self.given = {name: self._new() for name in sorted(parameters & names)}
        self.entry: State = {name: frozenset((definition,)) for name, definition in self.given.items()}
        self.heads: dict[int, State] = {}  # by loop: what has reached a pass of it, in an earlier pass of one around it
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
        self._reach(state)

    # --- expressions -------------------------------------------------------------------------------------------------
    def _visit(self, node: gast.AST | None, state: State, hidden: frozenset[str] = frozenset()) -> None:
        """What an expression reads and binds, in the order in which it is evaluated; ``hidden`` are the names that
        comprehensions around it bind for themselves."""
        match node:
            case None:
                return
            case GlobalReference():
                return
            case gast.Name(id=name):
                if name in self.names and name not in hidden:
                    if isinstance(node.ctx, gast.Store):
                        self._define(node, state)
                    else:
                        self._join(node, state.get(name, ()))
            case gast.NamedExpr(target=target, value=value):
                self._visit(value, state, hidden)
                self._visit(target, state, hidden)
            case gast.BoolOp(values=[first, *others]):
                self._visit(first, state, hidden)
                self._perhaps(others, state, hidden)
            case gast.Compare(left=left, comparators=[first, *others]):
                self._visit(left, state, hidden)
                self._visit(first, state, hidden)
                self._perhaps(others, state, hidden)
            case gast.IfExp(test=test, body=body, orelse=orelse):
                self._visit(test, state, hidden)
                other = dict(state)
                self._visit(body, state, hidden)
                self._visit(orelse, other, hidden)
                state.update(_merged(state, other) or {})
            case gast.FunctionDef(args=arguments) | gast.Lambda(args=arguments):
                for part in (*getattr(node, "decorator_list", ()), *default_values(arguments)):
                    self._visit(part, state, hidden)
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                self._visit(node.generators[0].iter, state, hidden)
                inside = hidden | names_bound(*(generator.target for generator in node.generators))
                for k, generator in enumerate(node.generators):
                    for part in (None if k == 0 else generator.iter, generator.target, *generator.ifs):
                        self._visit(part, state, inside)
                for part in (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,):
                    self._visit(part, state, inside)
            case _:
                for part in children(node):
                    self._visit(part, state, hidden)

    def _perhaps(self, parts: Sequence[gast.expr], state: State, hidden: frozenset[str]) -> None:
        """Expressions of which each is evaluated only after the one before it."""
        for part in parts:
            after = dict(state)
            self._visit(part, after, hidden)
            state.update(_merged(state, after) or {})

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
                        self._visit(item.optional_vars, state)
                self.caught.append(state)  # a manager may swallow what is raised inside
                after = self.block(body, state)
                return _merged(after, self.caught.pop())
            case gast.Try():
                return self._try(statement, state)
            case gast.AugAssign(target=gast.Name() as target, value=value) if target.id in self.names:
                read = state.get(target.id, ())
                self._visit(value, state)
                self._define(target, state)
                self._join(target, read)
            case gast.Assign(targets=targets, value=value):
                self._visit(value, state)
                for target in targets:
                    self._visit(target, state)
            case gast.AnnAssign(target=target, value=value):
                self._visit(value, state)
                if value is not None:
                    self._visit(target, state)
            case gast.Match(subject=subject, cases=cases):
                self._visit(subject, state)
                ends = []
                for case in cases:
                    here = dict(state)
                    self._visit(case.pattern, here)
                    self._visit(case.guard, here)
                    if case.guard is not None:  # which may bind a name and fail
                        state = _merged(state, here) or {}
                    ends.append(self.block(case.body, here))
                return _merged(state, *ends)
            case _:
                self._visit(statement, state)
        return state

    def _loop(self, statement: gast.For | gast.While, state: State) -> State | None:
        if isinstance(statement, gast.For):
            self._visit(statement.iter, state)
        head: State = _merged(state, self.heads.get(id(statement))) or {}
        while True:
            self.breaks.append(None)
            self.continues.append(None)
            inside = dict(head)
            if isinstance(statement, gast.For):
                self._visit(statement.target, inside)
            else:
                self._visit(statement.test, inside)
            end = self.block(statement.body, inside)
            left, again = self.breaks.pop(), _merged(end, self.continues.pop())
            grown = _merged(head, again)
            if grown == head:
                break
            assert grown is not None
            head = grown
        self.heads[id(statement)] = head
        leaving = dict(head)
        if isinstance(statement, gast.While):
            self._visit(statement.test, leaving)
        if statement.orelse and left is not None:
            leaving = _merged(leaving, left) or {}  # whether it was left by a break is a flag of the normal form
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
            self._visit(handler.name, inside)
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
