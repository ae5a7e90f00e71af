"""What stands on a statement's own line, found in one walk.

Enters: a statement.  Leaves: a ``Scan``: for each local name the places where it is read, so that another expression
can be put there; the names that are stored; whether anything is called.  Bodies of compound statements are not looked
into: what is there has scans of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children

COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try)
ANYTHING, PLAIN, NOTHING = 2, 1, 0


@dataclass(slots=True)
class Site:
    """One read: ``parent.field`` (or its item ``index``), on the line of ``owner``.

    ``rank`` says what may stand there.  ANYTHING: it is evaluated exactly once.  PLAIN, only a name or literal: the
    place is evaluated under a condition or again and again, is the object that a store or a method call changes, or is
    part of an f-string.  NOTHING may replace the name that a lambda or comprehension evaluates later or repeatedly.
    """

    parent: Any
    field: str
    index: int | None
    rank: int
    owner: gast.stmt

    def put(self, expression: gast.expr) -> None:
        if self.index is None:
            setattr(self.parent, self.field, expression)
        else:
            getattr(self.parent, self.field)[self.index] = expression


@dataclass(slots=True)
class Scan:
    """Of one statement's own line."""

    sites: dict[str, list[Site]] = field(default_factory=dict)  # reads, in the order of evaluation
    stores: list[str] = field(default_factory=list)  # every local name in a binding position
    foreign: set[str] = field(default_factory=set)  # names in lambdas, and what comprehensions bind
    references: list[GlobalReference] = field(default_factory=list)
    size: Size | None = None  # where it was asked for
    calls: bool = False
    odd: bool = False  # binds or suspends inside an expression, or takes items out of what may be an iterator


_HEADERS: dict[type, tuple[str, ...]] = {
    gast.Assign: ("value", "targets"),
    gast.AugAssign: ("target", "value"),
    gast.AnnAssign: ("value", "target"),
    gast.Expr: ("value",),
    gast.Return: ("value",),
    gast.Assert: ("test", "msg"),
    gast.Raise: ("exc", "cause"),
    gast.If: ("test",),
    gast.While: ("test",),
    gast.For: ("iter", "target"),
    gast.With: ("items",),
    gast.Delete: ("targets",),
}
_SKIPPED = frozenset("ctx op ops kind type_comment annotation attr arg is_async conversion".split())
_BELOW: dict[type, tuple[str, ...]] = {}
_ODD = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)
_REPEATED = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def header_fields(statement: gast.stmt) -> tuple[str, ...]:
    """The fields of a statement that stand on its own line."""
    return _HEADERS.get(type(statement), ())


def fields_below(kind: type) -> tuple[str, ...]:
    """The fields of a node class that hold expressions, last first."""
    found = _BELOW.get(kind)
    if found is None:
        fields: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        found = _BELOW[kind] = tuple(name for name in reversed(fields) if name not in _SKIPPED)
    return found


def searches(node: gast.Compare) -> bool:
    """Whether ``in`` may take items out of what it looks into, as it does of an iterator."""
    return any(
        isinstance(op, gast.In | gast.NotIn) and not isinstance(container, _DISPLAYS)
        for op, container in zip(node.ops, node.comparators, strict=True)
    )


_DISPLAYS = gast.Constant | gast.Tuple | gast.List | gast.Set | gast.Dict


def scan(statement: gast.stmt) -> Scan:
    """Walk one line."""
    result = Scan()
    pending: list[tuple[Any, str, int | None, Any, int]] = []
    for name in reversed(header_fields(statement)):
        repeated = isinstance(statement, gast.While) or name == "msg"
        _push(pending, statement, name, PLAIN if repeated else ANYTHING)
    while pending:
        parent, name, index, node, rank = pending.pop()
        kind = type(node)
        if kind is gast.Name:
            if type(node.ctx) is gast.Load:
                result.sites.setdefault(node.id, []).append(Site(parent, name, index, rank, statement))
            else:
                result.stores.append(node.id)
            continue
        if kind is gast.Constant:
            continue
        if kind is GlobalReference:
            result.references.append(node)
            continue
        if kind is gast.Call:
            result.calls = True
        elif kind is gast.Lambda:
            result.foreign |= _every_name(node)
            rank = NOTHING
        elif kind in _REPEATED:
            for generator in node.generators:
                result.foreign |= _every_name(generator.target)
            rank = NOTHING
        elif kind in (gast.JoinedStr, gast.FormattedValue):
            rank = min(rank, PLAIN)
        elif kind in _ODD or kind is gast.Compare and searches(node):
            result.odd = True
        for below in fields_below(kind):
            _push(pending, node, below, rank)
    return result


_PARTLY_PLAIN = frozenset((gast.IfExp, gast.Subscript, gast.Attribute, gast.Call, gast.Starred))


def _push(pending: list[tuple[Any, str, int | None, Any, int]], parent: Any, name: str, rank: int) -> None:
    value = getattr(parent, name, None)
    if value is None:
        return
    kind = type(parent)
    if kind in _PARTLY_PLAIN and _is_plain(parent, kind, name):
        rank = min(rank, PLAIN)
    if type(value) is list:
        conditional = kind is gast.BoolOp or kind is gast.Compare
        for index in range(len(value) - 1, -1, -1):
            item = value[index]
            if item is not None:
                pending.append((parent, name, index, item, min(rank, PLAIN) if conditional and index else rank))
    elif isinstance(value, gast.AST):
        pending.append((parent, name, None, value, rank))


def _is_plain(parent: Any, kind: type, name: str) -> bool:
    """Whether a field takes but a name."""
    if kind is gast.IfExp:
        return name != "test"
    if kind in (gast.Subscript, gast.Attribute):
        return name == "value" and type(parent.ctx) is not gast.Load
    return kind is gast.Starred or name == "func"


def _every_name(node: gast.AST) -> set[str]:
    found: set[str] = set()
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.Name) and not isinstance(part, GlobalReference):
            found.add(part.id)
        pending.extend(children(part))
    return found


def statements_of(function: gast.FunctionDef) -> list[gast.stmt]:
    """Every statement at any depth, comments aside."""
    found: list[gast.stmt] = []
    pending: list[gast.stmt] = list(reversed(function.body))
    while pending:
        statement = pending.pop()
        if type(statement) is Comment:
            continue
        found.append(statement)
        if isinstance(statement, COMPOUND):
            for block in reversed(blocks_below(statement)):
                pending.extend(reversed(block))
    return found


def blocks_below(statement: gast.stmt) -> list[list[gast.stmt]]:
    """The blocks of a compound statement."""
    found = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
    found += [handler.body for handler in getattr(statement, "handlers", ())]
    return [block for block in found if block]


def blocks(function: gast.FunctionDef) -> list[tuple[list[gast.stmt], int]]:
    """Every block with its depth, outer ones first."""
    found = [(function.body, 1)]
    for statements, level in found:
        for statement in statements:
            if isinstance(statement, COMPOUND):
                found += [(block, level + 1) for block in blocks_below(statement)]
    return found


BETWEEN = 3  # columns between two parts of a line


class Size(NamedTuple):
    """Rough columns that an expression takes, and how deeply it nests."""

    width: int
    depth: int


def size_of(*roots: gast.AST) -> Size:
    """The size of expressions side by side; no recursion."""
    width = depth = 0
    pending: list[tuple[Any, int]] = [(root, 1) for root in roots]
    while pending:
        node, level = pending.pop()
        if level > depth:
            depth = level
        kind = type(node)
        if kind is gast.Name or kind is GlobalReference:
            width += len(node.id)
            continue
        if kind is gast.Constant:
            width += len(repr(node.value))
            continue
        if kind is gast.Attribute:
            width += 1 + len(node.attr)
        elif kind in (gast.BinOp, gast.Compare, gast.BoolOp):
            width += 3
        elif kind is gast.keyword:
            width += 1 + len(node.arg or "*")
        elif kind in (gast.Call, gast.Subscript, gast.Tuple, gast.List):
            width += 2 + 2 * max(0, len(getattr(node, "args", getattr(node, "elts", ()))) - 1)
        elif kind is gast.IfExp:
            width += 10
        else:
            width += 1
        for name in fields_below(kind):
            value = getattr(node, name, None)
            if type(value) is list:
                pending += [(item, level + 1) for item in value if item is not None]
            elif isinstance(value, gast.AST):
                pending.append((value, level + 1))
    return Size(width, depth)


def header_size(statement: gast.stmt) -> Size:
    """The size of a statement's own line."""
    parts: list[gast.AST] = []
    for name in header_fields(statement):
        value = getattr(statement, name, None)
        parts += value if isinstance(value, list) else [value] if value is not None else []
    size = size_of(*parts)
    return Size(size.width + BETWEEN * max(1, len(parts) - 1), size.depth)
