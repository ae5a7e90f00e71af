"""The nodes of a restored function that are its own: what inner functions consist of is left out.

>>> import gast
>>> body = gast.parse("g = lambda a, b=x: a").body
>>> [node.id for node in nodes_of(body) if isinstance(node, gast.Name)]
['g', 'x']
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from srcgrad.ir.operations import Version
from srcgrad.ir.restoring.tree import Branch, Copies, Inner
from srcgrad.syntax.parse import BELOW

#: The nodes of which not all fields are looked into.
_APART = frozenset((gast.FunctionDef, gast.ClassDef, gast.Lambda, gast.alias, gast.Constant))


def nodes_of(part: Any) -> Iterable[Any]:
    """The nodes and statements of a function, those of inner functions left out."""
    pending = [part]
    while pending:
        here = pending.pop()
        if here.__class__ is list:
            pending += here[::-1]
            continue
        if here is None or isinstance(here, str | int | float | complex | bytes | Version):
            continue
        yield here
        if here.__class__ not in _APART and isinstance(here, gast.AST) and "shape" not in here.__dict__:
            held = here.__dict__
            fields = BELOW[here.__class__]
            pending += [held.get(field) for field in (here._fields[::-1] if fields is None else fields)]
            continue
        match here:
            case Copies(values=values):
                pending += values[::-1]
            case Branch(test=test, body=body, orelse=orelse):
                pending += [orelse, body, test]
            case Inner(body=body):
                pending.append(body)
            case gast.AST() if hasattr(here, "shape"):
                pending.append(here.shape)
            case gast.FunctionDef():
                pending += [here.target, *outside(here)[::-1]]
            case gast.ClassDef():
                pending += [here.target, *outside(here)[::-1]]
            case gast.Lambda():
                pending += outside(here)[::-1]
            case gast.alias():
                pending.append(here.target)


def outside(node: Any) -> list[Any]:
    """What of a definition is evaluated around it, in order."""
    if isinstance(node, gast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    given = node.args
    parameters = [*given.args, *given.posonlyargs, given.vararg, *given.kwonlyargs, given.kwarg]
    annotations = [p.annotation for p in parameters if p is not None and p.annotation is not None]
    parts = [*given.defaults, *filter(None, given.kw_defaults), *annotations]
    return [*getattr(node, "decorator_list", []), *parts, *filter(None, [getattr(node, "returns", None)])]
