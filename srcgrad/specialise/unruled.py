"""Calls that have no derivative rule: constants while nothing that they read varies, and refused where it does.

Enters: a call of a function of a library that changes nothing, and keeps nothing that it is given.  Leaves: its
operation, which is refused with what can be written instead::

    k = np.random.poisson(3.0)       a constant, drawn once
    k = np.random.poisson(x[0])      refused: a count varies with its parameters by jumps
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcgrad.errors import MissingRule, Span
from srcgrad.infer.values import Bound, are_of
from srcgrad.ir import normal_form as nf
from srcgrad.language.effects import method
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import refusal
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.context import Context
from srcgrad.specialise.expressions import Made, settled
from srcgrad.syntax.parse import spelled, walk

#: Classes of generators of random numbers.
GENERATORS = (np.random.Generator, np.random.RandomState)


def is_drawing(bound: Bound) -> bool:
    """Whether a method is one of a generator of random numbers, and gives new ones."""
    return method(bound.name).draws and are_of(bound.receiver, *GENERATORS)


def names_given(node: gast.Call) -> list[str]:
    """The names of the arguments that may be arrays: SciPy takes a dtype as the output."""
    return [str(k.arg) for k in node.keywords if k.arg is not None and not isinstance(object_of(k.value), type)]


def unruled(
    context: Context, node: Any, name: str | None = None, function: object = None, *, hint: str | None = None,
    draws: bool = False,
) -> Made:  # fmt: skip
    """``draws``: its results are memory of their own.  Raises ``UnsupportedSyntax`` where it is not known whether what
    it reads varies: nothing that carries a derivative reads it."""
    expression, name = settled(context, node), spelled(node.func) if name is None else name
    if not any(map(context.is_local, walk(node))):
        return expression, nf.Fixed()
    given = [*node.args, *node.keywords] if draws else [node]  # the generator that draws is no number
    read = [part for each in given for part in walk(each) if context.is_local(part)]
    if any(context.is_fixed(part) and carries(context.facts, context.value(part)) for part in read):
        context.refuse("E0501", node, f"a call of {name}")
    return expression, nf.Unruled(missing_rule(name, function, context.span, hint), draws)


def missing_rule(name: str, function: object, span: Span, hint: str | None = None) -> MissingRule:
    """What is said of a function without a rule."""
    declared = refusal(function)
    if declared is not None:
        code, message, advice = declared.code, f"{name} has no derivative: {declared.reason}", declared.hint
    else:
        code, message, advice = "E0501", f"there is no derivative rule for {name}", hint or (
            f"write one: @srcgrad.rule({name}) above the adjoint of {name.rsplit('.', 1)[-1]},\n"
            f"or declare srcgrad.constant({name}) if it has no derivative"
        )
    return MissingRule(message, span, code=code, label="its argument varies", hint=advice)
