"""Norms of vectors and matrices, condition numbers.

A norm has slope 0 where it is 0; ties of an extreme element, sum or singular value share evenly.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from srcgrad.rules.arguments import Argument, is_real
from srcgrad.rules.decompositions import real_part
from srcgrad.rules.facts import as_array
from srcgrad.rules.results import floating, reduced
from srcgrad.rules.table import rule
from srcgrad.runtime import (
    extreme_share,
    from_matrices,
    norm_shares,
    norm_slope,
    polar,
    safe_divide,
    ties,
    to_matrices,
    unreduce,
    weighted,
)

Condition = Callable[[Mapping[str, Argument]], bool]


# --- which norm is meant ---------------------------------------------------------------------------------------------
def of_order(*orders: object) -> Condition:
    """The condition that the order is one of these literals."""
    return lambda arguments: arguments["ord"].is_literal and arguments["ord"].literal in orders


def _means_vectors(arguments: Mapping[str, Argument]) -> bool:
    """Whether an order is surely that of norms of vectors: one axis is given, or the array has one."""
    axis = arguments["axis"]
    if not axis.is_literal:
        return False
    if axis.literal is None:
        return arguments["x"].rank == 1
    return not isinstance(axis.literal, tuple) or len(axis.literal) == 1


def _means_matrices(arguments: Mapping[str, Argument]) -> bool:
    """Whether an order is surely that of norms of matrices: two axes are given, or the array has two."""
    axis = arguments["axis"]
    if not axis.is_literal:
        return False
    if axis.literal is None:
        return arguments["x"].rank == 2
    return isinstance(axis.literal, tuple) and len(axis.literal) == 2


def _euclidean(arguments: Mapping[str, Argument]) -> bool:
    return of_order(None, "fro", "f")(arguments) or (of_order(2)(arguments) and _means_vectors(arguments))


def _summed(arguments: Mapping[str, Argument]) -> bool:
    """Orders 1, inf and -inf, of vectors or of matrices, and -1 of matrices, which is another for vectors."""
    return of_order(1, np.inf, -np.inf)(arguments) or (of_order(-1)(arguments) and _means_matrices(arguments))


def _spectral(arguments: Mapping[str, Argument]) -> bool:
    """Order 2, which of a vector as a column is the same, and -2 of matrices."""
    return of_order(2)(arguments) or (of_order(-2)(arguments) and _means_matrices(arguments))


def _result(arguments, literals):
    x = as_array(arguments["x"])
    return reduced(x, real_part(floating(x.dtype)), literals)


# --- np.linalg.norm --------------------------------------------------------------------------------------------------
@rule(np.linalg.norm)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """A norm of any order; of which it is a derivative of higher order, is known for a root of a sum of powers."""
    return unreduce(y_bar, x, axis, keepdims) * norm_slope(x, ord, axis)


@norm.tangent
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    return np.real(np.sum(x_dot * norm_slope(x, ord, axis), axis=axis, keepdims=keepdims))


@norm.when(_euclidean, x=is_real)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The root of the sum of squares."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * x


@norm.tangent_when(_euclidean, x=is_real)
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    return safe_divide(np.sum(x_dot * x, axis=axis, keepdims=keepdims), y)


@norm.when(_euclidean)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The root of the sum of squared absolute values."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * np.conjugate(x)


@norm.tangent_when(_euclidean)
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    return safe_divide(np.real(np.sum(x_dot * np.conjugate(x), axis=axis, keepdims=keepdims)), y)


@norm.when(_summed, x=is_real)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """A sum of absolute values, or the greatest (least) of some."""
    return unreduce(y_bar, x, axis, keepdims) * np.sign(x) * norm_shares(x, ord, axis)


@norm.tangent_when(_summed, x=is_real)
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    return np.sum(x_dot * np.sign(x) * norm_shares(x, ord, axis), axis=axis, keepdims=keepdims)


@norm.when(_summed)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """A sum of absolute values of complex numbers, or the greatest (least) of some."""
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return unreduce(y_bar, x, axis, keepdims) * unit * norm_shares(x, ord, axis)


@norm.tangent_when(_summed)
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return np.real(np.sum(x_dot * unit * norm_shares(x, ord, axis), axis=axis, keepdims=keepdims))


@norm.when(_spectral)
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The greatest (least) singular value: its left vector times its right one."""
    d = np.linalg.svd(to_matrices(x, axis), full_matrices=False)
    slope = np.conjugate(weighted(d[0], extreme_share(d[1], ord > 0), d[2]))
    return unreduce(y_bar, x, axis, keepdims) * from_matrices(slope, x, axis)


@norm.tangent_when(_spectral)
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    d = np.linalg.svd(to_matrices(x, axis), full_matrices=False)
    slope = np.conjugate(weighted(d[0], extreme_share(d[1], ord > 0), d[2]))
    return np.real(np.sum(x_dot * from_matrices(slope, x, axis), axis=axis, keepdims=keepdims))


@norm.when(of_order("nuc"))
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """The sum of singular values: the polar factor."""
    slope = np.conjugate(polar(to_matrices(x, axis)))
    return unreduce(y_bar, x, axis, keepdims) * from_matrices(slope, x, axis)


@norm.tangent_when(of_order("nuc"))
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    slope = np.conjugate(polar(to_matrices(x, axis)))
    return np.real(np.sum(x_dot * from_matrices(slope, x, axis), axis=axis, keepdims=keepdims))


@norm.when(of_order(0))
def norm(x, ord=None, axis=None, keepdims=False, *, y, y_bar):
    """A count."""
    return np.zeros_like(x)


@norm.tangent_when(of_order(0))
def norm(x, ord=None, axis=None, keepdims=False, *, y, x_dot):
    return 0.0 * y


norm.infer(_result)
norm.refuse("norms of orders that are constant are differentiated", ord="the order of a norm is taken as fixed")


# --- np.linalg.matrix_norm, vector_norm ------------------------------------------------------------------------------
@rule(np.linalg.matrix_norm)
def matrix_norm(x, keepdims=False, ord="fro", *, y, y_bar):
    """The root of the sum of squared absolute values."""
    return unreduce(safe_divide(y_bar, y), x, (-2, -1), keepdims) * np.conjugate(x)


@matrix_norm.tangent
def matrix_norm(x, keepdims=False, ord="fro", *, y, x_dot):
    return safe_divide(np.real(np.sum(x_dot * np.conjugate(x), axis=(-2, -1), keepdims=keepdims)), y)


@matrix_norm.when(of_order(1, -1, np.inf, -np.inf))
def matrix_norm(x, keepdims=False, ord="fro", *, y, y_bar):
    """The greatest (least) sum of absolute values of a row or column."""
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return unreduce(y_bar, x, (-2, -1), keepdims) * unit * norm_shares(x, ord, (-2, -1))


@matrix_norm.tangent_when(of_order(1, -1, np.inf, -np.inf))
def matrix_norm(x, keepdims=False, ord="fro", *, y, x_dot):
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return np.real(np.sum(x_dot * unit * norm_shares(x, ord, (-2, -1)), axis=(-2, -1), keepdims=keepdims))


@matrix_norm.when(of_order(2, -2))
def matrix_norm(x, keepdims=False, ord="fro", *, y, y_bar):
    """The greatest (least) singular value."""
    d = np.linalg.svd(x, full_matrices=False)
    slope = np.conjugate(weighted(d[0], extreme_share(d[1], ord > 0), d[2]))
    return unreduce(y_bar, x, (-2, -1), keepdims) * slope


@matrix_norm.tangent_when(of_order(2, -2))
def matrix_norm(x, keepdims=False, ord="fro", *, y, x_dot):
    d = np.linalg.svd(x, full_matrices=False)
    slope = np.conjugate(weighted(d[0], extreme_share(d[1], ord > 0), d[2]))
    return np.real(np.sum(x_dot * slope, axis=(-2, -1), keepdims=keepdims))


@matrix_norm.when(of_order("nuc"))
def matrix_norm(x, keepdims=False, ord="fro", *, y, y_bar):
    """The sum of singular values."""
    return unreduce(y_bar, x, (-2, -1), keepdims) * np.conjugate(polar(x))


@matrix_norm.tangent_when(of_order("nuc"))
def matrix_norm(x, keepdims=False, ord="fro", *, y, x_dot):
    return np.real(np.sum(x_dot * np.conjugate(polar(x)), axis=(-2, -1), keepdims=keepdims))


matrix_norm.accept(allowed={"ord": (None, "fro", "f", "nuc", 1, -1, 2, -2, np.inf, -np.inf)})
matrix_norm.infer(lambda arguments, literals: _result(arguments, literals | {"axis": (-2, -1)}))


@rule(np.linalg.vector_norm)
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """A norm of any order, several axes of a vector."""
    return unreduce(y_bar, x, axis, keepdims) * norm_slope(x, ord, axis, True)


@vector_norm.tangent
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    return np.real(np.sum(x_dot * norm_slope(x, ord, axis, True), axis=axis, keepdims=keepdims))


@vector_norm.when(of_order(2, None), x=is_real)
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """The root of the sum of squares."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * x


@vector_norm.tangent_when(of_order(2, None), x=is_real)
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    return safe_divide(np.sum(x_dot * x, axis=axis, keepdims=keepdims), y)


@vector_norm.when(of_order(2, None))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """The root of the sum of squared absolute values."""
    return unreduce(safe_divide(y_bar, y), x, axis, keepdims) * np.conjugate(x)


@vector_norm.tangent_when(of_order(2, None))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    return safe_divide(np.real(np.sum(x_dot * np.conjugate(x), axis=axis, keepdims=keepdims)), y)


@vector_norm.when(of_order(1))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """The sum of absolute values."""
    return unreduce(y_bar, x, axis, keepdims) * safe_divide(np.conjugate(x), np.abs(x))


@vector_norm.tangent_when(of_order(1))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return np.real(np.sum(x_dot * unit, axis=axis, keepdims=keepdims))


@vector_norm.when(of_order(np.inf, -np.inf))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """The greatest (least) absolute value; ties share."""
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return unreduce(y_bar, x, axis, keepdims) * unit * ties(np.abs(x), y, axis)


@vector_norm.tangent_when(of_order(np.inf, -np.inf))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    unit = safe_divide(np.conjugate(x), np.abs(x))
    return np.real(np.sum(x_dot * unit * ties(np.abs(x), y, axis), axis=axis, keepdims=keepdims))


@vector_norm.when(of_order(0))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, y_bar):
    """A count."""
    return np.zeros_like(x)


@vector_norm.tangent_when(of_order(0))
def vector_norm(x, axis=None, keepdims=False, ord=2, *, y, x_dot):
    return 0.0 * y


vector_norm.infer(_result)
vector_norm.refuse("norms of orders that are constant are differentiated", ord="the order of a norm is taken as fixed")


# --- condition numbers -----------------------------------------------------------------------------------------------
def _p(*values: object) -> Condition:
    return lambda arguments: arguments["p"].is_literal and arguments["p"].literal in values


@rule(np.linalg.cond)
def cond(x, p=None, *, y, y_bar):
    """The greatest singular value over the least."""
    d = np.linalg.svd(x, full_matrices=False)
    share = extreme_share(d[1], True) - extreme_share(d[1], False)
    slope = np.conjugate(weighted(d[0], safe_divide(share, d[1]), d[2]))
    return np.expand_dims(y_bar * y, (-2, -1)) * slope


@cond.tangent
def cond(x, p=None, *, y, x_dot):
    d = np.linalg.svd(x, full_matrices=False)
    share = extreme_share(d[1], True) - extreme_share(d[1], False)
    slope = np.conjugate(weighted(d[0], safe_divide(share, d[1]), d[2]))
    return y * np.real(np.sum(slope * x_dot, axis=(-2, -1)))


@cond.when(_p(-2))
def cond(x, p=None, *, y, y_bar):
    """The least singular value over the greatest."""
    d = np.linalg.svd(x, full_matrices=False)
    share = extreme_share(d[1], False) - extreme_share(d[1], True)
    slope = np.conjugate(weighted(d[0], safe_divide(share, d[1]), d[2]))
    return np.expand_dims(y_bar * y, (-2, -1)) * slope


@cond.tangent_when(_p(-2))
def cond(x, p=None, *, y, x_dot):
    d = np.linalg.svd(x, full_matrices=False)
    share = extreme_share(d[1], False) - extreme_share(d[1], True)
    slope = np.conjugate(weighted(d[0], safe_divide(share, d[1]), d[2]))
    return y * np.real(np.sum(slope * x_dot, axis=(-2, -1)))


@cond.when(_p("fro"))
def cond(x, p=None, *, y, y_bar):
    """The Frobenius norm of a matrix times that of its inverse."""
    b = np.linalg.inv(x)
    slope = np.conjugate(x) / np.linalg.matrix_norm(x, keepdims=True) ** 2
    back = np.conjugate(b) / np.linalg.matrix_norm(b, keepdims=True) ** 2
    return np.expand_dims(y_bar * y, (-2, -1)) * (slope - b.mT @ back @ b.mT)


@cond.tangent_when(_p("fro"))
def cond(x, p=None, *, y, x_dot):
    b = np.linalg.inv(x)
    slope = np.conjugate(x) / np.linalg.matrix_norm(x, keepdims=True) ** 2
    back = np.conjugate(b) / np.linalg.matrix_norm(b, keepdims=True) ** 2
    return y * np.real(np.sum((slope - b.mT @ back @ b.mT) * x_dot, axis=(-2, -1)))


@cond.when(_p(1, -1, np.inf, -np.inf))
def cond(x, p=None, *, y, y_bar):
    """A norm by sums of absolute values, of a matrix times that of its inverse."""
    b = np.linalg.inv(x)
    shares = norm_shares(x, p, (-2, -1)) / np.linalg.matrix_norm(x, keepdims=True, ord=p)
    back = norm_shares(b, p, (-2, -1)) / np.linalg.matrix_norm(b, keepdims=True, ord=p)
    slope = safe_divide(np.conjugate(b), np.abs(b)) * back
    total = safe_divide(np.conjugate(x), np.abs(x)) * shares - b.mT @ slope @ b.mT
    return np.expand_dims(y_bar * y, (-2, -1)) * total


@cond.tangent_when(_p(1, -1, np.inf, -np.inf))
def cond(x, p=None, *, y, x_dot):
    b = np.linalg.inv(x)
    shares = norm_shares(x, p, (-2, -1)) / np.linalg.matrix_norm(x, keepdims=True, ord=p)
    back = norm_shares(b, p, (-2, -1)) / np.linalg.matrix_norm(b, keepdims=True, ord=p)
    slope = safe_divide(np.conjugate(b), np.abs(b)) * back
    total = safe_divide(np.conjugate(x), np.abs(x)) * shares - b.mT @ slope @ b.mT
    return y * np.real(np.sum(total * x_dot, axis=(-2, -1)))


cond.accept(allowed={"p": (None, 2, -2, "fro", 1, -1, np.inf, -np.inf)})


@cond.infer
def cond(arguments, literals):
    x = as_array(arguments["x"])
    return reduced(x, real_part(floating(x.dtype)), {"axis": (-2, -1), "keepdims": False})
