"""Context managers of code that srcgrad has emitted, which is differentiated again, as they were before it was.

Enters: the tree of such a function.  Leaves: the tree, in which managers that the forward sweep alone enters stand in
the statement that enters them::

    manager = once(timer(log))                with timer(log) as clock:
    with manager:                                 y = f(x) * clock
        clock = entered(manager)       ->
        y = f(x) * clock
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.syntax.parse import walk


def as_entered(tree: Any, namespace: Mapping[str, object]) -> None:
    """Put the managers of a tree back where they are entered; each has a name that nothing else reads."""
    uses = Counter(node.id for node in walk(tree) if isinstance(node, gast.Name))
    for node in walk(tree):
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                block[:] = _put_back(block, uses, namespace)


def _put_back(block: list[Any], uses: Counter[str], namespace: Mapping[str, object]) -> list[Any]:
    found: list[Any] = []
    for statement in block:
        match found[-1:], statement:
            case (
                [gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(args=[made], keywords=[]) as call)],
                gast.With(items=[gast.withitem(context_expr=gast.Name(id=held), optional_vars=None)], body=body),
            ) if name == held and _function(call, namespace) is runtime.once and (
                not isinstance(made, gast.Call) or _function(made, namespace) is not runtime.tried
            ):
                is_given, target, rest = _target(name, body, namespace)
                if uses[name] == 2 + is_given:
                    found.pop()
                    statement.items, statement.body = [gast.withitem(made, target)], rest
        found.append(statement)
    return found


def _target(name: str, body: list[Any], namespace: Mapping[str, object]) -> tuple[bool, Any, list[Any]]:
    """Whether what the manager gives is asked for, the variable that gets it, and the statements after that."""
    target = None
    match body[0]:
        case gast.Assign(targets=[target], value=gast.Call(args=[gast.Name(id=held)]) as call):
            pass
        case gast.Expr(value=gast.Call(args=[gast.Name(id=held)]) as call):
            pass
        case _:
            return False, None, body
    if held != name or _function(call, namespace) is not runtime.entered:
        return False, None, body
    return True, target, body[1:] or [gast.copy_location(gast.Pass(), body[0])]


def _function(call: gast.Call, namespace: Mapping[str, object]) -> object:
    match call.func:
        case gast.Name(id=name):
            return namespace.get(name)
        case gast.Attribute(value=gast.Name(id=module), attr=name) if namespace.get(module) is runtime:
            return getattr(runtime, name, None)
    return None
