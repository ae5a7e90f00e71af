"""From the admitted tree to a smaller language: one feature per function, statements first.

Enters: the body of a function that the fence has admitted.  Leaves: statements without ``match``, loop-else, annotated,
chained or nested assignment, and, where nothing is duplicated, with a single trailing return.  Trees are never changed:
statements are made anew, expressions are shared.  Expressions that hold control flow (``desugar.expressions``) are
taken apart by ``frontend.expressions``, which knows what has been evaluated before them::

    for v in xs:                 broke = False
        a, b = b, a       ->     for v in xs:
    else:                            t = b; b = a; a = t
        a: float = 1.0           a = 1.0
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import gast

from srcgrad.frontend.desugar import assignment, attempts, exits, loops, matching
from srcgrad.frontend.desugar.build import with_bodies
from srcgrad.frontend.desugar.functional import undecorated
from srcgrad.frontend.desugar.remembering import remembering
from srcgrad.rules.formula import object_of
from srcgrad.syntax.parse import walk

__all__ = ["desugar"]


def desugar(
    body: Sequence[gast.stmt],
    fresh: Callable[[str], str],
    meaning: Callable[[str], object],
    *,
    nest_returns: bool = True,
) -> list[gast.stmt]:
    """The body of a function in the smaller language; ``fresh`` hands out names, ``meaning`` tells what those mean that
    the function binds nowhere."""
    closures = any(isinstance(node, gast.FunctionDef | gast.Lambda) for node in walk(*body))
    made = _Statements(fresh, closures, meaning, matching.mentions(*body)).block(body)
    return exits.nested_returns(made, fresh) if nest_returns else made


@dataclass(frozen=True)
class _Statements:
    fresh: Callable[[str], str]
    closures: bool
    meaning: Callable[[str], object]
    mentioned: Mapping[str, int]

    def block(self, body: Sequence[gast.stmt]) -> list[gast.stmt]:
        made: list[gast.stmt] = []
        for statement in body:
            made += self.statement(statement)
        return made

    def branches(self, statement: gast.If) -> gast.If:
        """``if`` and its ``elif``s, in a loop: a chain of hundreds is not nested in the user's text either."""
        chain = [statement]
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], gast.If):
            chain.append(chain[-1].orelse[0])
        orelse = self.block(chain[-1].orelse)
        for link in reversed(chain):
            orelse = [with_bodies(link, body=self.block(link.body), orelse=orelse)]
        return orelse[0]

    def statement(self, statement: gast.stmt) -> list[gast.stmt]:
        match statement:
            case gast.Pass():
                return []
            case gast.AnnAssign():
                return self.block(assignment.annotated(statement))
            case gast.FunctionDef(decorator_list=[only]) if object_of(only) is functools.cache:
                return remembering(statement, self.fresh)
            case gast.FunctionDef(decorator_list=[_, *_]):
                return undecorated(statement, self.fresh)
            case gast.Delete(targets=names):
                # A name may be forgotten; what it held lives on where the reverse sweep needs it.
                flat = [part for name in names for part in assignment.flattened(name)]
                kept = [target for target in flat if not isinstance(target, gast.Name)]
                return [with_bodies(statement, targets=kept)] if kept else []
            case gast.Try():
                return list(attempts.without_try(statement, self.block, self.fresh, self.meaning))
            case gast.Global() | gast.Nonlocal():
                return []  # of names that are only read, by the fence
            case gast.Assign():
                return assignment.plain(statement, self.fresh, closures=self.closures)
            case gast.Match():
                return self.block(matching.match_as_if(statement, self.fresh, self.mentioned))
            case gast.If():
                return [self.branches(statement)]
            case gast.With():
                return [with_bodies(statement, body=self.block(statement.body))]
            case gast.For() | gast.While():
                body, orelse = self.block(statement.body), self.block(statement.orelse)
                return loops.without_else(with_bodies(statement, body=body, orelse=orelse), self.fresh)
        return [statement]
