"""``else`` of loops, which the normal form has not.

    for v in x:                  broke = False
        if v > 1.0:              for v in x:
            break                    if v > 1.0:
    else:                ->              broke = True
        s = 0.0                          break
                                 if not broke:
                                     s = 0.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcgrad.frontend.desugar.build import assign, constant, load, negation, placed
from srcgrad.specialise.context import Context


def without_else(context: Context, loop: Any, write: Callable[[Context, Any], None]) -> None:
    """Write a loop, and what follows it where it ends by itself."""
    orelse, loop.orelse = loop.orelse, []
    if not _breaks(loop.body):
        for statement in (loop, *orelse):
            write(context, statement)
        return
    flag = context.fresh("broke")
    loop.body = _noting(loop.body, flag)
    write(context, assign(flag, constant(False, loop), loop))
    write(context, loop)
    write(context, placed(gast.If(negation(load(flag, loop), loop), orelse, []), loop))


def _breaks(body: list[Any]) -> bool:
    """Whether statements leave the loop around them."""
    return any(isinstance(part, gast.Break) or _breaks(inner) for part in body for inner in [_own(part)])


def _own(statement: Any) -> list[Any]:
    """The statements inside of one that belong to the same loop."""
    match statement:
        case gast.If(body=body, orelse=orelse):
            return [*body, *orelse]
        case gast.With(body=body):
            return list(body)
        case gast.For(orelse=orelse) | gast.While(orelse=orelse):
            return list(orelse)
    return []


def _noting(body: list[Any], flag: str) -> list[Any]:
    """Statements that note that they leave the loop."""
    made: list[Any] = []
    for statement in body:
        match statement:
            case gast.Break():
                made.append(assign(flag, constant(True, statement), statement))
            case gast.If():
                statement.body, statement.orelse = _noting(statement.body, flag), _noting(statement.orelse, flag)
            case gast.With():
                statement.body = _noting(statement.body, flag)
            case gast.For() | gast.While():
                statement.orelse = _noting(statement.orelse, flag)
        made.append(statement)
    return made
