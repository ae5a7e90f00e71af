"""Buffers whose first sum is all that they hold: assigned, in place of zeros to which it is added.

Enters: blocks.  Leaves: them, without the zeros of a buffer where the next mention of it adds a whole adjoint::

    y_bar = zeros_like(y)              y_bar = 2.0 * s_bar * y
    y_bar += 2.0 * s_bar * y

    y_bar = zeros_like(y)              y_bar = own(s_bar)           which somebody else may hold
    y_bar += s_bar

The transform marks sums that have the shape and dtype of the buffer (``syntax.marks.whole``).  Nobody else sees a
buffer before it is mentioned again.
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.optimize.aliases import callee_of
from srcgrad.optimize.scan import blocks
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.marks import is_whole
from srcgrad.syntax.parse import names_read, walk

_MARKS = frozenset(("seen_elsewhere", "term_by_term", "whole"))


def fill(function: gast.FunctionDef) -> None:
    """Assign the first sums, in place."""
    for block, _ in blocks(function):
        zeros: dict[str, gast.stmt] = {}  # buffers that nothing has mentioned since they were made
        made: dict[gast.stmt, gast.stmt | None] = {}
        for statement in block:
            match statement:
                case gast.AugAssign(target=gast.Name(id=name), op=gast.Add(), value=value) if name in zeros:
                    if is_whole(statement) and name not in names_read(value):
                        made[zeros[name]], made[statement] = None, _assigned(statement)
            for node in walk(statement):
                if isinstance(node, gast.Name):
                    zeros.pop(node.id, None)
            match statement:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(func=called)):
                    if callee_of(called) is runtime.zeros_like:
                        zeros[name] = statement
        if made:
            block[:] = [new for new in (made.get(each, each) for each in block) if new is not None]


def _assigned(statement: gast.AugAssign) -> gast.stmt:
    is_new = isinstance(statement.value, gast.BinOp | gast.UnaryOp)
    value = statement.value if is_new else call_runtime(runtime.own, statement.value)
    made = gast.Assign([statement.target], value, None)
    vars(made).update((k, v) for k, v in vars(statement).items() if k not in {*_MARKS, *statement._fields})
    return made
