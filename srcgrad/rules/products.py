"""Products of vectors and matrices, and sums of diagonals.

Ranks that are known choose the text a person would write; else ``unmatmul_left`` and its kin look at run time.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import operator

import numpy as np

from srcgrad.rules.facts import Array, as_array, promote
from srcgrad.rules.results import product
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import rank
from srcgrad.runtime import (
    unbroadcast,
    undiagonal,
    undot_left,
    undot_right,
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


# --- diagonals -------------------------------------------------------------------------------------------------------
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


@linear(np.diagonal, "a")
def diagonal(a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """A diagonal."""
    return undiagonal(y_bar, a, offset, axis1, axis2)
