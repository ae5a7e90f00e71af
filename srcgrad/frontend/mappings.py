"""Which names hold dicts, by what is written of them: a loop over a dict runs over its keys, over all else by index.

Enters: the body of a function as its author wrote it.  Leaves: the names that are dicts, or nothing at all, wherever
they are bound (``mappings``), and those that are a dict here and something else there (``blurred``), which are told
apart (``frontend.webs``) before they are looked at::

    s = {"p": x}; s = y          ->       s = {"p": x}; s2 = y
    for v in s: ...                       for v in s2: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import gast

from srcgrad.frontend.names import bindings
from srcgrad.syntax.parse import walk

_PARTS = frozenset({"get", "items", "keys", "pop", "popitem", "setdefault", "values"})


def mappings(body: Sequence[gast.stmt], parameters: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names that are dicts, or nothing at all, by everything that is written of them.

    A parameter that is only bound to a dict somewhere may be anything elsewhere: ``if h is None: h = {}``.
    """
    displayed = parameters - frozenset(name for name, is_used in _with_evidence(body) if is_used)
    return _seeming(body) - blurred(body) - displayed


def blurred(body: Sequence[gast.stmt]) -> frozenset[str]:
    """The names that are dicts by some of what is written of them, and are bound to something else as well."""
    seeming = _seeming(body)
    return frozenset(name for name, value in bindings(*body) if name in seeming and not _keeps(value, name, seeming))


def _seeming(body: Sequence[gast.stmt]) -> frozenset[str]:
    """The names that are dicts somewhere: by their methods, by a display, by a key that is text; unless the program
    asks itself, which is answered for each branch when it runs."""
    return frozenset(name for name, _ in _with_evidence(body)) - frozenset(_asked(body))


def _asked(body: Sequence[gast.stmt]) -> Iterator[str]:
    for node in walk(*body):
        match node:
            case gast.Call(func=gast.Name(id="isinstance"), args=[gast.Name(id=name), _]):
                yield name


def _with_evidence(body: Sequence[gast.stmt]) -> Iterator[tuple[str, bool]]:
    """Names, and whether they are used as only dicts are; otherwise they are bound to one."""
    for node in walk(*body):
        match node:
            case gast.Attribute(value=gast.Name(id=name), attr="items" | "keys" | "values" | "get"):
                yield name, True
            case gast.Subscript(value=gast.Name(id=name), slice=gast.Constant(value=str())):
                yield name, True
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Dict() | gast.DictComp()):
                yield name, False


def _keeps(value: gast.AST | None, name: str, seeming: frozenset[str]) -> bool:
    """Whether a name that is a dict is one still when it is bound to this, as far as the text tells."""
    match value:
        case gast.Dict() | gast.DictComp() | gast.Constant(value=None) | gast.BinOp(op=gast.BitOr()):
            return True
        case gast.Name(id=other):
            return other in seeming
        case gast.IfExp(body=first, orelse=second):
            return _keeps(first, name, seeming) and _keeps(second, name, seeming)
        case gast.Call(func=gast.Name(id="dict")):
            return True
        case gast.Call(func=gast.Attribute(value=gast.Name(id=other), attr=attr)) if other == name:
            return attr not in _PARTS  # ``d = d.copy()`` is a dict, ``d = d.get("a")`` what the dict holds
        case gast.Call(func=gast.Name(id="list" | "reversed" | "set" | "sorted" | "tuple")):
            return False
        case gast.Call(args=arguments):
            return any(isinstance(argument, gast.Name) and argument.id == name for argument in arguments)
        case _:
            return False
