"""Operands: names and constants, and expressions that stay as they are, on names of the normal form; and
queries of the values of operands for expressions, operators and calls."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import Any, NoReturn

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import CAPTURED
from srcgrad.infer.heap import Site
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import CONTAINERS
from srcgrad.infer.values import (
    Array,
    At,
    Value,
)
from srcgrad.ir import normal_form as nf
from srcgrad.language.members import WRITERS
from srcgrad.rules.table import member_refusal
from srcgrad.specialise import sparse
from srcgrad.specialise.carrying import carries
from srcgrad.specialise.context import Context
from srcgrad.syntax.build import load, placed
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import walk

#: Containers whose items are read by ``Index``.
READ_BY_INDEX = (list, tuple, dict, deque, OrderedDict, defaultdict)
_INNER = {
    gast.ListComp: "a comprehension",
    gast.SetComp: "a comprehension",
    gast.Lambda: "a lambda",
    gast.NamedExpr: "a := b",
}
Made = tuple[gast.expr, nf.Operation]


def settled(context: Context, node: Any) -> Any:
    """An expression that stays as it is, on names of the normal form."""
    for part in walk(node):
        if isinstance(part, gast.GeneratorExp):
            refuse_generator(context)
        if isinstance(part, gast.ListComp | gast.Lambda | gast.NamedExpr | gast.SetComp):
            context.refuse("E0105", part, f"{_INNER[type(part)]} inside of this expression")
        match part:
            case gast.Name():
                sparse.require_whole(context, part)
            case gast.Attribute(value=base, attr=name):
                require_member(context, base, name)
            case gast.Call(keywords=keywords) if any(str(keyword.arg).startswith(CAPTURED) for keyword in keywords):
                context.refuse("E0106", part, "an object of a class of this function inside of this expression")
            case gast.Call(func=gast.Name(id="getattr"), args=[base, gast.Constant(value=str() as name), *_]):
                require_member(context, base, name)
    return _resolved(context, node)


def require_member(context: Context, base: Any, name: str) -> None:
    """Refuse an attribute that tells of the memory of an array: what is stored into lies elsewhere in a derivative."""
    if member_refusal(name) is not None and any(isinstance(each, Array) for each in context.value(base).atoms):
        context.refuse_member(base, name, "attribute")


def _resolved(context: Context, node: Any) -> Any:
    """Names of globals as references."""
    if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
        if not context.is_local(node) and isinstance(node.ctx, gast.Load):
            binding = context.source.resolve(node.id, context.span)
            return node if binding is None else reference(binding)
        return node
    if isinstance(node, gast.AST):
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, _resolved(context, value))
            elif isinstance(value, list):
                setattr(node, name, [_resolved(context, part) for part in value])
    return node


def atom(context: Context, node: Any) -> gast.expr:
    """A name or a constant."""
    match node:
        case None:
            return gast.Constant(None, None)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex() as number)):
            return placed(gast.Constant(-number, None), node)
        case gast.Constant():
            return node
        case gast.Name() if context.is_local(node):
            return node
    name = context.fresh()
    context.out.append(nf.Bind(name, *context.nested.operation(context, node), context.span))
    context.known[name] = context.value(node)
    return load(name, node)


def named(context: Context, node: Any) -> str:
    made = atom(context, node)
    if not isinstance(made, gast.Name):
        context.refuse("E0105", node, "a number or text in the place of an array")
    return str(made.id)


def refuse_generator(context: Context) -> NoReturn:
    raise UnsupportedSyntax(
        "a generator expression cannot be reversed here", context.span, code="E0103",
        label="this is evaluated later, item by item", hint="write a list: [... for ...]",
    )  # fmt: skip


def is_varied_container(context: Context, value: Value) -> bool:
    """Whether a value is a container of what may carry a derivative: what is made of it carries that too."""
    return carries(context.facts, value) and is_container(value)


def is_container(value: Value) -> bool:
    """Whether a value may be a container."""
    return any(
        isinstance(a, At)
        and isinstance(a.site.kind, type)
        and issubclass(a.site.kind, (*READ_BY_INDEX, set, frozenset))
        for a in value.atoms
    )


def is_of_arrays(name: str) -> bool:
    """Whether no built-in container has a method of this name: data that has it is an array or a number."""
    return not any(hasattr(kind, name) for kind in CONTAINERS)


def are_writers(value: Value) -> bool:
    """Whether a value writes text that no program reads: loggers and files."""
    return value.consists_of(lambda one: isinstance(one, At) and one.site.kind in WRITERS.values())


def is_spelled(node: Any) -> bool:
    """Whether an expression is a class or module, by its name."""
    return isinstance(node, GlobalReference) or isinstance(node, gast.Attribute) and is_spelled(node.value)


def may_be_object(value: Value) -> bool:
    """Whether a value may be an object of a class."""
    return value.is_any or any(
        isinstance(a, At) and (not isinstance(a.site, Site) or a.site.kind not in (*READ_BY_INDEX, None))
        and not is_named_tuple(a.site.kind) for a in value.atoms
    )  # fmt: skip
