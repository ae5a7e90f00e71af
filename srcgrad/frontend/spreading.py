"""What is known of ``*args`` and ``**kwargs`` in a callee holds where they stay as they came.

Enters: how many items or which keys a call has packed, and the callee's body.  Leaves: those of names that the body
binds nowhere, and of dicts that it only reads::

    def g(**kw): return h(**kw)                   kw has the keys that g was called with
    def g(**kw): kw["w"] = 3.0; return h(**kw)    which it has is known when this runs
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import gast

from srcgrad.frontend.scope import Static
from srcgrad.syntax.parse import walk

Lengths: TypeAlias = Mapping[str, int | tuple[str, ...]]
_READING = frozenset({"get", "items", "keys", "values", "copy"})
_READERS = (bool, dict, len, list, print, set, sorted, tuple)


def lasting(
    lengths: Lengths, body: list[gast.stmt], static_of: Callable[[gast.AST], Static | None]
) -> dict[str, int | tuple[str, ...]]:
    """The part of ``lengths`` that holds wherever the body reads the name."""
    if not lengths:
        return {}
    only_read = {id(node) for parent in walk(*body) for node in _reads(parent, static_of)}
    lost: set[str] = set()
    for node in walk(*body):
        if isinstance(node, gast.Name) and node.id in lengths:
            grows = isinstance(lengths[node.id], tuple) and id(node) not in only_read
            if grows or not isinstance(node.ctx, gast.Load):
                lost.add(node.id)
    return {name: length for name, length in lengths.items() if name not in lost}


def _reads(node: gast.AST, static_of: Callable[[gast.AST], Static | None]) -> list[gast.expr]:
    """The operands of a node that it neither changes nor hands on."""
    match node:
        case gast.Subscript(ctx=gast.Load()) | gast.keyword(arg=None):
            return [node.value]
        case gast.Attribute() if node.attr in _READING:
            return [node.value]
        case gast.Call(func=gast.Name()):
            static = static_of(node.func)
            return node.args if static is not None and static.value in _READERS else []
        case gast.Dict():
            return [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        case gast.Compare():
            return [node.left, *node.comparators]
        case gast.For() | gast.comprehension():
            return [node.iter]
        case gast.If() | gast.While() | gast.IfExp():
            return [node.test]
        case gast.UnaryOp(op=gast.Not()):
            return [node.operand]
    return []
