"""``match`` on constants as a chain of ``if``.

::

    match f(x):                      subject = f(x)
        case "a" | "b": s = x        if subject == "a" or subject == "b": s = x
        case None: s = -x      ->    elif subject is None: s = -x
        case _: s = 0.0              else: s = 0.0
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcgrad.errors import InternalError
from srcgrad.frontend.desugar.build import assign, branch, compare, constant, load, placed


def match_as_if(statement: gast.Match, fresh: Callable[[str], str]) -> list[gast.stmt]:
    """The chain; the subject is evaluated once.  Requires that the fence has admitted the patterns."""
    made: list[gast.stmt] = []
    if isinstance(statement.subject, gast.Name):
        subject = statement.subject.id
    else:
        subject = fresh("subject")
        made.append(assign(subject, statement.subject, statement))
    rest: list[gast.stmt] = []
    for case in reversed(statement.cases):
        test = _test(case.pattern, subject)
        if case.guard is not None:
            test = case.guard if test is None else placed(gast.BoolOp(gast.And(), [test, case.guard]), case.guard)
        rest = list(case.body) if test is None else [branch(test, case.body, rest, case.pattern)]
    return made + rest


def _test(pattern: gast.AST, subject: str) -> gast.expr | None:
    """The test of a pattern; None if it always matches."""
    match pattern:
        case gast.MatchValue(value=value):
            return compare(load(subject, pattern), gast.Eq(), value, pattern)
        case gast.MatchSingleton(value=value):
            return compare(load(subject, pattern), gast.Is(), constant(value, pattern), pattern)
        case gast.MatchAs(pattern=None, name=None):
            return None
        case gast.MatchOr(patterns=patterns):
            tests = [_test(inner, subject) for inner in patterns]
            known = [test for test in tests if test is not None]
            return None if len(known) < len(tests) else placed(gast.BoolOp(gast.Or(), known), pattern)
    raise InternalError(f"a pattern of class {type(pattern).__name__} passed the fence")
