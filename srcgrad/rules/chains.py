"""Chains of matrices: ``multi_dot``, powers, and the blocks that carry a derivative along.

N. Higham, *Functions of Matrices* (2008), theorem 3.6; the adjoint of the derivative at ``a`` along a direction is the
derivative at the transpose of ``a``, as powers and transposition commute.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Array, Sequence, as_array
from srcgrad.rules.formula import is_none, spelling
from srcgrad.rules.results import joined
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import add, corner, doubled, multi_dot_slope, undoubled, unmulti_dot


# --- powers ----------------------------------------------------------------------------------------------------------
@rule(np.linalg.matrix_power)
def matrix_power(a, n, *, y, y_bar):
    """A power of square matrices, negative ones of the inverse."""
    return corner(np.linalg.matrix_power(doubled(np.swapaxes(a, -1, -2), y_bar), n))


@matrix_power.tangent
def matrix_power(a, n, *, y, a_dot):
    return corner(np.linalg.matrix_power(doubled(a, a_dot), n))


@matrix_power.infer
def matrix_power(arguments, literals):
    return as_array(arguments["a"])


# --- blocks ----------------------------------------------------------------------------------------------------------
@rule(runtime.doubled)
def doubled_(a, e, *, y, y_bar):
    """The matrix twice on the diagonal, the direction in the corner."""
    return undoubled(y_bar), corner(y_bar)


@doubled_.tangent
def doubled_(a, e, *, y, a_dot, e_dot):
    return doubled(a_dot, np.zeros_like(e)), doubled(np.zeros_like(a), e_dot)


@linear(runtime.undoubled, "g")
def undoubled_(g, *, y, y_bar):
    """The sum of the blocks on the diagonal."""
    return doubled(y_bar, np.zeros_like(y_bar))


@linear(runtime.corner, "a")
def corner_(a, *, y, y_bar):
    """The upper right quarter."""
    return doubled(np.zeros_like(y_bar), y_bar)


# --- multi_dot -------------------------------------------------------------------------------------------------------
@rule(np.linalg.multi_dot)
def multi_dot(arrays, *, y, y_bar):
    """A chain of matrices: the factors before and behind, transposed, around the cotangent."""
    return unmulti_dot(y_bar, arrays)


@multi_dot.tangent
def multi_dot(arrays, *, y, arrays_dot):
    return multi_dot_slope(arrays, arrays_dot)


@multi_dot.infer
def multi_dot(arguments, literals):
    fact, _ = joined(arguments["arrays"])
    match arguments["arrays"]:
        case Sequence(items=(first, *_, last)):
            ends = as_array(first).shape, as_array(last).shape
            if fact is not None and ends[0] is not None and ends[1] is not None:
                shape = ends[0][:-1] + ends[1][1:]
                return Array(shape, fact.dtype)
    return Array(None, None if fact is None else fact.dtype)


def _others(given: Mapping[str, gast.expr], i: int, *instead: gast.expr) -> list[gast.expr]:
    """The directions of a call, one of them left out or replaced."""
    directions = given["directions"]
    assert isinstance(directions, gast.Tuple)
    return [e for j in range(len(directions.elts)) for e in (instead if j == i else [item("directions", j)])]


def _without(given: Mapping[str, gast.expr], leading: tuple[str, ...], *further: str) -> gast.expr:
    """The partial of each direction: the chain's transpose along the others."""
    directions = given["directions"]
    assert isinstance(directions, gast.Tuple)
    partials: list[gast.expr] = [
        gast.Call(spelling(unmulti_dot), [*map(read, leading), *_others(given, i), *map(read, further)], [])
        for i in range(len(directions.elts))
    ]
    return gast.Tuple(partials, gast.Load())


def _along(given: Mapping[str, gast.expr], function, leading: tuple[str, ...]) -> gast.expr:
    """The sum over the directions that move, each replaced by its tangent."""
    directions, dots = given["directions"], given.get("directions_dot")
    assert isinstance(directions, gast.Tuple)
    total: gast.expr | None = None
    for i in range(len(directions.elts)):
        if isinstance(dots, gast.Tuple) and is_none(dots.elts[i]):
            continue
        term = gast.Call(
            spelling(function), [*map(read, leading), *_others(given, i, item("directions_dot", i))], []
        )
        if total is None:
            total = term
        elif function is unmulti_dot:
            total = gast.Call(spelling(add), [total, term], [])
        else:
            total = gast.BinOp(total, gast.Add(), term)
    assert total is not None
    return total


@rule(runtime.multi_dot_slope)
def multi_dot_slope_(arrays, *directions, y, y_bar):
    """The derivative of a chain along directions, each of which it is linear in."""
    return unmulti_dot(y_bar, arrays, *directions)


@multi_dot_slope_.tangent
def multi_dot_slope_(arrays, *directions, y, arrays_dot):
    return multi_dot_slope(arrays, *directions, arrays_dot)


multi_dot_slope_.expand(
    lambda given: _without(given, ("y_bar", "arrays")), lambda given: _along(given, multi_dot_slope, ("arrays",))
)


@rule(runtime.unmulti_dot)
def unmulti_dot_(g, arrays, *directions, y, y_bar):
    """The transpose of the derivative of a chain: along the cotangents, as second derivatives are symmetric."""
    return multi_dot_slope(arrays, *directions, y_bar), unmulti_dot(g, arrays, *directions, y_bar)


@unmulti_dot_.tangent
def unmulti_dot_(g, arrays, *directions, y, g_dot, arrays_dot):
    return unmulti_dot(g_dot, arrays, *directions), unmulti_dot(g, arrays, *directions, arrays_dot)


unmulti_dot_.expand(
    lambda given: _without(given, ("g", "arrays"), "y_bar"), lambda given: _along(given, unmulti_dot, ("g", "arrays"))
)
unmulti_dot_.sums = add
