"""Expressions of templates taken apart and put together: substitution, defaults, unrolled operands, ``math`` twins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import gast

from srcgrad.rules.calling import signature_of
from srcgrad.rules.formula import constant, literal, object_of
from srcgrad.runtime import if_floating, in_dtype
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import GlobalReference, reference
from srcgrad.syntax.parse import clone, walk


def read(name: str) -> gast.Name:
    """A read of a name of the template."""
    return gast.Name(name, gast.Load(), None, None)


def item(sequence: str, i: int) -> gast.expr:
    """``sequence[i]``."""
    return gast.Subscript(read(sequence), constant(i), gast.Load())


def locals_in(*expressions: gast.AST) -> list[str]:
    return [n.id for n in walk(*expressions) if isinstance(n, gast.Name) and not isinstance(n, GlobalReference)]


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of an expression, each node replaced by ``change(node)`` unless that is None, parents first; nodes
    without content (operators, contexts) are shared."""
    if not node._fields:
        return node
    made = change(node)
    if made is not None:
        return made
    if isinstance(node, gast.Name):
        return clone(node)
    kind: Any = type(node)
    made = kind.__new__(kind)
    here = made.__dict__
    here.update(node.__dict__)
    for name in node._fields:
        value = here.get(name)
        if isinstance(value, list):
            value = [rebuilt(item, change) if isinstance(item, gast.AST) else item for item in value]
        elif isinstance(value, gast.AST):
            value = rebuilt(value, change)
        here[name] = value
    return made


def substituted(expression: gast.expr, binding: Mapping[str, gast.expr]) -> Any:
    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in binding:
            found = binding[node.id]
            if isinstance(node.ctx, gast.Store):
                return gast.Name(found.id, gast.Store(), None, None) if isinstance(found, gast.Name) else None
            return clone(found)
        return None

    return rebuilt(expression, change)


def plain(expression: gast.expr) -> Any:
    """``(a, b)[0]``, which substitution makes, as ``a``."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Subscript(value=gast.Tuple(elts=elements), slice=gast.Constant(value=int() as i)):
                return elements[i]
        return None

    return rebuilt(expression, change)


def with_defaults(expression: gast.expr, absent: Mapping[str, gast.expr]) -> Any:
    """Defaults of the rule where nothing was given; an argument that says what its callee assumes is left out."""

    def is_absent(argument: gast.AST) -> bool:
        return isinstance(argument, gast.Name) and not isinstance(argument, GlobalReference) and argument.id in absent

    def is_default(argument: gast.AST, parameter: Any) -> bool:
        if not is_absent(argument):
            return False
        known, value = literal(absent[argument.id])
        return bool(
            known and parameter is not None and type(parameter.default) is type(value) and parameter.default == value
        )

    def trimmed(call: gast.Call) -> gast.Call | None:
        function = object_of(call.func)
        signature = None if function is None else signature_of(function)
        if signature is None:
            return None
        parameters = list(signature.parameters.values())
        keywords = [k for k in call.keywords if not is_default(k.value, signature.parameters.get(k.arg or ""))]
        args = list(call.args)
        if not keywords and len(args) <= len(parameters):
            while args and is_default(args[-1], parameters[len(args) - 1]):
                args.pop()
        if len(args) == len(call.args) and len(keywords) == len(call.keywords):
            return None
        return gast.Call(call.func, args, keywords)

    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Call):
            if object_of(node.func) in (if_floating, in_dtype) and is_absent(node.args[1]):
                return rebuilt(node.args[0], change)  # in its own dtype, floating if it varies at all
            shorter = trimmed(node)
            return None if shorter is None else rebuilt(shorter, change)
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in absent:
            return clone(absent[node.id])
        return None

    return rebuilt(expression, change)


def without_neutral(expression: gast.expr, absent: Mapping[str, gast.expr]) -> Any:
    """``x - loc`` as ``x`` where ``loc`` is not given and 0 by default, ``u / scale`` as ``u`` where ``scale`` is 1."""

    def is_absent(node: gast.AST, neutral: int) -> bool:
        if not isinstance(node, gast.Name) or isinstance(node, GlobalReference) or node.id not in absent:
            return False
        return literal(absent[node.id]) == (True, neutral)

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.BinOp(op=gast.Sub() | gast.Add(), left=left, right=right) if is_absent(right, 0):
                kept: gast.expr = rebuilt(left, change)
                return kept
            case gast.BinOp(op=gast.Mult() | gast.Div(), left=left, right=right) if is_absent(right, 1):
                kept = rebuilt(left, change)
                return kept
        return None

    return rebuilt(expression, change)


def unrolled(expression: gast.expr, variadic: str, display: gast.Tuple) -> Any:
    """``[e for x in operands]``, or with ``enumerate``, as the tuple of its items for a known number of operands.

    The operands stay ``operands[i]``: the caller's names come in with ``inline``, which keeps the two kinds apart.
    """

    def operand(i: int) -> gast.expr:
        return item(variadic, i)

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.ListComp(elt=elt, generators=[gast.comprehension(target=target, iter=source, ifs=[])]):
                match target, source:
                    case gast.Name(id=x), gast.Name(id=over) if over == variadic:
                        bindings = [{x: operand(i)} for i in range(len(display.elts))]
                    case gast.Tuple(elts=[gast.Name(id=i_), gast.Name(id=x)]), gast.Call(args=[gast.Name(id=over)]) if (
                        over == variadic
                    ):
                        bindings = [{i_: constant(i), x: operand(i)} for i in range(len(display.elts))]
                    case _:
                        return None
                items = [rebuilt(substituted(elt, binding), change) for binding in bindings]
                return gast.Tuple(items, gast.Load())
            case gast.Call(func=func, args=args, keywords=keywords) if any(_is_star_of(a, variadic) for a in args):
                made: list[gast.expr] = []
                for a in args:
                    made += (
                        [operand(i) for i in range(len(display.elts))]
                        if _is_star_of(a, variadic)
                        else [rebuilt(a, change)]
                    )
                return gast.Call(rebuilt(func, change), made, [rebuilt(k, change) for k in keywords])
        return None

    return rebuilt(expression, change)


def _is_star_of(node: gast.AST, name: str) -> bool:
    return isinstance(node, gast.Starred) and isinstance(node.value, gast.Name) and node.value.id == name


_TWINS = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", **{n: n for n in "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh pi e".split()},
}  # fmt: skip


_MATH = reference(GlobalBinding("math", math, "math", None))


def twins(expression: gast.expr) -> Any:
    """NumPy's functions of one number as those of ``math``."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Attribute(value=GlobalReference() as owner, attr=name) if (
                owner.binding.module == "numpy" and name in _TWINS
            ):
                return gast.Attribute(_MATH, _TWINS[name], gast.Load())
        return None

    return rebuilt(expression, change)
