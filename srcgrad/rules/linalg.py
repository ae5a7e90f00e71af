"""Products of vectors and matrices, inverses, determinants.

Formulas: M. Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*
(2008).  Ranks that are known choose the text a person would write; else ``unmatmul_left`` and its kin look at run time.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import operator
from collections.abc import Mapping

import gast
import numpy as np

from srcgrad.rules.facts import Array, as_array, promote
from srcgrad.rules.formula import constant, is_none, literal, spelling
from srcgrad.rules.results import product, reduced
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import rank
from srcgrad.runtime import (
    one_vector,
    transposed_subscripts,
    unbroadcast,
    undiagonal,
    undot_left,
    undot_right,
    uneinsum,
    uninner_left,
    uninner_right,
    unmatmul_left,
    unmatmul_right,
    unouter_left,
    unouter_right,
    untensordot_left,
    untensordot_right,
    untrace,
)


# --- matmul and dot --------------------------------------------------------------------------------------------------
@rule(np.matmul, operator.matmul)
def matmul(x1, x2, *, y, y_bar):
    """The matrix product, batches broadcast."""
    return unmatmul_left(y_bar, x1, x2), unmatmul_right(y_bar, x1, x2)


@matmul.tangent
def matmul(x1, x2, *, y, x1_dot, x2_dot):
    return x1_dot @ x2, x1 @ x2_dot


@matmul.infer
def matmul(arguments, literals):
    return product(as_array(arguments["x1"]), as_array(arguments["x2"]))


@matmul.when(x1=rank(2), x2=rank(2))
def matmul(x1, x2, *, y, y_bar):
    """Matrix times matrix."""
    return y_bar @ x2.T, x1.T @ y_bar


@matmul.when(x1=rank(2), x2=rank(1))
def matmul(x1, x2, *, y, y_bar):
    """Matrix times vector."""
    return y_bar[:, np.newaxis] * x2, x1.T @ y_bar


@matmul.when(x1=rank(1), x2=rank(2))
def matmul(x1, x2, *, y, y_bar):
    """Vector times matrix."""
    return x2 @ y_bar, x1[:, np.newaxis] * y_bar


@matmul.when(x1=rank(1), x2=rank(1))
def matmul(x1, x2, *, y, y_bar):
    """Vector times vector."""
    return y_bar * x2, y_bar * x1


@rule(np.dot)
def dot(a, b, *, y, y_bar):
    """The last axis of a against the last but one of b."""
    return undot_left(y_bar, a, b), undot_right(y_bar, a, b)


@dot.tangent
def dot(a, b, *, y, a_dot, b_dot):
    return np.dot(a_dot, b), np.dot(a, b_dot)


@dot.infer
def dot(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    return product(a, b) if (a.rank or 9) <= 2 and (b.rank or 9) <= 2 else Array(None, promote(a.dtype, b.dtype))


@dot.when(a=rank(2), b=rank(2))
def dot(a, b, *, y, y_bar):
    """Matrix times matrix."""
    return y_bar @ b.T, a.T @ y_bar


@dot.when(a=rank(2), b=rank(1))
def dot(a, b, *, y, y_bar):
    """Matrix times vector."""
    return y_bar[:, np.newaxis] * b, a.T @ y_bar


@dot.when(a=rank(1), b=rank(2))
def dot(a, b, *, y, y_bar):
    """Vector times matrix."""
    return b @ y_bar, a[:, np.newaxis] * y_bar


@dot.when(a=rank(1), b=rank(1))
def dot(a, b, *, y, y_bar):
    """Vector times vector."""
    return y_bar * b, y_bar * a


# --- other products --------------------------------------------------------------------------------------------------
@rule(np.inner)
def inner(a, b, *, y, y_bar):
    """The last axis against the last axis."""
    return uninner_left(y_bar, a, b), uninner_right(y_bar, a, b)


@inner.tangent
def inner(a, b, *, y, a_dot, b_dot):
    return np.inner(a_dot, b), np.inner(a, b_dot)


@inner.when(a=rank(1), b=rank(1))
def inner(a, b, *, y, y_bar):
    """Vector times vector."""
    return y_bar * b, y_bar * a


@inner.infer
def inner(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    shape = None if not a.shape or not b.shape else a.shape[:-1] + b.shape[:-1]
    return Array(shape, promote(a.dtype, b.dtype), scalar=shape == ())


@rule(np.outer)
def outer(a, b, *, y, y_bar):
    """Every element of a times every element of b."""
    return unouter_left(y_bar, a, b), unouter_right(y_bar, a, b)


@outer.tangent
def outer(a, b, *, y, a_dot, b_dot):
    return np.outer(a_dot, b), np.outer(a, b_dot)


@outer.when(a=rank(1), b=rank(1))
def outer(a, b, *, y, y_bar):
    """Of two vectors."""
    return y_bar @ b, a @ y_bar


@outer.infer
def outer(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    sides = tuple(x.shape[0] if x.shape is not None and len(x.shape) == 1 else None for x in (a, b))
    return Array(sides, promote(a.dtype, b.dtype))


@rule(np.vdot)
def vdot(a, b, *, y, y_bar):
    """The sum of products of all elements."""
    return y_bar * np.reshape(b, np.shape(a)), y_bar * np.reshape(a, np.shape(b))


@vdot.tangent
def vdot(a, b, *, y, a_dot, b_dot):
    return np.vdot(a_dot, b), np.vdot(a, b_dot)


@vdot.infer
def vdot(arguments, literals):
    return Array((), promote(as_array(arguments["a"]).dtype, as_array(arguments["b"]).dtype), scalar=True)


@rule(np.tensordot)
def tensordot(a, b, axes=2, *, y, y_bar):
    """Axes of a against axes of b."""
    return untensordot_left(y_bar, a, b, axes), untensordot_right(y_bar, a, b, axes)


@tensordot.tangent
def tensordot(a, b, axes=2, *, y, a_dot, b_dot):
    return np.tensordot(a_dot, b, axes), np.tensordot(a, b_dot, axes)


@rule(np.cross)
def cross(a, b, *, y, y_bar):
    """The vector product of vectors of length 3, last axis."""
    return unbroadcast(np.cross(b, y_bar), a), unbroadcast(np.cross(y_bar, a), b)


@cross.tangent
def cross(a, b, *, y, a_dot, b_dot):
    return np.cross(a_dot, b), np.cross(a, b_dot)


# --- einsum ----------------------------------------------------------------------------------------------------------
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


# --- square matrices -------------------------------------------------------------------------------------------------
@linear(np.trace, "a")
def trace(a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """The sum of a diagonal."""
    return untrace(y_bar, a, offset, axis1, axis2)


@trace.infer
def trace(arguments, literals):
    a = as_array(arguments["a"])
    if a.rank == 2:
        return Array((), a.dtype, scalar=True)
    return Array(None, a.dtype)


@rule(np.linalg.det)
def det(a, *, y, y_bar):
    """The determinant of regular matrices (Jacobi's formula; Giles 2.2.4)."""
    return (y_bar * y)[..., np.newaxis, np.newaxis] * np.swapaxes(np.linalg.inv(a), -1, -2)


@det.when(a=rank(2))
def det(a, *, y, y_bar):
    """The determinant of a regular matrix."""
    return y_bar * y * np.linalg.inv(a).T


@det.tangent
def det(a, *, y, a_dot):
    return y * np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)


@det.infer
def det(arguments, literals):
    a = as_array(arguments["a"])
    return reduced(a, a.dtype, {"axis": (-2, -1), "keepdims": False})


@rule(np.linalg.inv)
def inv(a, *, b, b_bar):
    """The inverse (Giles 2.2.3)."""
    bt = np.swapaxes(b, -1, -2)
    return -(bt @ b_bar @ bt)


@inv.tangent
def inv(a, *, b, a_dot):
    return -(b @ a_dot @ b)


@inv.infer
def inv(arguments, literals):
    return as_array(arguments["a"])


@rule(np.linalg.solve)
def solve(a, b, *, x, x_bar):
    """The solution of a x = b (Giles 2.3.1): b_bar solves the transposed system."""
    g = np.linalg.solve(np.swapaxes(a, -1, -2), one_vector(x_bar, b))
    return -unmatmul_left(g, a, x), unbroadcast(g, b)


@solve.tangent
def solve(a, b, *, x, a_dot, b_dot):
    return -np.linalg.solve(a, a_dot @ x), np.linalg.solve(a, b_dot)


@solve.infer
def solve(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    return Array(b.shape if a.rank == 2 and (b.rank or 9) <= 2 else None, promote(a.dtype, b.dtype))


@linear(np.diagonal, "a")
def diagonal(a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """A diagonal."""
    return undiagonal(y_bar, a, offset, axis1, axis2)
