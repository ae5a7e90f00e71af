"""Loop-else and tests that bind: what is left are loops without ``else`` whose test is an expression.

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

from srcgrad.frontend.desugar.build import assign, branch, constant, load, negation, placed, store, targets, with_bodies
from srcgrad.syntax.parse import walk


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


def endless(loop: gast.While) -> gast.While:
    """``while test: body`` as ``while True: if not test: break; body``, for a test that binds or calls.

    ``continue`` asks the test again in both.  Requires that loop-else is gone.
    """
    at = loop.test
    leave = branch(negation(loop.test, at), [placed(gast.Break(), at)], [], at)
    return with_bodies(loop, test=constant(True, at), body=[leave, *loop.body])


#: Calls of which each item has this many parts, or as many as the call has arguments.
_PARTS = {"zip": None, "enumerate": 2, "items": 2}


def unpacked_inside(loop: gast.For, fresh: Callable[[str], str]) -> gast.For:
    """The loop with items whose parts may not fit unpacked by statements of its body, so that they can be attempted."""
    target = loop.target
    if isinstance(target, gast.Name):
        return loop
    named = not any(isinstance(part, gast.Subscript | gast.Attribute | gast.Starred) for part in walk(target))
    match loop.iter:
        case gast.Call(func=gast.Name(id=name) | gast.Attribute(attr=name), args=given) if (
            named and name in _PARTS and len(target.elts) == (_PARTS[name] or len(given))
        ):
            first = next((k for k, part in enumerate(target.elts) if not isinstance(part, gast.Name)), len(target.elts))
            held = [*target.elts[:first], *[store(fresh("t"), loop) for _ in target.elts[first:]]]  # from left to right
            nested = [(part, name) for part, name in zip(target.elts, held, strict=True) if part is not name]
            whole: gast.expr = targets(held, target)
        case _:
            whole = store(fresh("t"), loop)
            nested = [(target, whole)]
    inside = [assign(part, load(name.id, loop), loop) for part, name in nested]
    return with_bodies(loop, target=whole, body=[*inside, *loop.body])
