"""What is known of ``*args`` and ``**kwargs`` in a callee holds where they stay as they came.

Enters: how many items or which keys a call has packed, and the callee's body.  Leaves: those of names that the body
binds nowhere, and of dicts that it only reads, after it has put in and taken out what it always does::

    def g(**kw): return h(**kw)                             kw has the keys that g was called with
    def g(**kw): kw.setdefault("w", 3.0); return h(**kw)    these, and "w"
    def g(**kw): if c: kw["w"] = 3.0; return h(**kw)        which it has is known when this runs
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
    made: dict[str, int | tuple[str, ...]] = {}
    for name, length in lengths.items():
        rest: list[gast.stmt] = body
        if isinstance(length, tuple):
            length, rest = _settled(name, length, body)
        named = [node for node in walk(*rest) if isinstance(node, gast.Name) and node.id == name]
        grows = isinstance(length, tuple) and any(id(node) not in only_read for node in named)
        if not grows and all(isinstance(node.ctx, gast.Load) for node in named):
            made[name] = length
    return made


def _settled(name: str, keys: tuple[str, ...], body: list[gast.stmt]) -> tuple[tuple[str, ...], list[gast.stmt]]:
    """The keys of a dict when the body has put in and taken out what it always does, and the rest of the body."""
    first = 0
    for place, statement in enumerate(body):
        mentions = sum(isinstance(node, gast.Name) and node.id == name for node in walk(statement))
        changed = _changed(name, keys, statement) if mentions == 1 else None
        if changed is not None:
            keys, first = changed, place + 1
        elif mentions:
            break
    return keys, body[first:]


def _changed(name: str, keys: tuple[str, ...], statement: gast.stmt) -> tuple[str, ...] | None:
    """The keys after a statement that puts in or takes out one."""
    match statement:
        case (
            gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=base), attr=attr)) as made)
            | gast.Assign(value=gast.Call(func=gast.Attribute(value=gast.Name(id=base), attr=attr)) as made)
        ) if base == name and made.args and not made.keywords:
            key = made.args[0].value if isinstance(made.args[0], gast.Constant) else None
            is_pop = attr == "pop" and (len(made.args) == 2 or key in keys)
            if not isinstance(key, str) or not (is_pop or attr == "setdefault"):
                return None
        case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=base), slice=gast.Constant(value=str() as key))]):
            is_pop = False
        case gast.Delete(targets=[gast.Subscript(value=gast.Name(id=base), slice=gast.Constant(value=str() as key))]):
            is_pop = True
        case _:
            return None
    if base != name:
        return None
    return tuple(k for k in keys if k != key) if is_pop else keys if key in keys else (*keys, key)


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
