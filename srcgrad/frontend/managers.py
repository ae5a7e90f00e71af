"""Context managers of code that srcgrad has emitted, which is differentiated again, as they were before it was.

Enters: the tree of such a function.  Leaves: the tree, in which managers that the forward sweep alone enters stand in
the statement that enters them::

    manager = once(timer(log))                with timer(log) as clock:
    with manager:                                 y = f(x) * clock
        clock = entered(manager)       ->
        y = f(x) * clock

    manager = leaving(model)           ->     with leaving(model):
    with manager:                                 y = f(x)
        y = f(x)
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
            ) if name == held:
                function = _function(call, namespace)
                is_given, target, rest = _target(name, body, namespace)
                if function is runtime.once and not _is_tried(made, namespace) and uses[name] == 2 + is_given:
                    found.pop()
                    statement.items, statement.body = [gast.withitem(made, target)], rest
                elif function is runtime.leaving and uses[name] == 2:
                    found.pop()
                    statement.items = [gast.withitem(call, None)]
        found.append(statement)
    return found


def _is_tried(made: Any, namespace: Mapping[str, object]) -> bool:
    """Whether what a manager raises itself is looked at in the text."""
    return isinstance(made, gast.Call) and _function(made, namespace) is runtime.tried


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
