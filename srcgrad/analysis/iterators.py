"""Iterators over the elements of arrays, ``y.flat``, while something is stored: each gives what is there by then.

An array of the same elements stands for the iterator.  It is a view where the array lies in memory row by row, and a
copy elsewhere, which does not see what is stored.  Enters: ``Function``, whether a callee may change what it is given.
Leaves: the function, in which an array is looked at where a loop over its elements, or a callee that is given the
iterator, may store into it::

    for v in y.flat:                t = np.ravel(y)
        y[-1] = v * v               require_rows(y, "model.py:3")
                                    for v in t: ...
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.changes import opened_by
from srcgrad.analysis.lengths import call_of, given
from srcgrad.analysis.stores import Lowering
from srcgrad.frontend.normal_form import (
    Bind,
    Call,
    Callee,
    Copy,
    Effect,
    For,
    Function,
    Index,
    Pack,
    Statement,
    Unpack,
)
from srcgrad.rules.facts import Fact
from srcgrad.syntax.marks import is_iterator
from srcgrad.syntax.parse import names_read


def elements_kept(function: Function, changes: Callable[[Callee], bool]) -> Function:
    """The function with its checks; the same object where there are none."""
    statements = walk(function.body)
    taken = [s for s in statements if isinstance(s, Bind) and is_iterator(s.expression)]
    if not taken:
        return function
    opened, parameters = opened_by(function, changes), given(function)
    watched: set[Statement] = set()
    for bind in taken:
        iterators = _names_of(bind.target, statements)
        same = parameters if bind.target in parameters else {bind.target}  # two parameters may be one array
        running = (s for s in statements if _runs(s, iterators))
        if any(not same.isdisjoint(opened.get(inner, ())) for s in running for inner in _inside(s)):
            watched.add(bind)
    return _Checks(function, watched).function() if watched else function


def _names_of(iterator: str, statements: tuple[Statement, ...]) -> set[str]:
    """The names that may hold an iterator, by itself or among other values."""
    names, before = {iterator}, 0
    while len(names) != before:
        before = len(names)
        for statement in statements:
            match statement:
                case Bind(target=target, operation=Copy() | Pack() | Index(), expression=expression):
                    if not names.isdisjoint(names_read(expression)):
                        names.add(target)
                case Unpack(targets=targets, source=source) if source in names:
                    names.update(targets)
    return names


def _runs(statement: Statement, iterators: set[str]) -> bool:
    """Whether a statement takes elements one by one, or lets a callee do it."""
    match statement:
        case For(reading=reading):
            read = [s.operation for s in reading if isinstance(s, Bind)]
            return any(isinstance(operation, Index) and operation.base in iterators for operation in read)
        case Bind(operation=Call(arguments=arguments)):
            return not iterators.isdisjoint(name for argument in arguments for name in names_read(argument))
    return False


def _inside(statement: Statement) -> tuple[Statement, ...]:
    return walk(statement.body) if isinstance(statement, For) else (statement,)


class _Checks(Lowering):
    """Writes the checks behind what stands for the iterators that are watched."""

    def __init__(self, function: Function, watched: set[Statement]) -> None:
        facts: dict[str, Fact] = {}
        super().__init__(function, facts)
        self.watched = watched

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if statement not in self.watched:
            return None
        assert isinstance(statement, Bind)
        assert isinstance(statement.expression, gast.Call)
        place = gast.Constant(statement.span.origin, None)
        check = call_of(runtime.require_rows, "srcgrad.runtime", statement.expression.args[0], place)
        return [statement, Effect(gast.Expr(check), statement.span)]
