"""What goes into sets: it is of use, though no adjoint tells, since what is read from a set has none.

Enters: the statements of a function.  Leaves: the names whose values may be put into a set, here or in a callee that is
given one.  A number that lost its derivative on the way to such a name is refused like one that is returned::

    t = float(str(x))       t is put into seen
    seen.add(t)
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from srcgrad import runtime
from srcgrad.analysis.cfg import bound_here, stores_of, walk
from srcgrad.analysis.references import names_mentioned
from srcgrad.ir.normal_form import Append, Bind, Call, Function, SetField, Statement, Store, Unpack, Unruled
from srcgrad.rules.formula import object_of
from srcgrad.syntax.parse import names_read
from srcgrad.syntax.parse import walk as walk_expression


def touches_sets(statement: Statement) -> bool:
    """Whether a statement does something with a set, or calls a function that is given one."""
    match statement:
        case Bind(operation=Unruled(given=tuple())):
            return True
        case Bind(operation=Call(callee=callee)):
            return callee.instance is not None and callee.instance.may_hold_sets
    return False


def put_into_sets(statements: Sequence[Statement]) -> set[str]:
    """The names that what is put into a set may be made of, and the results of callees that may put something in."""
    touching = [s for s in statements if isinstance(s, Bind) and touches_sets(s)]
    kept = {name for statement in touching for name in names_read(statement.expression)}
    # A callee may put in what it reads itself, and return nothing of it.
    kept.update(statement.target for statement in touching if isinstance(statement.operation, Call))
    before = -1 if kept else 0
    while len(kept) != before:
        before = len(kept)
        for statement in statements:
            if kept.isdisjoint((*bound_here(statement), *stores_of(statement))):
                continue
            match statement:
                case Bind(expression=expression):
                    kept.update(names_read(expression))
                case Append(value=value) | SetField(value=value):
                    kept.update(names_read(value))
                case Store(index=index, value=value):
                    kept.update(names_read(index, value))
                case Unpack(source=source):
                    kept.add(source)
    return kept


def only_asked(function: Function, name: str) -> bool:
    """Whether nothing is read from a set that is made here: it grows, shrinks, and is asked what is in it."""
    return name not in function.parameters and not any(_reads(s, name) for s in walk(function.body))


def _reads(statement: Statement, name: str) -> bool:
    mentioned = names_mentioned(statement).count(name)
    if isinstance(statement, Bind) and statement.target == name and touches_sets(statement):
        mentioned -= 1
    for part in vars(statement).values():
        if mentioned and isinstance(part, gast.AST):
            mentioned -= sum(_asked(node) == name for node in walk_expression(part))
    return mentioned > 0


def _asked(node: gast.AST) -> str | None:
    """The set that an expression asks, or changes, without reading from it."""
    match node:
        case gast.Compare(ops=[gast.In() | gast.NotIn()], comparators=[gast.Name() as asked]):
            pass
        case gast.Call(func=gast.Attribute(value=gast.Name() as asked, attr="add" | "discard" | "remove" | "clear")):
            pass
        case gast.Call(func=func, args=[gast.Name() as asked]) if object_of(func) in (len, runtime.shadow):
            pass
        case _:
            return None
    return str(asked.id)
