"""Places in arrays: what an index selects, as far as the facts tell.

Enters: the fact of the base, the index, and the facts of the names in it.  Leaves: answers that are sure.

    y[i]        one axis: an element            y[1:3]      a view
    m[i]        two axes: a view of a row       y[k]        k an array of integers: new memory
"""

from __future__ import annotations

from collections.abc import Callable, Set

import gast

from srcgrad.analysis.values import fact_of_expression
from srcgrad.rules.facts import Array, Fact, Static
from srcgrad.syntax.globals import GlobalReference

Facts = Callable[[str], Fact]
SHAPES = frozenset({"shape", "ndim", "size", "dtype"})
_WHOLE = (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod)  # of integers, they make integers


def parts_of(index: gast.expr) -> list[gast.expr]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def is_basic(index: gast.expr, fact: Facts) -> bool:
    """Whether NumPy surely reads an index as a view or one element: integers, slices, ``...`` and None."""
    return all(isinstance(part, gast.Slice) or _is_none(part) or is_integer(part, fact) for part in parts_of(index))


def is_element(base: Fact, index: gast.expr, fact: Facts) -> bool:
    """Whether an index surely selects one number of an array."""
    parts = parts_of(index)
    if not isinstance(base, Array) or base.shape is None or len(parts) != len(base.shape):
        return False
    return all(is_integer(part, fact) for part in parts)


def is_view(base: Fact, index: gast.expr, fact: Facts) -> bool:
    """Whether an index surely selects a view of an array."""
    if not isinstance(base, Array) or base.scalar or not base.shape or not is_basic(index, fact):
        return False
    return any(isinstance(part, gast.Slice) or _is_none(part) for part in parts_of(index)) or not is_element(
        base, index, fact
    )


def is_integer(part: gast.expr, fact: Facts) -> bool:
    """Whether a part of an index is surely one integer."""
    match part:
        case gast.Constant(value=value):
            return type(value) is int
        case gast.UnaryOp(op=gast.USub(), operand=operand):
            return is_integer(operand, fact)
        case gast.BinOp(left=left, op=op, right=right) if isinstance(op, _WHOLE):
            return is_integer(left, fact) and is_integer(right, fact)
        case GlobalReference(binding=binding):
            return type(binding.value) is int
    known = fact_of_expression(part, fact)
    if isinstance(known, Static):
        return type(known.value) is int
    if not isinstance(known, Array) or known.shape != () or not known.scalar:
        return False
    return (known.dtype or "").startswith(("int", "uint"))


def _is_none(part: gast.expr) -> bool:
    return isinstance(part, gast.Constant) and (part.value is None or part.value is Ellipsis)


def reads_contents(root: gast.AST, names: Set[str]) -> bool:
    """Whether evaluating an expression reads elements of what one of ``names`` holds; shapes are no elements."""
    pending: list[gast.AST] = [root]
    while pending:
        node = pending.pop()
        match node:
            case GlobalReference():
                continue
            case gast.Name(id=name):
                if name in names:
                    return True
            case gast.Attribute(value=gast.Name(), attr=attr) if attr in SHAPES:
                continue
        pending += list(gast.iter_child_nodes(node))
    return False
