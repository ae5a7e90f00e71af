"""The body of ``with no_grad():``: statements whose values carry no derivative.

Enters: statements of the normal form.  Leaves: the same, with ``stop_gradient`` around what they bind and store::

    with no_grad():                    scale = stop_gradient(np.max(t))
        scale = np.max(np.abs(x))  ->
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir import normal_form as nf
from srcgrad.rules.rewriting import rebuilt
from srcgrad.specialise.context import Context
from srcgrad.syntax.build import call_runtime, load
from srcgrad.syntax.globals import GlobalReference

_STOP = runtime.stop_gradient
_EXPRESSIONS = (nf.Apply, nf.Index, nf.Field, nf.Copy)


def stops_gradients(manager: object) -> bool:
    """Whether a class of context managers is ``no_grad``, of this package or of the eager module."""
    return isinstance(manager, type) and issubclass(manager, runtime.StopsGradients)


def without_gradients(context: Context, statements: tuple[Any, ...]) -> list[Any]:
    return [made for statement in statements for made in _without(context, statement)]


def _without(context: Context, statement: Any) -> list[Any]:
    match statement:
        case nf.Bind(inplace=True) | nf.AugStore():
            raise UnsupportedSyntax(
                "an augmented assignment under no_grad would change its value behind the derivative's back",
                statement.span, code="E0117", hint="write x = x + e, which makes a constant of x",
            )  # fmt: skip
        case nf.Bind(operation=nf.Fixed()):
            return [statement]
        case nf.Bind(operation=operation, expression=expression) if isinstance(operation, _EXPRESSIONS):
            return [replace(statement, expression=call_runtime(_STOP, [expression], expression), operation=nf.Fixed())]
        case nf.Bind(operation=nf.Call(arguments=arguments)):
            names = dict.fromkeys(argument.id for argument in arguments if isinstance(argument, gast.Name))
            before = {name: _stop(context.fresh(), name, statement) for name in names}
            return [*before.values(), _given(statement, before), _again(statement.target, statement)]
        case nf.Bind(target=target, operation=nf.Pack()):
            return [statement, _again(target, statement)]
        case nf.Unpack(targets=targets):
            return [statement, *(_again(target, statement) for target in targets)]
        case nf.Append() | nf.Store() | nf.SetField() | nf.Return():
            value = statement.value
            if not isinstance(value, gast.Name):
                return [statement]
            bind = _stop(context.fresh(), value.id, statement)
            return [bind, replace(statement, value=load(bind.target, value))]
        case nf.If(body=body, orelse=orelse):
            return [replace(statement, body=_block(context, body), orelse=_block(context, orelse))]
        case nf.For(body=body, elements=count):
            read, rest = body.statements[:count], body.statements[count:]
            stopped = [_again(name, each) for each in read for name in _names(each)]
            inside = nf.Block((*read, *stopped, *without_gradients(context, rest)))
            return [replace(statement, body=inside)]
        case nf.While(body=body) | nf.With(body=body):
            return [replace(statement, body=_block(context, body))]
        case nf.Effect() | nf.Break() | nf.Continue():
            return [statement]
    raise UnsupportedSyntax(
        "a change of an object under no_grad", statement.span, code="E0117", hint="do it outside of the block"
    )


def _block(context: Context, block: nf.Block) -> nf.Block:
    return nf.Block(tuple(without_gradients(context, block.statements)))


def _names(statement: Any) -> tuple[str, ...]:
    return statement.targets if isinstance(statement, nf.Unpack) else (statement.target,)


def _stop(target: str, name: str, statement: Any) -> nf.Bind:
    held = load(name, gast.Constant(None, None))
    return nf.Bind(target, call_runtime(_STOP, [held], held), nf.Fixed(), statement.span)


def _again(name: str, statement: Any) -> nf.Bind:
    return _stop(name, name, statement)


def _given(statement: nf.Bind, stopped: dict[str, nf.Bind]) -> nf.Bind:
    """A call that is given other variables."""

    def change(node: gast.AST) -> gast.expr | None:
        is_given = isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in stopped
        return load(stopped[node.id].target, node) if is_given else None

    assert isinstance(statement.operation, nf.Call)
    arguments = tuple(rebuilt(argument, change) for argument in statement.operation.arguments)
    operation = replace(statement.operation, arguments=arguments)
    return replace(statement, expression=rebuilt(statement.expression, change), operation=operation)
