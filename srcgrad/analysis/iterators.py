"""Iterators over the elements of arrays, ``y.flat``, while something is stored: each gives what is there by then.

An array of the same elements stands for the iterator.  It is a view where the array lies in memory row by row, and a
copy elsewhere, which does not see what is stored.  Enters: ``Function``, the facts about its names, what callees do to
memory.  Leaves: the function, in which an array is looked at where a loop over its elements, or a callee that is given
the iterator, may store into it::

    for v in y.flat:                t = np.ravel(y)
        y[-1] = v * v               require_rows(y, "model.py:3")
                                    for v in t: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import stores_of, walk
from srcgrad.analysis.memory import memory_classes
from srcgrad.analysis.stores import Lowering
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.ir.normal_form import (
    Append,
    Bind,
    Call,
    Callee,
    Copy,
    Effect,
    For,
    Function,
    Index,
    Pack,
    Pop,
    SetField,
    Statement,
    Unpack,
)
from srcgrad.rules.facts import Fact, Unknown
from srcgrad.rules.facts import Mapping as FactOfMapping
from srcgrad.rules.facts import Object as FactOfObject
from srcgrad.rules.facts import Sequence as FactOfSequence
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import is_iterator
from srcgrad.syntax.parse import names_read


def elements_kept(
    function: Function, facts: Mapping[str, Fact], summary_of: Callable[[Callee, tuple[Fact, ...]], Summary]
) -> Function:
    """The function with its checks; the same object where there are none."""
    statements = walk(function.body)
    taken = [s for s in statements if isinstance(s, Bind) and is_iterator(s.expression)]
    if not taken:
        return function
    classes = memory_classes(function, facts, summary_of)

    def stored(statement: Statement) -> tuple[str, ...]:
        match statement:
            case Bind(operation=Call(callee=callee, arguments=arguments)):
                known = tuple(fact_of_expression(a, lambda name: facts.get(name, Unknown())) for a in arguments)
                return tuple(n for j in summary_of(callee, known).stored for n in names_read(arguments[j]))
            case Bind(target=target, inplace=True):
                return (target,)
            case Append() | Pop() | SetField():
                return ()  # these change no array
        containers = FactOfSequence | FactOfMapping | FactOfObject
        return tuple(name for name in stores_of(statement) if not isinstance(facts.get(name), containers))

    watched: set[Statement] = set()
    for bind in taken:
        iterators, memory = _names_of(bind.target, statements), classes.members(bind.target)
        running = (s for s in statements if _runs(s, iterators))
        if any(not memory.isdisjoint(stored(inner)) for s in running for inner in _inside(s)):
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
        check = call_runtime(runtime.require_rows, statement.expression.args[0], place)
        return [statement, Effect(gast.Expr(check), statement.span)]
