"""Rules of products with sparse matrices, and of ``scipy.sparse.linalg.spsolve``: linear in the array.

The cotangent of the array is the product with the transpose, not the adjoint: cotangents pair without conjugation.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import spsolve

from srcgrad.rules.table import constant, linear
from srcgrad.runtime import unbroadcast
from srcgrad.runtime.scipy import sparse
from srcgrad.runtime.scipy.sparse import (
    entries,
    entries_of_outer,
    product,
    product_left,
    spread,
    spread_product,
    turned,
    unentries,
    unspread,
)

constant(sparse.turned)


@linear(sparse.product, "x")
def product_(A, x, *, y, y_bar):
    """A sparse matrix times an array."""
    return unbroadcast(product(turned(A), y_bar), x)


@linear(sparse.product_left, "x")
def product_left_(x, A, *, y, y_bar):
    """An array times a sparse matrix."""
    return unbroadcast(product_left(y_bar, turned(A)), x)


@linear(spsolve, "b")
def spsolve_(A, b, permc_spec=None, use_umfpack=True, *, y, y_bar):
    """The solution of A @ y = b; transposed, of A.T @ b_bar = y_bar."""
    return unbroadcast(np.reshape(spsolve(turned(A), y_bar), np.shape(b)), b)


# --- entries weighted by an array ------------------------------------------------------------------------------------
@linear(sparse.entries, "x")
def entries_(A, x, *, y, y_bar):
    """The entries of A.multiply(x)."""
    return unbroadcast(unentries(A, y_bar, x), x)


@linear(sparse.unentries, "g")
def unentries_(A, g, x, *, y, y_bar):
    """Its transpose."""
    return unbroadcast(entries(A, y_bar), g)


@linear(sparse.spread, "e")
def spread_(A, e, *, y, y_bar):
    """An array from its entries in a pattern."""
    return unbroadcast(unspread(A, y_bar), e)


@linear(sparse.unspread, "g")
def unspread_(A, g, *, y, y_bar):
    """The entries of an array in a pattern."""
    return unbroadcast(spread(A, y_bar), g)


@linear(sparse.spread_product, "e", "v")
def spread_product_(A, e, v, is_turned=False, *, y, y_bar):
    """A matrix from its entries, times an array."""
    return (
        unbroadcast(entries_of_outer(A, v, y_bar) if is_turned else entries_of_outer(A, y_bar, v), e),
        unbroadcast(spread_product(A, e, y_bar, not is_turned), v),
    )


@linear(sparse.entries_of_outer, "u", "v")
def entries_of_outer_(A, u, v, *, y, y_bar):
    """Entries of an outer product in a pattern."""
    return (
        unbroadcast(spread_product(A, y_bar, v), u),
        unbroadcast(spread_product(A, y_bar, u, True), v),
    )
