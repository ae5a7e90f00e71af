"""Returns that leave a loop of which few states are kept, as breaks with a return behind the loop.

Enters: a function in normal form with marks.  Leaves: the same without a return in a marked loop::

    for i in range(n):                      left, result = 0, None
        keeping(9, None)                    for i in range(n):
        s = s * x[i]                            keeping(9, None)
        if s > 1.0:                             s = s * x[i]
            return s                            if s > 1.0:
                                                    left, returned = 1, s
                                                    break
                                            if left:
                                                return returned
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.analysis.references import names_mentioned
from srcgrad.errors import Span
from srcgrad.ir.normal_form import Bind, Block, Break, Copy, Fixed, For, Function, If, Return, Statement, While, With
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import clone
from srcgrad.transform.build import constant, load
from srcgrad.transform.marked import numbers_of


def left_by_breaks(function: Function) -> Function:
    """The function, in which no return stands in a loop of which few states are kept."""
    if not any(map(_is_returned_from, walk(function.body))):
        return function
    namer = Namer([*function.parameters, *(n for s in walk(function.body) for n in names_mentioned(s))])
    leaving = _Leaving(namer.fresh("left"), namer.fresh("returned"))
    body = Block(tuple(made for s in function.body.statements for made in leaving.outside(s)))
    return replace(function, body=body, temporaries=function.temporaries | {leaving.left, leaving.result})


def _is_returned_from(statement: Statement) -> bool:
    return isinstance(statement, For | While) and numbers_of(statement) is not None and _returns(statement)


def _returns(statement: Statement) -> bool:
    body = getattr(statement, "body", None)
    return isinstance(body, Block) and any(isinstance(s, Return) for s in walk(body))


@dataclass(frozen=True)
class _Leaving:
    """Names of whether a loop was left by a return, and of what that returns."""

    left: str
    result: str

    def outside(self, statement: Statement) -> list[Statement]:
        """A statement outside of marked loops."""
        match statement:
            case For() | While() if _is_returned_from(statement):
                first = self._bound(constant(0), constant(None), statement.span)
                made = replace(statement, body=self._inside(statement.body))
                returned = Return(load(self.result), statement.span)
                return [*first, made, If(load(self.left), Block((returned,)), Block(()), statement.span)]
            case If():
                return [replace(statement, body=self._outside(statement.body), orelse=self._outside(statement.orelse))]
            case For() | While() | With():
                return [replace(statement, body=self._outside(statement.body))]
        return [statement]

    def _outside(self, block: Block) -> Block:
        return Block(tuple(made for s in block.statements for made in self.outside(s)))

    def _inside(self, block: Block) -> Block:
        """A block in a marked loop: a break ends each loop around what returned."""
        made: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Return(value=value, span=span):
                    made += [*self._bound(constant(1), value, span), Break(span)]
                case If(body=body, orelse=orelse):
                    made.append(replace(statement, body=self._inside(body), orelse=self._inside(orelse)))
                case With(body=body):
                    made.append(replace(statement, body=self._inside(body)))
                case For(body=body, span=span) | While(body=body, span=span):
                    made.append(replace(statement, body=self._inside(body)))
                    if _returns(statement):
                        made.append(If(load(self.left), Block((Break(span),)), Block(()), span))
                case _:
                    made.append(statement)
        return Block(tuple(made))

    def _bound(self, left: gast.expr, result: gast.expr, span: Span) -> list[Statement]:
        operation = Copy(result.id) if isinstance(result, gast.Name) else Fixed()
        return [Bind(self.left, left, Fixed(), span), Bind(self.result, clone(result), operation, span)]
