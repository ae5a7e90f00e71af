"""Early returns outside loops as nested branches with one return at the end.

::

    if c:                        if c:
        return a         ->          value = a
    s = b * 2                    else:
    return s                         s = b * 2
                                     value = s
                                 return value

Nothing is duplicated: where the statements that follow would have to be copied into more than one branch, where a
return stands inside a loop, or where the nesting would grow deeper than ``DEPTH``, the returns stay.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.specialise.loop_ends import breaks
from srcgrad.syntax.build import assign, branch, constant, load, placed, with_bodies

DEPTH = 8


class _Stays(Exception):
    """The returns of this function cannot be nested."""


def nested_returns(body: list[gast.stmt], fresh: Callable[[str], str]) -> list[gast.stmt]:
    """The body with a single trailing return, or the body itself."""
    if _returns_only_at_end(body):
        return body
    try:
        _refuse_loops(body)
        name = fresh("value")
        made = _nest(body, name, DEPTH)
    except _Stays:
        return body
    last = made[-1] if made else body[-1]
    return [*made, placed(gast.Return(load(name, last)), last)]


def _returns_only_at_end(body: list[gast.stmt]) -> bool:
    return not any(_contains_return(statement) for statement in body[:-1]) and (
        not body or isinstance(body[-1], gast.Return) or not _contains_return(body[-1])
    )


def _contains_return(root: gast.stmt) -> bool:
    pending: list[gast.stmt] = [root]
    while pending:
        statement = pending.pop()
        match statement:
            case gast.Return():
                return True
            case gast.If(body=body, orelse=orelse) | gast.For(body=body, orelse=orelse):
                pending += [*body, *orelse]
            case gast.While(body=body, orelse=orelse):
                pending += [*body, *orelse]
            case gast.With(body=body):
                pending += body
    return False


def _refuse_loops(body: list[gast.stmt]) -> None:
    pending = list(body)
    while pending:
        statement = pending.pop()
        match statement:
            case gast.If(body=inner, orelse=orelse):
                pending += [*inner, *orelse]
            case gast.With(body=inner):
                pending += inner
            case gast.For() | gast.While():
                if _contains_return(statement):
                    raise _Stays


def ends(body: list[gast.stmt]) -> bool:
    """Whether control never falls off the end of these statements."""
    pending = [body]
    while pending:
        match pending.pop():
            case [*_, gast.Return() | gast.Raise()]:
                continue
            case [*_, gast.If(body=inner, orelse=orelse)]:
                pending += [inner, orelse]
            case [*_, gast.With(body=inner)]:
                pending.append(inner)
            case [*_, gast.While(test=gast.Constant(value=True), body=inner)] if not breaks(inner):
                continue
            case _:
                return False
    return True


def _nest(body: list[gast.stmt], name: str, depth: int) -> list[gast.stmt]:
    """The statements with every return replaced by an assignment; control falls off the end exactly once."""
    if depth < 0:
        raise _Stays
    made: list[gast.stmt] = []
    for position, statement in enumerate(body):
        match statement:
            case gast.Return(value=value):
                made.append(assign(name, constant(None, statement) if value is None else value, statement))
                return made
            case gast.If() if _contains_return(statement):
                rest = body[position + 1 :]
                first, second = statement.body, statement.orelse
                if ends(first):
                    second = [*second, *rest]
                elif ends(second):
                    first = [*first, *rest]
                elif rest:
                    raise _Stays
                made.append(
                    branch(statement.test, _nest(first, name, depth - 1), _nest(second, name, depth - 1), statement)
                )
                return made
            case gast.With() if _contains_return(statement):
                if not ends(statement.body):
                    raise _Stays
                made.append(with_bodies(statement, body=_nest(statement.body, name, depth)))
                return made
            case _:
                made.append(statement)
    if not ends(body):
        at = body[-1] if body else None
        if at is None:
            raise _Stays
        made.append(assign(name, constant(None, at), at))
    return made
