"""What the text of a statement or a call stores into, as far as names tell: no class is known yet."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from srcgrad.language import effects

#: Functions that update their first argument, by the names that are given to nothing else.
STORES = effects.names_of("bisect", "heapq", "numpy", "numpy.random", "operator")
#: Methods that update their object.
CHANGES = effects.updating()
_BY_FUNCTION = STORES | {"at", "setattr", "delattr", "__setattr__", "__delattr__"}


def stored_in(node: gast.AST) -> Iterator[gast.expr]:
    """What a node itself changes: targets that are not mere names, and what is given to a function that stores."""
    match node:
        case gast.Attribute(ctx=gast.Store() | gast.Del()) | gast.Subscript(ctx=gast.Store() | gast.Del()):
            yield node.value
        case gast.AugAssign(target=gast.Name() as target):
            yield target
        case gast.Call(func=func, args=args, keywords=keywords):
            match func:
                case gast.Attribute(value=base, attr=attr) if attr in CHANGES:
                    yield base
                case gast.Attribute(attr=name) | gast.Name(id=name) if name in _BY_FUNCTION:
                    yield from args[:1]
            yield from (keyword.value for keyword in keywords if keyword.arg == "out")


def root_of(node: gast.AST) -> str | None:
    """The name at the root of ``y[i].a[j]``, and of a view ``y.T`` or ``y.ravel()``."""
    while True:
        match node:
            case gast.Attribute(value=inner) | gast.Subscript(value=inner) | gast.Starred(value=inner):
                node = inner
            case gast.Call(func=gast.Attribute(value=inner)) | gast.Call(func=gast.Name(id="vars"), args=[inner]):
                node = inner
            case _:
                return node.id if isinstance(node, gast.Name) else None
