"""What is known of ``*args``, ``**kwargs`` and dicts that are written out holds where they stay as they came.

Enters: how many items or which keys a call has packed, and the callee's body.  Leaves: those of names that the body
binds nowhere, and of dicts that it only reads, after it has put in and taken out what it always does::

    def g(**kw): return h(**kw)                             kw has the keys that g was called with
    def g(**kw): kw.setdefault("w", 3.0); return h(**kw)    these, and "w"
    def g(**kw): if c: kw["w"] = 3.0; return h(**kw)        which it has is known when this runs
    def g(x): kw = {"w": x}; return h(**kw)                 kw has "w"

``spread`` writes a call's ``**`` of known keys as keywords.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import gast

from srcgrad.frontend.desugar.build import constant, placed
from srcgrad.frontend.scope import Scope
from srcgrad.language import effects
from srcgrad.syntax.parse import walk

Lengths: TypeAlias = Mapping[str, int | tuple[str, ...]]
_READING = effects.reading(dict)
_READERS = {reader.__name__: reader for reader in (bool, dict, len, list, print, set, sorted, tuple)}


def spread(keywords: Sequence[gast.keyword], lengths: Lengths) -> list[gast.keyword]:
    """The keywords of a call, those of dicts of known keys by name; where one is given twice, as they came."""
    made: list[gast.keyword] = []
    for keyword in keywords:
        value = keyword.value
        keys = lengths.get(value.id) if isinstance(value, gast.Name) else None
        written = _keys_of(value) if isinstance(value, gast.Dict) else None
        if keyword.arg is not None:
            made.append(keyword)
        elif written is not None:
            made += [placed(gast.keyword(k, v), v) for k, v in zip(written, value.values, strict=True)]
        elif isinstance(keys, tuple):
            reads = [placed(gast.Subscript(value, constant(key, value), gast.Load()), value) for key in keys]
            made += [placed(gast.keyword(key, read), read) for key, read in zip(keys, reads, strict=True)]
        else:
            made.append(keyword)
    given = Counter(keyword.arg for keyword in made if keyword.arg is not None)
    return list(keywords) if any(count > 1 for count in given.values()) else made


def _keys_of(display: gast.Dict) -> tuple[str, ...] | None:
    """The keys of a dict that is written out, where they are different words."""
    keys = [key.value for key in display.keys if isinstance(key, gast.Constant) and isinstance(key.value, str)]
    return tuple(keys) if len(keys) == len(display.keys) == len(set(keys)) else None


def _keys_made(value: gast.expr, scope: Scope) -> tuple[str, ...] | None:
    """The keys of ``{"w": x}`` and ``dict(w=x)``."""
    match value:
        case gast.Dict():
            return _keys_of(value)
        case gast.Call(func=gast.Name(id="dict"), args=[]) if all(k.arg is not None for k in value.keywords):
            static = scope.static_of(value.func)
            return tuple(k.arg for k in value.keywords) if static is not None and static.value is dict else None
    return None


def lasting(lengths: Lengths, scope: Scope) -> dict[str, int | tuple[str, ...]]:
    """The part of ``lengths``, and of dicts that are written out, that holds wherever the body reads the name."""
    body = scope.body
    made: dict[str, int | tuple[str, ...]] = {}
    known = [(name, length, body) for name, length in lengths.items()]
    known += _written_out(body, scope)
    if not known:
        return made
    bound = {node.id for node in walk(*body) if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}

    def is_reader(function: gast.Name) -> bool:
        if function.id in bound or function.id not in _READERS:
            return False  # it may mean something else in a function inside of this one
        static = scope.static_of(function)
        return static is not None and static.value is _READERS[function.id]

    only_read = {id(node) for parent in walk(*body) for node in _reads(parent, is_reader)}
    for name, length, rest in known:
        if isinstance(length, tuple):
            length, rest = _settled(name, length, rest)
        named = [node for node in walk(*rest) if isinstance(node, gast.Name) and node.id == name]
        grows = isinstance(length, tuple) and any(id(node) not in only_read for node in named)
        if not grows and all(isinstance(node.ctx, gast.Load) for node in named):
            made[name] = length
    return made


def _written_out(body: list[gast.stmt], scope: Scope) -> list[tuple[str, int | tuple[str, ...], list[gast.stmt]]]:
    """The dicts that a statement of the body writes out: name, keys, and the statements after it.

    The name is bound nowhere else, and first mentioned there.
    """
    made: list[tuple[str, int | tuple[str, ...], list[gast.stmt]]] = []
    mentioned = Counter[str]()
    for place, statement in enumerate(body):
        mentioned.update(node.id for node in walk(statement) if isinstance(node, gast.Name))
        match statement:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if scope.only_value(name) is value:
                keys = _keys_made(value, scope)
                if keys is not None and mentioned[name] == 1:
                    made.append((name, keys, body[place + 1 :]))
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


def _reads(node: gast.AST, is_reader: Callable[[gast.Name], bool]) -> list[gast.expr]:
    """The operands of a node that it neither changes nor hands on."""
    match node:
        case gast.Subscript(ctx=gast.Load()) | gast.keyword(arg=None):
            return [node.value]
        case gast.Attribute() if node.attr in _READING:
            return [node.value]
        case gast.Call(func=gast.Name()):
            return node.args if is_reader(node.func) else []
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
