"""Loops over containers that may change meanwhile: a check at run time that Python would not have noticed.

A loop over the items of a list makes as many passes as the list had items when it began; Python asks before every pass.
Of a dict, a set or a deque Python asks before every pass, and before it ends the loop, whether it has changed.
Enters: ``Function``, the facts about its names, whether a callee may change what it is given.  Leaves: the function, in
which every loop over what may grow or shrink inside of it is followed by a look at the length, or goes along with
Python's iterator; and in which no loop is marked (``walked``)::

    for e in rows:                  t = len(rows)
        keep(rows, e)               for e in rows: ...
                                    require_length(rows, t, "model.py:4")

    for k in d:                     walk = followed(d)
        put(d, k)                   for k in d:
                                        put(d, k)
                                        step(walk, "model.py:4")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, walk
from srcgrad.analysis.changes import opened_by
from srcgrad.analysis.memory import related
from srcgrad.analysis.stores import Lowering
from srcgrad.ir.normal_form import (
    AugStore,
    Bind,
    Block,
    Break,
    Callee,
    Continue,
    Effect,
    Fixed,
    For,
    Function,
    If,
    Index,
    Return,
    SetField,
    Statement,
    Store,
    Unruled,
    With,
)
from srcgrad.ir.walking import walked
from srcgrad.rules.facts import Array, Fact, Sequence, Unknown
from srcgrad.syntax.globals import builtin, call_runtime, reference
from srcgrad.syntax.parse import names_read

Facts = Mapping[str, Fact]


def lengths_kept(function: Function, facts: Facts, changes: Callable[[Callee], bool]) -> Function:
    """The function with its checks; the same object where there are none, and no marks."""
    statements = walk(function.body)
    marks = {s: mark for s in statements if (mark := walked(s)) is not None}
    loops = {s: _bases(s, facts) for s in statements if isinstance(s, For)}
    if not marks and not any(loops.values()):
        return function
    opened: dict[Statement, frozenset[str]] = dict(opened_by(function, changes))
    opened |= _sets_changed(function)
    parameters = _given(function) if opened else frozenset()
    holders: dict[str, set[str]] = {}  # items -> the containers that they are of
    for container, items in marks.values():
        holders.setdefault(items, set()).add(container)

    def changed_in(loop: For, counts: Callable[[Statement], bool]) -> frozenset[str]:
        counted = [s for s in walk(loop.body) if s in opened and not isinstance(s, SetField) and counts(s)]
        names = frozenset(name for s in counted for name in opened[s])
        return names if names.isdisjoint(parameters) else names | parameters  # two parameters may be one list

    watched: dict[Statement, tuple[str, ...]] = {}
    followed: dict[Statement, tuple[str, ...]] = {}
    for loop, bases in loops.items():
        marked = [name for name in _items(loop) if name in holders]
        theirs = {*marked}.union(*(holders[name] for name in marked))
        bases = tuple(base for base in bases if base not in theirs)
        names = changed_in(loop, _may_change_length)
        watched[loop] = tuple(base for base in bases if base in names)
        own = _own_keys(loop, holders)
        names = changed_in(loop, lambda s, own=own: _may_change_keys(s, own, facts))  # type: ignore[misc]
        followed[loop] = tuple(name for name in marked if not names.isdisjoint(holders[name]))
        names = changed_in(loop, lambda s: not isinstance(s, Store | AugStore))
        followed[loop] += tuple(base for base in bases if base in names and _may_be_deque(base, facts))
    return _Checks(function, facts, watched, followed, marks).function()


def _given(function: Function) -> frozenset[str]:
    """The parameters, and the names that may hold what they hold."""
    kin = related(function)
    return frozenset().union(*(kin(name) for name in function.parameters))


def _sets_changed(function: Function) -> dict[Statement, frozenset[str]]:
    """The statements that change sets, by the names of these."""
    kin = related(function)
    found: dict[Statement, frozenset[str]] = {}
    for statement in walk(function.body):
        match statement:
            case Bind(operation=Unruled(changes=str() as changed)):
                found[statement] = frozenset({changed}).union(kin(changed))
    return found


def _bases(loop: For, facts: Facts) -> tuple[str, ...]:
    """What a loop reads its items from, arrays apart: they keep their length."""
    inside = {name for statement in walk(loop.body) for name in bound_here(statement)}  # it is there before
    bases = dict.fromkeys(read.base for _, read in _reads(loop))
    return tuple(base for base in bases if base not in inside and not isinstance(facts.get(base), Array))


def _reads(loop: For) -> Iterator[tuple[str, Index]]:
    """The reads of the items that a loop goes over, with the names that are bound to them."""
    for statement in loop.reading:
        match statement:
            case Bind(target=target, operation=Index(index=index) as read) if loop.index in names_read(index):
                yield target, read


def _items(loop: For) -> list[str]:
    """What a loop may read its items from, or their keys, in order."""
    read = [name for _, item in _reads(loop) for name in (item.base, *names_read(item.index))]
    return list(dict.fromkeys(read if loop.counted else names_read(loop.iterable)))


def _own_keys(loop: For, holders: Mapping[str, set[str]]) -> frozenset[str]:
    """The names that hold a key of what the loop goes over, all through a pass."""
    bound = [s.target for s in walk(loop.body) if isinstance(s, Bind)]
    keys = {name for name, read in _reads(loop) if read.base in holders and bound.count(name) == 1}
    inner = {s.index for s in walk(loop.body) if isinstance(s, For)}
    return frozenset({loop.index} if not loop.counted and loop.index not in bound else keys) - inner


def _may_change_length(statement: Statement) -> bool:
    """Whether a statement that changes a container may change how many items it has."""
    match statement:
        case Store(index=index):
            return not isinstance(index, gast.Constant | gast.BinOp | gast.UnaryOp)  # one item is replaced
    return True


def _may_change_keys(statement: Statement, own: frozenset[str], facts: Facts) -> bool:
    """Whether a statement that changes a container may change which keys a dict has, or an item of a set."""
    match statement:
        case Store(base=base, index=index):
            place = isinstance(index, gast.Slice) or isinstance(index, gast.Constant) and index.value is Ellipsis
            own_key = isinstance(index, gast.Name) and index.id in own
            return not (place or own_key or isinstance(facts.get(base), Array | Sequence))
        case AugStore():
            return False  # what is there
    return True


def _may_be_deque(name: str, facts: Facts) -> bool:
    fact = facts.get(name, Unknown())
    return not (isinstance(fact, Sequence) and fact.kind in ("list", "tuple"))


class _Checks(Lowering):
    """Writes the checks around the loops that are watched, and into those that are followed."""

    def __init__(
        self,
        function: Function,
        facts: Facts,
        watched: Mapping[Statement, tuple[str, ...]],
        followed: Mapping[Statement, tuple[str, ...]],
        marks: Mapping[Statement, tuple[str, str]],
    ) -> None:
        super().__init__(function, facts)
        self.watched, self.followed, self.marks = watched, followed, marks
        named = {items for several in followed.values() for items in several}
        self.walks = {items: self.fresh("walk") for items in sorted(named)}
        self.marked = {items for _, items in marks.values()}

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if statement in self.marks:
            container, items = self.marks[statement]
            return [self._followed(container, items, statement)] if items in self.walks else []
        watched, followed = self.watched.get(statement, ()), self.followed.get(statement, ())
        if not watched and not followed:
            return None
        assert isinstance(statement, For)
        counts = [(base, self.fresh()) for base in watched]
        span = statement.span
        len_of = reference(builtin("len"))
        before = [Bind(count, gast.Call(len_of, [_load(base)], []), Fixed(), span) for base, count in counts]
        before += [self._followed(base, base, statement) for base in followed if base not in self.marked]
        place = gast.Constant(span.origin, None)
        asked = [call_runtime(runtime.require_length, _load(base), _load(count), place) for base, count in counts]
        loop = self.with_blocks(statement)
        assert isinstance(loop, For)
        steps = [call_runtime(runtime.step, _load(self.walks[base]), place) for base in followed]
        if steps:
            loop = replace(loop, body=_ended(loop.body, [Effect(gast.Expr(each), span) for each in steps]))
        return [*before, loop, *(Effect(gast.Expr(each), span) for each in asked)]

    def _followed(self, container: str, items: str, at: Statement) -> Bind:
        return Bind(self.walks[items], call_runtime(runtime.followed, _load(container)), Fixed(), at.span)


def _ended(block: Block, steps: list[Effect]) -> Block:
    """The body of a loop with these statements wherever a pass ends and the loop goes on."""
    out: list[Statement] = []
    for statement in block.statements:
        out += [*map(replace, steps), statement] if isinstance(statement, Continue) else [_inside(statement, steps)]
    return Block(tuple(out) if _leaves(block) else (*out, *steps))


def _inside(statement: Statement, steps: list[Effect]) -> Statement:
    """A statement of the body, with these statements before each ``continue`` inside of it."""
    match statement:
        case If(body=body, orelse=orelse):
            return replace(statement, body=_continued(body, steps), orelse=_continued(orelse, steps))
        case With(body=body):
            return replace(statement, body=_continued(body, steps))
    return statement


def _continued(block: Block, steps: list[Effect]) -> Block:
    out: list[Statement] = []
    for statement in block.statements:
        out += [*map(replace, steps), statement] if isinstance(statement, Continue) else [_inside(statement, steps)]
    return Block(tuple(out))


def _leaves(block: Block) -> bool:
    """Whether control never reaches the end of a block."""
    match block.statements[-1:]:
        case (Break() | Continue() | Return(),):
            return True
        case (If(body=body, orelse=orelse),):
            return _leaves(body) and _leaves(orelse)
    return False


def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)
