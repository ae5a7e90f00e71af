"""What carries no derivative because the program says so: ``x.detach()`` and the body of ``with no_grad():``.

Both mean ``stop_gradient``, written around the values that they keep constant::

    with no_grad():                    scale = stop_gradient(np.max(np.abs(x)))
        scale = np.max(np.abs(x))  ->
    y = x.detach() / scale             y = stop_gradient(x) / scale
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import call, placed, with_bodies
from srcgrad.language import effects
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.parse import walk

Refuse = Callable[[gast.AST, str, str], Exception]

_STOP = of_runtime(runtime.stop_gradient)
_THROUGH = frozenset({"zip", "enumerate", "reversed"})  # iterators of what they are given
_READING = effects.returning(dict, "view")


def stops_gradients(manager: object) -> bool:
    """Whether a context manager is ``no_grad``, of this package or of the eager module."""
    return isinstance(manager, type) and issubclass(manager, runtime.StopsGradients)


def stopped(value: gast.expr) -> gast.expr:
    """``stop_gradient(value)``; a literal stays as it is."""
    if isinstance(value, gast.Constant):
        return value
    if isinstance(value, gast.Tuple | gast.List):
        return placed(type(value)([stopped(element) for element in value.elts], gast.Load()), value)
    return call(reference(_STOP), [value], value)


def detached(body: Sequence[gast.stmt]) -> list[gast.stmt]:
    """The body of a function with ``stop_gradient(x)`` for every ``x.detach()``."""

    def change(node: gast.AST) -> gast.expr | None:
        if not _detaches(node):
            return None
        return call(reference(_STOP), [rebuilt(node.func.value, change)], node)

    return [rebuilt(s, change) if any(map(_detaches, walk(s))) else s for s in body]


def _detaches(node: gast.AST) -> bool:
    match node:
        case gast.Call(func=gast.Attribute(attr="detach"), args=[], keywords=[]):
            return True
    return False


def without_gradients(body: Sequence[gast.stmt], refuse: Refuse) -> list[gast.stmt]:
    """The body of ``with no_grad():`` as statements whose values carry no derivative."""
    return [_without(statement, refuse) for statement in body]


def _without(statement: gast.stmt, refuse: Refuse) -> gast.stmt:
    match statement:
        case gast.Assign(targets=targets, value=value):
            return placed(gast.Assign(list(targets), stopped(value), None), statement)
        case gast.AugAssign():
            reason = "an augmented assignment under no_grad would change its value behind the derivative's back"
            raise refuse(statement, reason, "write x = x + e, which makes a constant of x")
        case gast.Return(value=value) if value is not None:
            return placed(gast.Return(stopped(value)), statement)
        case gast.If():
            inner, orelse = without_gradients(statement.body, refuse), without_gradients(statement.orelse, refuse)
            return with_bodies(statement, body=inner, orelse=orelse)
        case gast.While() | gast.With():
            return with_bodies(statement, body=without_gradients(statement.body, refuse))
        case gast.For():
            made = without_gradients(statement.body, refuse)
            return with_bodies(statement, iter=_iterated(statement.iter), body=made)
        case gast.Expr(value=gast.Call(func=gast.Name(id="print")) | gast.Constant()):
            return statement
        case gast.Expr():
            raise refuse(statement, "a call for its effect under no_grad", "call it outside of the block")
    return statement


def _iterated(iterable: gast.expr) -> gast.expr:
    """What a loop runs over, its elements constant; a ``range`` has numbers without a derivative anyway."""
    match iterable:
        case gast.Call(func=gast.Name(id="range")):
            return iterable
        case gast.Call(func=gast.Name(id=name), args=args, keywords=keywords) if name in _THROUGH:
            return placed(gast.Call(iterable.func, [_iterated(a) for a in args], list(keywords)), iterable)
        case gast.Call(func=gast.Attribute(attr=name) as member, args=[], keywords=[]) if name in _READING:
            owner = placed(gast.Attribute(stopped(member.value), name, gast.Load()), member)
            return placed(gast.Call(owner, [], []), iterable)
    return stopped(iterable)
