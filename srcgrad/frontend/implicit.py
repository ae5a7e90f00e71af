"""Methods that Python calls where no call is written: for ``len(o)``, ``if o``, ``v in o``, ``f"{o}"``.

They are not read where they only answer.  One that stores into its object does more: what it stores had no derivative,
and the call might be left out where nobody needs the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import FunctionType

import gast

from srcgrad.errors import SrcgradError
from srcgrad.frontend.callees import CHANGES
from srcgrad.frontend.classes import found
from srcgrad.frontend.source import source_of
from srcgrad.syntax.parse import walk

_IMPLICIT = """
__len__ __length_hint__ __bool__ __contains__ __eq__ __ne__ __hash__
__index__ __int__ __str__ __repr__ __format__
""".split()


@cache
def storing_method(kind: type) -> str | None:
    """The first of these methods of a class that stores into its object, itself or by another of its methods."""
    return next((name for name in _IMPLICIT if _stores(kind, name, frozenset())), None)


def _stores(kind: type, name: str, around: frozenset[str]) -> bool:
    raw = found(kind, name)
    if not isinstance(raw, FunctionType) or name in around or raw.__code__.co_filename == "<string>":
        return False
    try:
        node = source_of(raw).node
    except (SrcgradError, OSError):
        return False
    own = [*node.args.posonlyargs, *node.args.args]
    return bool(own) and any(
        stored or _stores(kind, called, around | {name}) for stored, called in _changes(node, own[0].id)
    )


def _changes(node: gast.AST, this: str) -> Iterator[tuple[bool, str]]:
    """Stores into what ``this`` holds, and the methods of ``this`` that are called."""
    for inner in walk(node):
        match inner:
            case gast.Attribute(ctx=gast.Store() | gast.Del()) | gast.Subscript(ctx=gast.Store() | gast.Del()):
                if _is_held_by(inner, this):
                    yield True, ""
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) if name == this:
                yield False, attr
            case gast.Call(func=gast.Attribute(value=base, attr=attr)) if attr in CHANGES and _is_held_by(base, this):
                yield True, ""


def _is_held_by(node: gast.AST, this: str) -> bool:
    """Whether an expression is a field of ``this``, or lies in one."""
    fields = 0
    while isinstance(node, gast.Attribute | gast.Subscript):
        fields += isinstance(node, gast.Attribute)
        node = node.value
    return fields > 0 and isinstance(node, gast.Name) and node.id == this
