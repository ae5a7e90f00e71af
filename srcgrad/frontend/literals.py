"""Text that is written out: what it is computed with gives text, unless it is an object that has its own operators."""

from __future__ import annotations

import gast


def is_of_text(node: gast.expr) -> bool:
    """Whether an operand of an operator is text that is written out."""
    return isinstance(node, gast.BinOp) and (_is_text(node.left) or _is_text(node.right))


def is_formatted(node: gast.BinOp) -> bool:
    """Whether text formats the other operand, which it does not ask for a reflected method."""
    return isinstance(node.op, gast.Mod) and _is_text(node.left)


def _is_text(node: gast.expr) -> bool:
    return isinstance(node, gast.JoinedStr) or (isinstance(node, gast.Constant) and isinstance(node.value, str | bytes))
