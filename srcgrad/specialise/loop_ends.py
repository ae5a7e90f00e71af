"""Loop-else: what is left are loops without ``else``.

::

    for v in xs:                     broke = False
        if v > 1:                    for v in xs:
            break             ->         if v > 1:
    else:                                    broke = True
        s = 0.0                              break
                                     if not broke:
                                         s = 0.0
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.syntax.build import assign, branch, constant, load, negation, with_bodies


def without_else(loop: gast.For | gast.While, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """Loop-else as a flag that every ``break`` of this loop sets; without a ``break`` the else part just follows."""
    if not loop.orelse:
        return [loop]
    if not breaks(loop.body):
        return [with_bodies(loop, orelse=[]), *loop.orelse]
    flag = fresh("broke")
    at = loop.orelse[0]
    return [
        assign(flag, constant(False, loop), loop),
        with_bodies(loop, body=_flagged(loop.body, flag), orelse=[]),
        branch(negation(load(flag, at), at), loop.orelse, [], at),
    ]


def breaks(body: list[gast.stmt]) -> bool:
    """Whether a ``break`` in these statements leaves the loop that they are the body of."""
    pending = list(body)
    while pending:
        statement = pending.pop()
        match statement:
            case gast.Break():
                return True
            case gast.If(body=inner, orelse=other):
                pending += [*inner, *other]
            case gast.For(orelse=other) | gast.While(orelse=other):
                pending += other
            case gast.With(body=inner):
                pending += inner
    return False


def _flagged(body: list[gast.stmt], flag: str) -> list[gast.stmt]:
    made: list[gast.stmt] = []
    for statement in body:
        match statement:
            case gast.Break():
                made += [assign(flag, constant(True, statement), statement), statement]
            case gast.If():
                made.append(
                    with_bodies(statement, body=_flagged(statement.body, flag), orelse=_flagged(statement.orelse, flag))
                )
            case gast.For() | gast.While():
                made.append(with_bodies(statement, orelse=_flagged(statement.orelse, flag)))
            case gast.With():
                made.append(with_bodies(statement, body=_flagged(statement.body, flag)))
            case _:
                made.append(statement)
    return made
