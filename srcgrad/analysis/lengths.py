"""Loops over containers that may change their length meanwhile: a check at run time that they did not.

A loop over the items of a list makes as many passes as the list had items when it began; Python asks before every pass.
Enters: ``Function``, the facts about its names, whether a callee may change what it is given.  Leaves: the function, in
which every loop over what may grow or shrink inside of it is followed by a look at the length::

    for e in rows:                  t = len(rows)
        keep(rows, e)               for e in rows: ...
                                    require_length(rows, t, "model.py:4")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.changes import opened_by
from srcgrad.analysis.memory import related
from srcgrad.analysis.stores import Lowering
from srcgrad.frontend.normal_form import (
    Bind,
    Callee,
    Effect,
    Fixed,
    For,
    Function,
    Index,
    SetField,
    Statement,
    Store,
)
from srcgrad.rules.facts import Array, Fact, Unknown
from srcgrad.syntax.globals import builtin, call_runtime, reference
from srcgrad.syntax.parse import names_read


def lengths_kept(function: Function, facts: Mapping[str, Fact], changes: Callable[[Callee], bool]) -> Function:
    """The function with its checks; the same object where there are none."""
    loops = {s: _bases(s, facts) for s in walk(function.body) if isinstance(s, For)}
    if not any(loops.values()):
        return function
    opened = {s: names for s, names in opened_by(function, changes).items() if _may_change_length(s)}
    parameters = _given(function) if opened else frozenset()
    watched: dict[Statement, tuple[str, ...]] = {}
    for loop, bases in loops.items():
        changed = {name for s in walk(loop.body) for name in opened.get(s, ())}
        if not changed.isdisjoint(parameters):
            changed |= parameters  # two parameters may be one list
        if not changed.isdisjoint(bases):
            watched[loop] = tuple(base for base in bases if base in changed)
    return _Checks(function, facts, watched).function() if watched else function


def _given(function: Function) -> frozenset[str]:
    """The parameters, and the names that may hold what they hold."""
    kin = related(function)
    return frozenset().union(*(kin(name) for name in function.parameters))


def _bases(loop: For, facts: Mapping[str, Fact]) -> tuple[str, ...]:
    """What a loop reads its items from, arrays apart: they keep their length."""
    found: dict[str, None] = {}
    for statement in loop.reading:
        match statement:
            case Bind(operation=Index(base=base, index=index)) if loop.index in names_read(index):
                if not isinstance(facts.get(base, Unknown()), Array):
                    found[base] = None
    return tuple(found)


def _may_change_length(statement: Statement) -> bool:
    """Whether a statement that changes a container may change how many items it has."""
    match statement:
        case SetField():
            return False
        case Store(index=index):
            return not isinstance(index, gast.Constant | gast.BinOp | gast.UnaryOp)  # one item is replaced
    return True


class _Checks(Lowering):
    """Writes the checks around the loops that are watched."""

    def __init__(
        self, function: Function, facts: Mapping[str, Fact], watched: Mapping[Statement, tuple[str, ...]]
    ) -> None:
        super().__init__(function, facts)
        self.watched = watched

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if statement not in self.watched:
            return None
        counts = [(base, self.fresh()) for base in self.watched[statement]]
        span = statement.span
        len_of = reference(builtin("len"))
        lengths = [Bind(count, gast.Call(len_of, [_load(base)], []), Fixed(), span) for base, count in counts]
        place = gast.Constant(span.origin, None)
        asked = [call_runtime(runtime.require_length, _load(base), _load(count), place) for base, count in counts]
        return [*lengths, self.with_blocks(statement), *(Effect(gast.Expr(each), span) for each in asked)]


def _load(name: str) -> gast.Name:
    return gast.Name(name, gast.Load(), None, None)
