"""Nodes that the compiler makes; every one of them takes the place of the user's node ``at``.

>>> at = gast.parse("pass").body[0]
>>> gast.unparse(assign("broke", constant(True, at), at)).strip()
'broke = True'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, TypeVar

import gast

from srcgrad.syntax.globals import builtin, of_runtime, reference

Node = TypeVar("Node", bound=gast.AST)

#: Where a node stands; ``comes_from`` is the statement of the user's that one of the IR's was made of.
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset", "comes_from")


def placed(node: Node, at: gast.AST) -> Node:
    """``node`` itself, put at the place of ``at``."""
    here, there = node.__dict__, at.__dict__
    for name in _PLACE:
        if name in there:
            here[name] = there[name]
    return node


def distinct(keys: Sequence[Any], values: Sequence[gast.expr]) -> tuple[tuple[Any, ...], tuple[gast.expr, ...]]:
    """Constant keys of a display, each once, with their values: of equal ones the first key is there, with the last
    value."""
    held: dict[object, tuple[Any, gast.expr]] = {}
    for key, value in zip(keys, values, strict=True):
        held[key.value] = held[key.value][0] if key.value in held else key, value
    return tuple(key for key, _ in held.values()), tuple(value for _, value in held.values())


def load(name: str, at: gast.AST) -> gast.Name:
    return placed(gast.Name(name, gast.Load(), None, None), at)


def store(name: str, at: gast.AST) -> gast.Name:
    return placed(gast.Name(name, gast.Store(), None, None), at)


def constant(value: object, at: gast.AST) -> gast.Constant:
    return placed(gast.Constant(value, None), at)


def assign(target: str | gast.expr, value: gast.expr, at: gast.AST) -> gast.Assign:
    node = store(target, at) if isinstance(target, str) else target
    return placed(gast.Assign([node], value, None), at)


def tuple_of(elements: Sequence[gast.expr], at: gast.AST) -> gast.Tuple:
    return placed(gast.Tuple(list(elements), gast.Load()), at)


def negation(test: gast.expr, at: gast.AST) -> gast.expr:
    """``not test``; a negation of a negation is the test itself."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        operand: gast.expr = test.operand
        return operand
    return placed(gast.UnaryOp(gast.Not(), test), at)


def binary(left: gast.expr, operator: gast.operator, right: gast.expr, at: gast.AST) -> gast.BinOp:
    return placed(gast.BinOp(left, operator, right), at)


def compare(left: gast.expr, operator: gast.cmpop, right: gast.expr, at: gast.AST) -> gast.Compare:
    return placed(gast.Compare(left, [operator], [right]), at)


def subscript(value: gast.expr, index: gast.expr, at: gast.AST) -> gast.Subscript:
    return placed(gast.Subscript(value, index, gast.Load()), at)


def call(function: gast.expr, arguments: Sequence[gast.expr], at: gast.AST) -> gast.Call:
    return placed(gast.Call(function, list(arguments), []), at)


def call_builtin(name: str, arguments: Sequence[gast.expr], at: gast.AST) -> gast.Call:
    """A call of a builtin, whatever the user's names mean."""
    return call(reference(builtin(name)), arguments, at)


def index_value(index: gast.expr) -> gast.expr:
    """An index as a value: slices spelled as calls."""
    if isinstance(index, gast.Tuple):
        return tuple_of(list(map(index_value, index.elts)), index)
    if not isinstance(index, gast.Slice):
        return index
    none = constant(None, index)
    return call_builtin("slice", [index.lower or none, index.upper or none, index.step or none], index)


def call_runtime(function: Callable[..., object], arguments: Sequence[gast.expr], at: gast.AST) -> gast.Call:
    """A call of a function of the runtime."""
    return call(reference(of_runtime(function)), arguments, at)


def method_call(receiver: gast.expr, name: str, arguments: Sequence[gast.expr], at: gast.AST) -> gast.Call:
    return call(placed(gast.Attribute(receiver, name, gast.Load()), at), arguments, at)


def branch(
    test: gast.expr, body: Iterable[gast.stmt], orelse: Iterable[gast.stmt], at: gast.AST
) -> gast.If:
    """An ``if``; an empty body becomes ``pass``."""
    return placed(gast.If(test, list(body) or [placed(gast.Pass(), at)], list(orelse)), at)


def with_bodies(node: Node, **bodies: object) -> Node:
    """A copy of a compound statement with some of its fields replaced; the other fields are shared."""
    made = copy(node)
    for name, body in bodies.items():
        setattr(made, name, body)
    return made
