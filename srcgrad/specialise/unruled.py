"""Calls that have no derivative rule: constants while nothing that they read varies, and refused where it does.

Enters: a call of a function of a library that changes nothing, and keeps nothing that it is given.  Leaves: its
operation, which is refused with what can be written instead::

    k = np.random.poisson(3.0)       a constant, drawn once
    k = np.random.poisson(x[0])      refused: a count varies with its parameters by jumps
"""

from __future__ import annotations

from typing import Any

from srcgrad.errors import MissingRule
from srcgrad.frontend import normal_form as nf
from srcgrad.frontend.callees import spelled
from srcgrad.rules.table import refusal
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.context import Context
from srcgrad.specialise.expressions import Made, settled
from srcgrad.syntax.parse import walk


def unruled(
    context: Context, node: Any, name: str | None = None, function: object = None, *, hint: str | None = None,
    draws: bool = False,
) -> Made:  # fmt: skip
    """``draws``: its results are memory of their own.  Raises ``UnsupportedSyntax`` where it is not known whether what
    it reads varies: nothing that carries a derivative reads it."""
    expression, name = settled(context, node), spelled(node.func) if name is None else name
    locals_ = [part for part in walk(node) if context.is_local(part)]
    if not locals_:
        return expression, nf.Fixed()
    if any(context.is_fixed(part) and carries(context.facts, context.value(part)) for part in locals_):
        context.refuse(node, f"a call of {name}")
    declared = refusal(function)
    if declared is not None:
        message, advice = f"{name} has no derivative: {declared.reason}", declared.hint
    else:
        message, advice = f"there is no derivative rule for {name}", hint or (
            f"write one: @srcgrad.rule({name}) above the adjoint of {name.rsplit('.', 1)[-1]},\n"
            f"or declare srcgrad.constant({name}) if it has no derivative"
        )
    error = MissingRule(message, context.span, label="its argument varies", hint=advice)
    return expression, nf.Unruled(error, draws)
