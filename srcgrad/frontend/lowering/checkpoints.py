"""Loops of which few states are kept, by a mark at the head of their body.

Enters: what a loop runs over, or the test of a ``while``.  Leaves: the same without ``srcgrad.checkpointed``, and the
numbers of snapshots and of recorded passes::

    for i in checkpointed(range(n), snapshots=9):       for i in range(n):
        s = s * x[i]                                        keeping(9, None)
                                                            s = s * x[i]
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend.lowering.context import Context
from srcgrad.ir.operations import Call, Literal, Operand
from srcgrad.runtime import checkpoints
from srcgrad.syntax.parse import walk

KEEPING = Literal(runtime.keeping)
_PLAIN: tuple[object, ...] = (abs, int, len, max, min, round)
_READS = (gast.Attribute, gast.BinOp, gast.Call, gast.Constant, gast.Name, gast.UnaryOp)


def checkpointed(ctx: Context, node: gast.expr) -> tuple[gast.expr, tuple[gast.expr, gast.expr] | None]:
    """What a loop goes over or asks, and how many snapshots it keeps and passes it records; None of another loop."""
    if not isinstance(node, gast.Call) or _called(ctx, node.func) is not checkpoints.checkpointed:
        return node, None
    given = dict(zip(("passes", "snapshots", "recorded"), node.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in node.keywords}
    is_plain = len(given) == len(node.args) + len(node.keywords)
    if not is_plain or not {"passes", "snapshots"} <= given.keys() <= {"passes", "snapshots", "recorded"}:
        return node, None
    if any(isinstance(each, gast.Starred) for each in node.args):
        return node, None
    recorded = given.get("recorded", gast.copy_location(gast.Constant(None, None), node))
    return given["passes"], (given["snapshots"], recorded)


def only_reads(ctx: Context, numbers: Sequence[gast.expr], source: gast.expr) -> bool:
    """Whether the numbers are as good when they are computed before what the loop runs over."""
    if any(isinstance(node, gast.NamedExpr) for node in walk(source)):
        return False
    for number in numbers:
        for node in walk(number):
            match node:
                case gast.Call(func=function) if _called(ctx, function) not in _PLAIN:
                    return False
                case gast.expr() if not isinstance(node, _READS):
                    return False
    return True


def keeping(ctx: Context, numbers: Sequence[Operand], node: gast.AST) -> None:
    """The mark of a loop."""
    ctx.bind(Call(KEEPING, tuple(numbers)), node)


def _called(ctx: Context, function: gast.expr) -> Any:
    """What a name that is not local means, or an attribute of a module."""
    match function:
        case gast.Name(id=name) if ctx.scope.find(name) is None:
            binding = ctx.source.resolve(name)
            return None if binding is None else binding.value
        case gast.Attribute(value=gast.Name() as base, attr=attribute):
            home = _called(ctx, base)
            return getattr(home, attribute, None) if isinstance(home, ModuleType) else None
    return None
