"""Rules of what the derivatives of scipy.linalg are made of: each function and its transpose."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import linalg

from srcgrad.rules.facts import as_array
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.table import linear
from srcgrad.runtime import rebroadcast, unbroadcast
from srcgrad.runtime.scipy import matrices, systems
from srcgrad.runtime.scipy.matrices import block_placed, unhankel_c, unhankel_r, untoeplitz_c, untoeplitz_r
from srcgrad.runtime.scipy.systems import (
    assumed,
    bands_outer,
    bands_product,
    hermitian_bands,
    in_triangle,
    other_triangle,
    rows_in_order,
    rows_in_place,
    turned_bands,
    unassumed,
    unhermitian_bands,
)


# --- matrices of which a part is read --------------------------------------------------------------------------------
@linear(systems.assumed, "a")
def assumed_(a, assume_a=None, lower=False, *, y, y_bar):
    """The matrix that a solver sees."""
    return unassumed(y_bar, a, assume_a, lower)


@linear(systems.unassumed, "g")
def unassumed_(g, a, assume_a=None, lower=False, *, y, y_bar):
    """Its transpose."""
    return rebroadcast(assumed(y_bar, assume_a, lower), g)


@linear(systems.in_triangle, "g")
def in_triangle_(g, a, lower=False, unit_diagonal=False, *, y, y_bar):
    """A triangle, which is its own transpose."""
    return rebroadcast(in_triangle(y_bar, y_bar, lower, unit_diagonal), g)


@linear(systems.other_triangle, "a")
def other_triangle_(a, lower=False, *, y, y_bar):
    """A triangle, which is its own transpose."""
    return other_triangle(y_bar, lower)


@linear(systems.require_square, "a")
def require_square_(a, *, y, y_bar):
    """Nothing but a check."""
    return y_bar


@linear(systems.require_tall, "a")
def require_tall_(a, *, y, y_bar):
    """Nothing but a check."""
    return y_bar


@linear(systems.rows_in_order, "x")
def rows_in_order_(x, piv, *, y, y_bar):
    """Rows in another order; put back."""
    return rows_in_place(y_bar, piv)


@linear(systems.rows_in_place, "x")
def rows_in_place_(x, piv, *, y, y_bar):
    """Rows put back; in the other order again."""
    return rows_in_order(y_bar, piv)


# --- matrices stored by their diagonals ------------------------------------------------------------------------------
@linear(systems.bands_product, "ab", "x")
def bands_product_(l_and_u, ab, x, *, y, y_bar):
    """A matrix times columns."""
    turned = turned_bands(l_and_u, ab)
    return (
        unbroadcast(bands_outer(l_and_u, y_bar, x), ab),
        unbroadcast(bands_product((l_and_u[1], l_and_u[0]), turned, y_bar), x),
    )


@linear(systems.bands_outer, "g", "x")
def bands_outer_(l_and_u, g, x, *, y, y_bar):
    """The diagonals of a product of columns."""
    turned = turned_bands(l_and_u, y_bar)
    return (
        unbroadcast(bands_product(l_and_u, y_bar, x), g),
        unbroadcast(bands_product((l_and_u[1], l_and_u[0]), turned, g), x),
    )


@linear(systems.turned_bands, "ab")
def turned_bands_(l_and_u, ab, *, y, y_bar):
    """Diagonals turned, and back."""
    return turned_bands((l_and_u[1], l_and_u[0]), y_bar)


@linear(systems.hermitian_bands, "ab")
def hermitian_bands_(ab, lower=False, *, y, y_bar):
    """All diagonals from a half of them."""
    return unhermitian_bands(y_bar, lower)


@linear(systems.unhermitian_bands, "g")
def unhermitian_bands_(g, lower=False, *, y, y_bar):
    """The transpose of that."""
    return hermitian_bands(y_bar, lower)


# --- matrices made of vectors ----------------------------------------------------------------------------------------
@linear(matrices.untoeplitz_c, "g")
def untoeplitz_c_(g, c, *, y, y_bar):
    """Sums along diagonals; spread along them again."""
    return linalg.toeplitz(y_bar, np.zeros_like(g[..., 0, :]))


@linear(matrices.untoeplitz_r, "g")
def untoeplitz_r_(g, r, *, y, y_bar):
    """Sums along the diagonals above the main one; spread along them again."""
    return linalg.toeplitz(np.zeros_like(g[..., 0]), y_bar)


@linear(matrices.unhankel_c, "g")
def unhankel_c_(g, c, *, y, y_bar):
    """Sums along the first diagonals from below to above; spread along them again."""
    return linalg.hankel(y_bar, np.zeros_like(g[0]))


@linear(matrices.unhankel_r, "g")
def unhankel_r_(g, r, *, y, y_bar):
    """Sums along the last of these diagonals; spread along them again."""
    return linalg.hankel(np.zeros_like(g[..., 0]), y_bar)


@linear(matrices.uncirculant, "g")
def uncirculant_(g, c, *, y, y_bar):
    """Sums along diagonals that go on at the other side; spread along them again."""
    return linalg.circulant(y_bar)


@linear(matrices.block, "g")
def block_(g, like, *before, y, y_bar):
    """A block on the diagonal, cut out; put back."""
    return block_placed(y_bar, g, *before), None, None


@linear(matrices.block_placed, "g")
def block_placed_(g, like, *before, y, y_bar):
    """A block put among zeros; cut out again."""
    return matrices.block(y_bar, g, *before), None, None


def _like(name: str):
    return lambda arguments, literals: as_array(arguments[name])


for placed, name in (
    (unassumed_, "a"), (in_triangle_, "a"), (untoeplitz_c_, "c"), (untoeplitz_r_, "r"), (unhankel_c_, "c"),
    (unhankel_r_, "r"), (uncirculant_, "c"), (block_, "like"), (block_placed_, "like"),
):  # fmt: skip
    placed.infer(_like(name))
for transpose in (unassumed, in_triangle, untoeplitz_c, untoeplitz_r, unhankel_c, unhankel_r, matrices.uncirculant):
    reads_shape(transpose, 1)
reads_shape(matrices.block, 1, 2, 3, 4, 5, 6, 7, 8)
reads_shape(block_placed, 1, 2, 3, 4, 5, 6, 7, 8)
