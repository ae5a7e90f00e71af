"""Where a statement reads its names.

Enters: a statement.  Leaves: for each local name that its own line reads, the places in the tree, so that another
expression can be put there.  Bodies of compound statements are not looked into: what is there has sites of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children


@dataclass(slots=True)
class Site:
    """One read: ``parent.field`` (or its item ``index``).  ``rank`` says what may stand there.

    2: anything, evaluated exactly once.  1: only a name or literal: the place is evaluated conditionally, is the
    object that a store or a method call changes, or is part of an f-string.  0: nothing may replace the name, which a
    lambda or comprehension evaluates later or repeatedly.
    """

    parent: gast.AST
    field: str
    index: int | None
    rank: int

    def put(self, expression: gast.expr) -> None:
        if self.index is None:
            setattr(self.parent, self.field, expression)
        else:
            getattr(self.parent, self.field)[self.index] = expression

    @property
    def node(self) -> gast.AST:
        value = getattr(self.parent, self.field)
        node: gast.AST = value if self.index is None else value[self.index]
        return node


_HEADERS = {
    gast.Assign: ("targets", "value"),
    gast.AugAssign: ("target", "value"),
    gast.Expr: ("value",),
    gast.Return: ("value",),
    gast.Assert: ("test", "msg"),
    gast.Raise: ("exc", "cause"),
    gast.If: ("test",),
    gast.While: ("test",),
    gast.For: ("iter", "target"),
    gast.With: ("items",),
}


def sites_of(statement: gast.stmt) -> dict[str, list[Site]]:
    """The sites of a statement's own line, by name, in the order of evaluation as far as the tree tells it."""
    found: dict[str, list[Site]] = {}
    repeated = isinstance(statement, gast.While)
    pending: list[tuple[gast.AST, str, int]] = []
    for field in reversed(_HEADERS.get(type(statement), ())):
        rank = 1 if repeated or (isinstance(statement, gast.Assert) and field == "msg") else 2
        pending.append((statement, field, rank))
    while pending:
        parent, field, rank = pending.pop()
        value = getattr(parent, field, None)
        items: list[tuple[int | None, object]] = [(None, value)]
        if isinstance(value, list):
            items = list(enumerate(value))
        below: list[tuple[gast.AST, str, int]] = []
        for index, node in items:
            if isinstance(node, GlobalReference) or not isinstance(node, gast.AST):
                continue
            inner = min(rank, _rank(parent, field, index), _rank_below(node))
            match node:
                case gast.Name(id=name):
                    if isinstance(node.ctx, gast.Load):
                        found.setdefault(name, []).append(Site(parent, field, index, inner))
                case gast.AST(_fields=fields):
                    below += [(node, name, inner) for name in fields]
        pending.extend(reversed(below))
    return found


def _rank(parent: gast.AST, field: str, index: int | None) -> int:
    """What may stand in one field of a node."""
    match parent, field:
        case gast.IfExp(), "body" | "orelse":
            return 1
        case gast.BoolOp(), _:
            return 2 if index == 0 else 1
        case gast.Compare(), "comparators":
            return 2 if index == 0 else 1
        case gast.Subscript() | gast.Attribute(), "value" if isinstance(parent.ctx, (gast.Store, gast.Del)):
            return 1
        case gast.Call(), "func":
            return 1
        case gast.Starred(), _:
            return 1
    return 2


def _rank_below(node: gast.AST) -> int:
    """What may stand anywhere below a node."""
    match node:
        case gast.Lambda() | gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
            return 0
        case gast.JoinedStr() | gast.FormattedValue():
            return 1
    return 2


@dataclass(frozen=True, slots=True)
class Size:
    """Rough columns that an expression takes, and how deeply it nests."""

    width: int
    depth: int


def size_of(*roots: gast.AST) -> Size:
    """The size of expressions side by side; no recursion."""
    width = depth = 0
    pending = [(root, 1) for root in roots]
    while pending:
        node, level = pending.pop()
        depth = max(depth, level)
        match node:
            case gast.Name():
                width += len(node.id)
                continue
            case gast.Constant():
                width += len(repr(node.value))
                continue
            case gast.Attribute():
                width += 1 + len(node.attr)
            case gast.BinOp() | gast.Compare() | gast.BoolOp():
                width += 3
            case gast.keyword():
                width += 1 + len(node.arg or "*")
            case gast.Call() | gast.Subscript() | gast.Tuple() | gast.List():
                width += 2 + 2 * max(0, len(getattr(node, "args", getattr(node, "elts", ()))) - 1)
            case gast.IfExp():
                width += 10
            case gast.expr():
                width += 1
        pending.extend((child, level + 1) for child in children(node))
    return Size(width, depth)


def header_size(statement: gast.stmt) -> Size:
    """The size of a statement's own line."""
    parts: list[gast.AST] = []
    for field in _HEADERS.get(type(statement), ()):
        value = getattr(statement, field, None)
        parts += value if isinstance(value, list) else [value] if value is not None else []
    size = size_of(*parts)
    return Size(size.width + 3 * max(1, len(parts) - 1), size.depth)
