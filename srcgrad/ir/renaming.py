"""Other names in the normal form: of a statement, of what is inside of it, of an expression.

Enters: a statement and the new names.  Leaves: the statement with them, or itself where it mentions none::

    renamed(``v2 = d[k]``, {"v2": "v"})     ->      ``v = d[k]``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import gast

from srcgrad.ir.normal_form import (
    AddAt,
    Append,
    AugStore,
    Bind,
    Block,
    Copy,
    Delete,
    Exchange,
    Field,
    For,
    Index,
    Operation,
    Pop,
    SetField,
    Statement,
    Store,
    Unpack,
    Unruled,
    With,
)
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import clone, walk

Made = TypeVar("Made", bound=gast.AST)

#: Where statements and operations hold names by themselves; all others are in expressions.
_NAMES: dict[type, tuple[str, ...]] = {
    Bind: ("target",),
    Unpack: ("targets", "source"),
    Append: ("sequence",),
    Pop: ("targets", "sequence"),
    AddAt: ("buffer",),
    Store: ("base",),
    AugStore: ("base", "part", "result"),
    SetField: ("base",),
    Delete: ("base",),
    For: ("index",),
    With: ("given",),
    Copy: ("source",),
    Index: ("base",),
    Field: ("base",),
    Exchange: ("base",),
    Unruled: ("given", "changes"),
}


def renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    """The statement, with all inside of it, under other names."""
    return _renamed(statement, names)  # type: ignore[no-any-return]


def renamed_expression(expression: Made, names: Mapping[str, str]) -> Made:
    made = clone(expression)
    for node in walk(made):
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
            node.id = names.get(node.id, node.id)
    return made


def mentioned(part: object) -> set[str]:
    """The names that a part of a statement mentions, blocks inside apart."""
    found: set[str] = set()
    pending = [part]
    while pending:
        match pending.pop():
            case gast.AST() as node:
                found.update(
                    n.id for n in walk(node) if isinstance(n, gast.Name) and not isinstance(n, GlobalReference)
                )
            case tuple() as parts:
                pending += parts
            case dict() as parts:
                pending += parts.values()
            case Block():
                pass
            case here if isinstance(here, Statement | Operation):
                for name in _contents(type(here)):
                    value = getattr(here, name)
                    if name not in _NAMES.get(type(here), ()):
                        pending.append(value)
                    elif value is not None:
                        found.update((value,) if isinstance(value, str) else value)
    return found


def _contents(kind: type) -> tuple[str, ...]:
    return tuple(kind.__dataclass_fields__)  # type: ignore[attr-defined]


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    match part:
        case gast.AST():
            return renamed_expression(part, names) if any(_is_renamed(node, names) for node in walk(part)) else part
        case tuple():
            made: Any = tuple(_renamed(each, names) for each in part)
            return made if any(a is not b for a, b in zip(made, part, strict=True)) else part
        case dict():
            made = {key: _renamed(value, names) for key, value in part.items()}
            return made if any(made[key] is not part[key] for key in part) else part
        case Block(statements=statements):
            made = _renamed(statements, names)
            return part if made is statements else Block(made)
        case _ if isinstance(part, Statement | Operation):
            own, changed = _NAMES.get(type(part), ()), {}
            for name in _contents(type(part)):
                value = getattr(part, name)
                made = _in_place(value, names) if name in own else _renamed(value, names)
                if made is not value:
                    changed[name] = made
            return replace(part, **changed) if changed else part
    return part


def with_expressions(part: Any, change: Callable[[gast.AST], gast.AST]) -> Any:
    """A statement with other expressions, the blocks inside it apart."""
    match part:
        case gast.AST():
            return change(part)
        case tuple():
            return tuple(with_expressions(each, change) for each in part)
        case dict():
            return {key: with_expressions(value, change) for key, value in part.items()}
        case _ if isinstance(part, Statement | Operation):
            own = _NAMES.get(type(part), ())
            fields = {name: getattr(part, name) for name in _contents(type(part)) if name not in own}
            return replace(part, **{name: with_expressions(value, change) for name, value in fields.items()})
    return part


def _is_renamed(node: gast.AST, names: Mapping[str, str]) -> bool:
    return isinstance(node, gast.Name) and node.id in names and not isinstance(node, GlobalReference)


def _in_place(value: Any, names: Mapping[str, str]) -> Any:
    """A name, or several, as a statement holds them."""
    if isinstance(value, tuple):
        return tuple(names.get(name, name) for name in value) if any(name in names for name in value) else value
    return value if value is None else names.get(value, value)
