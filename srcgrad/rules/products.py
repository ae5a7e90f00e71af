"""Products of vectors and matrices, and diagonals.

Ranks that are known choose the text a person would write, where the factors are of one dtype, so that each partial is
of that dtype by itself; else ``unmatmul_left`` and its kin look at run time.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,call-overload"
from __future__ import annotations

import operator

import numpy as np

from srcgrad.rules.facts import Array, as_array, is_floating, promote
from srcgrad.rules.results import axes_of, dtype_of, product
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import Joint, alike, rank
from srcgrad.runtime import (
    if_floating,
    unbroadcast,
    uncross_left,
    uncross_right,
    undiagonal,
    undot_left,
    undot_right,
    uninner_left,
    uninner_right,
    unkron_left,
    unkron_right,
    unmatmul_left,
    unmatmul_right,
    unouter_left,
    unouter_right,
    untensordot_left,
    untensordot_right,
    untrace,
    unvdot_left,
    unvdot_right,
    unvecdot_left,
    unvecdot_right,
)


# --- matmul and dot --------------------------------------------------------------------------------------------------
@rule(np.matmul, operator.matmul, np.linalg.matmul)
def matmul(x1, x2, *, y, y_bar):
    """The matrix product, batches broadcast."""
    return unmatmul_left(y_bar, x1, x2), unmatmul_right(y_bar, x1, x2)


@matmul.tangent
def matmul(x1, x2, *, y, x1_dot, x2_dot):
    return x1_dot @ x2, x1 @ x2_dot


matmul.accept(ignored=("casting", "order", "subok"))


@matmul.infer
def matmul(arguments, literals):
    return product(as_array(arguments["x1"]), as_array(arguments["x2"]))


@matmul.when(alike("x1", "x2"), x1=rank(2), x2=rank(2))
def matmul(x1, x2, *, y, y_bar):
    """Matrix times matrix."""
    return y_bar @ x2.T, x1.T @ y_bar


@matmul.when(alike("x1", "x2"), x1=rank(2), x2=rank(1))
def matmul(x1, x2, *, y, y_bar):
    """Matrix times vector."""
    return y_bar[:, np.newaxis] * x2, x1.T @ y_bar


@matmul.when(alike("x1", "x2"), x1=rank(1), x2=rank(2))
def matmul(x1, x2, *, y, y_bar):
    """Vector times matrix."""
    return x2 @ y_bar, x1[:, np.newaxis] * y_bar


@matmul.when(alike("x1", "x2"), x1=rank(1), x2=rank(1))
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
    if not a.shape or not b.shape or len(a.shape) <= 2 >= len(b.shape):
        return product(a, b)
    return Array(a.shape[:-1] + b.shape[:-2] + b.shape[1:][-1:], promote(a.dtype, b.dtype))


@dot.when(alike("a", "b"), a=rank(2), b=rank(2))
def dot(a, b, *, y, y_bar):
    """Matrix times matrix."""
    return y_bar @ b.T, a.T @ y_bar


@dot.when(alike("a", "b"), a=rank(2), b=rank(1))
def dot(a, b, *, y, y_bar):
    """Matrix times vector."""
    return y_bar[:, np.newaxis] * b, a.T @ y_bar


@dot.when(alike("a", "b"), a=rank(1), b=rank(2))
def dot(a, b, *, y, y_bar):
    """Vector times matrix."""
    return b @ y_bar, a[:, np.newaxis] * y_bar


@dot.when(alike("a", "b"), a=rank(1), b=rank(1))
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


@inner.when(alike("a", "b"), a=rank(1), b=rank(1))
def inner(a, b, *, y, y_bar):
    """Vector times vector."""
    return y_bar * b, y_bar * a


@inner.infer
def inner(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    shape = None if not a.shape or not b.shape else a.shape[:-1] + b.shape[:-1]
    return Array(shape, promote(a.dtype, b.dtype), scalar=shape == ())


@rule(np.outer, np.linalg.outer)
def outer(a, b, *, y, y_bar):
    """Every element of a times every element of b."""
    return unouter_left(y_bar, a, b), unouter_right(y_bar, a, b)


@outer.tangent
def outer(a, b, *, y, a_dot, b_dot):
    return np.outer(a_dot, b), np.outer(a, b_dot)


@outer.when(alike("a", "b"), a=rank(1), b=rank(1))
def outer(a, b, *, y, y_bar):
    """Of two vectors."""
    return y_bar @ b, a @ y_bar


@outer.infer
def outer(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    sides = tuple(x.shape[0] if x.shape is not None and len(x.shape) == 1 else None for x in (a, b))
    return Array(sides, promote(a.dtype, b.dtype))


@rule(np.tensordot, np.linalg.tensordot)
def tensordot(a, b, axes=2, *, y, y_bar):
    """Axes of a against axes of b."""
    return untensordot_left(y_bar, a, b, axes), untensordot_right(y_bar, a, b, axes)


@tensordot.tangent
def tensordot(a, b, axes=2, *, y, a_dot, b_dot):
    return np.tensordot(a_dot, b, axes), np.tensordot(a, b_dot, axes)


@tensordot.infer
def tensordot(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    axes, dtype = literals.get("axes"), promote(a.dtype, b.dtype)
    if a.shape is None or b.shape is None or axes is None:
        return Array(None, dtype)
    if type(axes) is int:
        return Array(a.shape[: len(a.shape) - axes] + b.shape[axes:], dtype)
    left, right = axes_of(axes[0], len(a.shape)), axes_of(axes[1], len(b.shape))
    if left is None or right is None:
        return Array(None, dtype)
    free = [n for i, n in enumerate(a.shape) if i not in left] + [n for i, n in enumerate(b.shape) if i not in right]
    return Array(tuple(free), dtype)


@rule(np.kron)
def kron(a, b, *, y, y_bar):
    """Every element of a times the whole of b, as blocks."""
    return unkron_left(y_bar, a, b), unkron_right(y_bar, a, b)


@kron.tangent
def kron(a, b, *, y, a_dot, b_dot):
    return np.kron(a_dot, b), np.kron(a, b_dot)


@kron.infer
def kron(arguments, literals):
    a, b = as_array(arguments["a"]), as_array(arguments["b"])
    known = a.rank is not None and b.rank is not None and a.rank + b.rank > 0
    return Array((None,) * max(a.rank or 0, b.rank or 0) if known else None, promote(a.dtype, b.dtype))


@rule(np.cross)
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, y, y_bar):
    """The vector product of vectors of length 2 or 3: by the cycle of the triple product, b x y_bar and y_bar x a."""
    return (
        uncross_left(y_bar, a, b, axisa, axisb, axisc, axis),
        uncross_right(y_bar, a, b, axisa, axisb, axisc, axis),
    )


@cross.tangent
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, y, a_dot, b_dot):
    return np.cross(a_dot, b, axisa, axisb, axisc, axis), np.cross(a, b_dot, axisa, axisb, axisc, axis)


@rule(np.linalg.cross)
def linalg_cross(x1, x2, axis=-1, *, y, y_bar):
    """The vector product of vectors of length 3."""
    return uncross_left(y_bar, x1, x2, axis=axis), uncross_right(y_bar, x1, x2, axis=axis)


@linalg_cross.tangent
def linalg_cross(x1, x2, axis=-1, *, y, x1_dot, x2_dot):
    return np.linalg.cross(x1_dot, x2, axis=axis), np.linalg.cross(x1, x2_dot, axis=axis)


# --- products whose first factor is conjugated -----------------------------------------------------------------------
def _real(*parameters: str) -> Joint:
    """The condition that arguments have one known real floating dtype: conj does nothing."""
    same = alike(*parameters)
    return lambda arguments: same(arguments) and "complex" not in str(as_array(arguments[parameters[0]].fact).dtype)


@rule(np.vdot)
def vdot(a, b, *, y, y_bar):
    """The sum of products of all elements, a conjugated; Re(y_bar * conj(a_dot) * b) = Re(conj(y_bar * b) * a_dot)."""
    return unvdot_left(y_bar, a, b), unvdot_right(y_bar, a, b)


@vdot.tangent
def vdot(a, b, *, y, a_dot, b_dot):
    return np.vdot(a_dot, b), np.vdot(a, b_dot)


@vdot.when(_real("a", "b"), a=rank(1), b=rank(1))
def vdot(a, b, *, y, y_bar):
    """Of two real vectors."""
    return y_bar * b, y_bar * a


@vdot.infer
def vdot(arguments, literals):
    return Array((), promote(as_array(arguments["a"]).dtype, as_array(arguments["b"]).dtype), scalar=True)


@rule(np.vecdot, np.linalg.vecdot)
def vecdot(x1, x2, axis=-1, *, y, y_bar):
    """The sum of products along an axis, x1 conjugated."""
    return unvecdot_left(y_bar, x1, x2, axis), unvecdot_right(y_bar, x1, x2, axis)


@vecdot.tangent
def vecdot(x1, x2, axis=-1, *, y, x1_dot, x2_dot):
    return np.vecdot(x1_dot, x2, axis=axis), np.vecdot(x1, x2_dot, axis=axis)


@vecdot.when(_real("x1", "x2"), x1=rank(1), x2=rank(1))
def vecdot(x1, x2, axis=-1, *, y, y_bar):
    """Of two real vectors."""
    return y_bar * x2, y_bar * x1


vecdot.accept(ignored=("casting", "order", "subok"))

if hasattr(np, "matvec"):  # NumPy 2.2

    @rule(np.matvec)
    def matvec(x1, x2, *, y, y_bar):
        """Matrices times vectors."""
        outer = np.expand_dims(y_bar, -1) * np.expand_dims(x2, -2)
        return unbroadcast(outer, x1), unbroadcast(np.vecmat(np.conj(y_bar), x1), x2)

    @matvec.tangent
    def matvec(x1, x2, *, y, x1_dot, x2_dot):
        return np.matvec(x1_dot, x2), np.matvec(x1, x2_dot)

    @rule(np.vecmat)
    def vecmat(x1, x2, *, y, y_bar):
        """Conjugated vectors times matrices."""
        outer = np.expand_dims(np.conj(x1), -1) * np.expand_dims(y_bar, -2)
        return unbroadcast(np.conj(np.matvec(x2, y_bar)), x1), unbroadcast(outer, x2)

    @vecmat.tangent
    def vecmat(x1, x2, *, y, x1_dot, x2_dot):
        return np.vecmat(x1_dot, x2), np.vecmat(x1, x2_dot)

    for gufunc in (matvec, vecmat):
        gufunc.accept(ignored=("casting", "order", "subok"))


# --- diagonals -------------------------------------------------------------------------------------------------------
@rule(np.trace)
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, *, y, y_bar):
    """The sum of a diagonal."""
    return untrace(if_floating(y_bar, dtype), a, offset, axis1, axis2)


@trace.tangent
def trace(a, offset=0, axis1=0, axis2=1, dtype=None, *, y, a_dot):
    return if_floating(np.trace(a_dot, offset, axis1, axis2, dtype), dtype)


@trace.infer
def trace(arguments, literals):
    a = as_array(arguments["a"])
    dtype = dtype_of(arguments, literals, a.dtype if is_floating(a.dtype) else None)
    return Array((), dtype, scalar=True) if a.rank == 2 else Array(None, dtype)


@rule(np.linalg.trace)
def linalg_trace(x, offset=0, dtype=None, *, y, y_bar):
    """The sum of a diagonal of each matrix."""
    return untrace(if_floating(y_bar, dtype), x, offset, -2, -1)


@linalg_trace.tangent
def linalg_trace(x, offset=0, dtype=None, *, y, x_dot):
    return if_floating(np.linalg.trace(x_dot, offset=offset, dtype=dtype), dtype)


@linear(np.diagonal, "a")
def diagonal(a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """A diagonal."""
    return undiagonal(y_bar, a, offset, axis1, axis2)


@linear(np.linalg.diagonal, "x")
def linalg_diagonal(x, offset=0, *, y, y_bar):
    """A diagonal of each matrix."""
    return undiagonal(y_bar, x, offset, -2, -1)


@diagonal.infer
def diagonal(arguments, literals):
    a = as_array(arguments["a"])
    return Array((None,) * (a.rank - 1) if a.rank else None, a.dtype)


@linalg_diagonal.infer
def linalg_diagonal(arguments, literals):
    x = as_array(arguments["x"])
    return Array((None,) * (x.rank - 1) if x.rank else None, x.dtype)


@linear(np.linalg.matrix_transpose, "x")
def linalg_matrix_transpose(x, *, y, y_bar):
    """The last two axes swapped."""
    return np.matrix_transpose(y_bar)


@linalg_matrix_transpose.infer
def linalg_matrix_transpose(arguments, literals):
    x = as_array(arguments["x"])
    return Array(None if x.shape is None else x.shape[:-2] + x.shape[:-3:-1], x.dtype)
