"""Operations for calls that have no derivative rule (``unruled``).

Enters: a call of a function of a library.  Leaves: its expression, and ``Unruled`` where what it reads may vary::

    k = np.random.poisson(x[0])      Unruled: refused where x varies
"""

from __future__ import annotations

from typing import Any

from srcgrad.ir import normal_form as nf
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import Made, settled
from srcgrad.specialise.unruled import missing_rule
from srcgrad.syntax.parse import spelled, walk


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
