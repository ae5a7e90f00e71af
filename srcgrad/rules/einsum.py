"""Einstein's sum and its transpose, which is one again."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from srcgrad.rules.facts import Array
from srcgrad.rules.formula import constant, is_none, literal, spelling
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import rule
from srcgrad.runtime import transposed_subscripts, uneinsum


def transposed(given: Mapping[str, gast.expr], adjoint: str) -> gast.expr:
    """One ``uneinsum`` per operand: its subscripts, the shape it has, the cotangent, the other operands."""
    operands = given["operands"]
    assert isinstance(operands, gast.Tuple)
    count = len(operands.elts)
    known, subscripts = literal(given["subscripts"])
    partials: list[gast.expr] = []
    for i in range(count):
        others = [item("operands", j) for j in range(count) if j != i]
        if known and isinstance(subscripts, str):
            turned: gast.expr = constant(transposed_subscripts(subscripts, i, count))
        else:
            turned = gast.Call(spelling(transposed_subscripts), [read("subscripts"), constant(i), constant(count)], [])
        partials.append(gast.Call(spelling(uneinsum), [turned, item("operands", i), read(adjoint), *others], []))
    return gast.Tuple(partials, gast.Load())


def replaced(given: Mapping[str, gast.expr], function: gast.expr, leading: tuple[str, ...]) -> gast.expr:
    """The function on the operands, one of them its tangent, summed over the operands that have one."""
    operands, dots = given["operands"], given.get("operands_dot")
    assert isinstance(operands, gast.Tuple)
    total: gast.expr | None = None
    for i in range(len(operands.elts)):
        if isinstance(dots, gast.Tuple) and is_none(dots.elts[i]):
            continue
        args = [item("operands_dot" if j == i else "operands", j) for j in range(len(operands.elts))]
        term = gast.Call(function, [*map(read, leading), *args], [])
        total = term if total is None else gast.BinOp(total, gast.Add(), term)
    assert total is not None
    return total


@rule(np.einsum)
def einsum(subscripts, *operands, y, y_bar):
    """Einstein's sum: the cotangent takes the place of the operand, the operand's subscripts that of the result."""
    return None, [uneinsum(subscripts, x, y_bar) for x in operands]


einsum.expand(
    lambda given: transposed(given, "y_bar"), lambda given: replaced(given, spelling(np.einsum), ("subscripts",))
)
einsum.accept(ignored=("optimize",))


@einsum.infer
def einsum(arguments, literals):
    subscripts = literals.get("subscripts")
    if not isinstance(subscripts, str) or "..." in subscripts:
        return Array()
    out = subscripts.replace(" ", "").partition("->")[2]
    return Array((None,) * len(out), scalar=not out) if "->" in subscripts else Array()


@rule(uneinsum)
def uneinsum_(subscripts, like, *operands, y, y_bar):
    """The transpose of an Einstein sum is one again."""
    return None, None, [uneinsum(subscripts, x, y_bar) for x in operands]


uneinsum_.expand(
    lambda given: transposed(given, "y_bar"), lambda given: replaced(given, spelling(uneinsum), ("subscripts", "like"))
)
