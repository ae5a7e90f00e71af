"""What the ``__iter__`` of a class runs over, read off its text.

Enters: the method.  Leaves: the expression that it hands out item by item, and the name of the object in it::

    def __iter__(self):                         def __iter__(self):
        return iter(self.layers)                    yield from self.layers              self.layers, "self"
"""

from __future__ import annotations

from types import FunctionType

import gast

from srcgrad.errors import SourceUnavailable
from srcgrad.frontend.source import source_of
from srcgrad.syntax.parse import walk

_PLAIN = gast.Name | gast.Attribute | gast.Tuple | gast.List | gast.expr_context


def run_over(method: FunctionType) -> tuple[gast.expr, str] | None:
    """What a loop over an object runs over; None where the method does more than hand it on."""
    try:
        source = source_of(method)
    except SourceUnavailable:
        return None
    node = source.node
    if not isinstance(node, gast.FunctionDef) or len(node.args.args) != 1:
        return None
    this = str(node.args.args[0].id)
    body = node.body
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        body = body[1:]
    match body:
        case [gast.Return(value=gast.Call(func=gast.Name(id="iter"), args=[made], keywords=[]))]:
            binding = source.resolve("iter")
            if binding is None or binding.value is not iter:
                return None
        case [gast.Expr(value=gast.YieldFrom(value=made))]:
            pass
        case [gast.For(target=gast.Name(id=item), iter=made, body=[gast.Expr(value=gast.Yield(value=given))])] if (
            isinstance(given, gast.Name) and given.id == item and item != this
        ):
            pass
        case _:
            return None
    names = {inner.id for inner in walk(made) if isinstance(inner, gast.Name)}
    plain = all(isinstance(inner, _PLAIN) for inner in walk(made))
    return (made, this) if names <= {this} and plain else None
