"""Products with sparse matrices, which are constants, and with what has their entries weighted by an array.

A sparse matrix is never differentiated; ``turned`` is its transpose, without conjugation:

>>> product(scipy.sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.ones(2))
array([3., 3.])

``A.multiply(x)`` of an array ``x`` has the pattern of ``A``, and is kept as the vector of its entries:

>>> entries(scipy.sparse.csr_array([[1.0, 2.0], [0.0, 3.0]]), np.array([1.0, 10.0]))
array([ 1., 20., 30.])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from srcgrad.runtime.exact import is_sparse, named
from srcgrad.runtime.refusals import RefusedType


def _require(A: Any, x: Any) -> None:
    """Refuse a product that is none of a sparse matrix and an array."""
    if not is_sparse(type(A)):
        raise RefusedType("E0508", f"a {named(type(A))} stands where a sparse matrix was when this was compiled")
    if is_sparse(type(x)) or np.ndim(x) == 0:
        what = named(type(x)) if is_sparse(type(x)) else "number"
        raise RefusedType(
            "E0508", f"a {what} stands where a sparse matrix is multiplied by an array; write 2.0 * A, or A @ B"
        )


def turned(A: Any) -> Any:
    """The transpose of a sparse matrix."""
    return A.T


def product(A: Any, x: Any) -> Any:
    """``A @ x`` for an array of rank 1 or 2."""
    _require(A, x)
    return A @ x


def product_left(x: Any, A: Any) -> Any:
    """``x @ A`` for an array of rank 1 or 2."""
    _require(A, x)
    return x @ A


# --- entries weighted by an array ------------------------------------------------------------------------------------
def _places(A: Any, is_turned: bool = False) -> tuple[Any, Any]:
    coo = A.tocoo()
    if coo.ndim != 2:
        raise RefusedType("E0508", "a sparse array of rank 1 is multiplied by an array; make it one row of a matrix")
    return (coo.col, coo.row) if is_turned else (coo.row, coo.col)


def _flat(A: Any, x: Any) -> Any:
    """For each entry of ``A`` the place in ``x.ravel()`` of the number that it is multiplied by."""
    size, shape = np.size(x), np.shape(x)
    return np.broadcast_to(np.arange(size).reshape(shape), A.shape)[_places(A)]


def _added(g: Any, places: Any, size: int) -> Any:
    made = np.zeros(size, np.result_type(g, np.float32) if np.asarray(g).dtype.kind in "biu" else np.asarray(g).dtype)
    np.add.at(made, places, g)
    return made


def entries(A: Any, x: Any) -> Any:
    """The entries of ``A.multiply(x)``, in the order of ``A.tocoo()``."""
    if is_sparse(type(x)):
        raise RefusedType("E0508", f"a {named(type(x))} stands where a sparse matrix is multiplied by an array")
    return A.tocoo().data * np.ravel(x)[_flat(A, x)]


def unentries(A: Any, g: Any, x: Any) -> Any:
    """The transpose of ``entries(A, x)`` in ``x``: each entry of ``g`` added where its factor stood."""
    return _added(A.tocoo().data * g, _flat(A, x), np.size(x)).reshape(np.shape(x))


def spread(A: Any, e: Any) -> Any:
    """The array with entries ``e`` in the pattern of ``A``."""
    made = _added(e, np.ravel_multi_index(_places(A), A.shape), A.shape[0] * A.shape[1])
    return made.reshape(A.shape)


def unspread(A: Any, g: Any) -> Any:
    """The numbers of ``g`` in the pattern of ``A``."""
    return g[_places(A)]


def spread_product(A: Any, e: Any, v: Any, is_turned: bool = False) -> Any:
    """The matrix with entries ``e`` in the pattern of ``A``, or its transpose, times an array."""
    shape = A.shape[::-1] if is_turned else A.shape
    return scipy.sparse.coo_array((e, _places(A, is_turned)), shape).tocsr() @ v


def entries_of_outer(A: Any, u: Any, v: Any) -> Any:
    """The entries of ``u @ v.T`` in the pattern of ``A``; of vectors, of their outer product."""
    row, column = _places(A)
    made = u[row] * v[column]
    return np.sum(made, 1) if np.ndim(made) == 2 else made

