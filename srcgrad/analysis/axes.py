"""A varied value where a function takes an axis: it was not an array whose method was called.

Enters: a function and its activity.  Leaves: nothing, or ``UnsupportedSyntax``; the function with a ``raise`` where not
every run comes to such a call.  ``a.sum(x)`` is the sum of the array ``a`` along the axis ``x``, unless ``a`` is a
module or another object with a method ``sum``: then its result would vary with ``x``, and a derivative of zero were
wrong without a word.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import gast

from srcgrad.analysis.activity import Activity
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.ending import ended
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import Apply, Bind, Function, Statement
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalReference

_PLACES = ("axis", "axes", "decimals")


def computes_axes(function: Function) -> bool:
    """Whether an axis of a call may vary, as far as can be told without activity."""
    return any(next(_names_of_axes(statement), None) is not None for statement in walk(function.body))


def varied_axes_ended(function: Function, activity: Activity) -> Function:
    """The function, which raises the refusal of calls whose axis varies where it comes to them, if it may not."""
    return ended(function, lambda statement: _refusal(statement, activity))


def refuse_varied_axes(function: Function, activity: Activity) -> None:
    """Refuse the first call whose axis varies."""
    for statement in walk(function.body):
        if (refusal := _refusal(statement, activity)) is not None:
            raise refusal


def _refusal(statement: Statement, activity: Activity) -> UnsupportedSyntax | None:
    names = list(_names_of_axes(statement))
    varied: Container[str] = activity.varied_before(statement) if names else ()
    if not isinstance(statement, Bind) or all(name not in varied for name in names):
        return None
    assert isinstance(statement.operation, Apply)
    return UnsupportedSyntax(
        f"the axis of {statement.operation.rule.name} varies: this may be no method of an array",
        statement.span, code="E0512",
        label="what this calls is not known",
        hint="call the function by its name; pass modules and functions as arguments of their own",
    )  # fmt: skip


def _names_of_axes(statement: Statement) -> Iterator[str]:
    match statement:
        case Bind(operation=Apply(rule=rule, arguments=arguments)):
            for place in _PLACES:
                if place in arguments and place not in rule.sensitive:
                    yield from _values(arguments[place])


def _values(node: gast.AST) -> Iterator[str]:
    """The names whose numbers an expression is made of; lengths, shapes and comparisons are not followed."""
    match node:
        case GlobalReference():
            return
        case gast.Name(id=name):
            yield name
        case gast.BinOp(left=left, right=right):
            yield from _values(left)
            yield from _values(right)
        case gast.UnaryOp(operand=operand):
            yield from _values(operand)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            for element in elements:
                yield from _values(element)
        case gast.Call(func=GlobalReference(binding=binding), args=arguments) if lookup(binding.value) is not None:
            for argument in arguments:
                yield from _values(argument)
        case gast.Call(func=gast.Attribute(value=GlobalReference() | gast.Attribute()), args=arguments):
            for argument in arguments:
                yield from _values(argument)
