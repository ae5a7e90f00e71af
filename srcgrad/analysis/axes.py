"""A varied value where a function takes an axis: it was not an array whose method was called.

Enters: a function and its activity.  Leaves: nothing, or ``UnsupportedSyntax``.  ``a.sum(x)`` is the sum of the array
``a`` along the axis ``x``, unless ``a`` is a module or another object with a method ``sum``: then its result would vary
with ``x``, and a derivative of zero were wrong without a word.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import gast

from srcgrad.analysis.activity import Activity
from srcgrad.analysis.cfg import walk
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import Apply, Bind, Function
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalReference

_PLACES = ("axis", "axes", "decimals")


def refuse_varied_axes(function: Function, activity: Activity) -> None:
    """Refuse the first call whose axis varies."""
    for statement in walk(function.body):
        match statement:
            case Bind(operation=Apply(rule=rule, arguments=arguments)):
                places = [arguments[p] for p in _PLACES if p in arguments and p not in rule.sensitive]
                varied: Container[str] = activity.varied_before(statement)
                if any(name in varied for place in places for name in _values(place)):
                    raise UnsupportedSyntax(
                        f"the axis of {rule.name} varies: this may be no method of an array",
                        statement.span, code="E0512",
                        label="what this calls is not known",
                        hint="call the function by its name; pass modules and functions as arguments of their own",
                    )


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
