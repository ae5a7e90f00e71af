"""Products with sparse matrices, which are constants, solutions with them, and their entries weighted by an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import spsolve

from srcgrad.runtime.scipy import sparse
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(61)
n, c = draws.n, draws.c


def matrix(rows: int, columns: int, is_complex: bool = False) -> Any:
    """Half of the entries are there."""
    kept = (np.arange(rows * columns).reshape(rows, columns) % 2 == 0) + np.eye(rows, columns)
    return scipy.sparse.csr_array((c if is_complex else n)(rows, columns) * (kept > 0.0))


A, B, COUNT = matrix(3, 4), matrix(3, 4, is_complex=True), matrix(3, 4).nnz
SQUARE = (matrix(3, 3) + scipy.sparse.csr_array(4.0 * np.eye(3))).tocsc()

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    sparse.product: [call(A, n(4)), call(A, n(4, 2)), call(B, c(4)), call(A.tocoo(), n(4))],
    sparse.product_left: [call(n(3), A), call(n(2, 3), A), call(c(3), B)],
    spsolve: [
        call(SQUARE, n(3)),
        call(SQUARE, n(3, 2)),
        call(SQUARE, n(3), permc_spec="NATURAL"),
        call(SQUARE, n(3), use_umfpack=False),
    ],
    sparse.entries: [call(A, n(3, 4)), call(A, n(4)), call(A, n(3, 1)), call(B, c(3, 4))],
    sparse.unentries: [call(A, n(COUNT), n(3, 4)), call(A, n(COUNT), n(4)), call(A, n(COUNT), n(3, 1))],
    sparse.spread: [call(A, n(COUNT)), call(A, c(COUNT))],
    sparse.unspread: [call(A, n(3, 4)), call(A, c(3, 4))],
    sparse.spread_product: [
        call(A, n(COUNT), n(4)),
        call(A, n(COUNT), n(4, 2)),
        call(A, n(COUNT), n(3), True),
        call(A, c(COUNT), c(4)),
    ],
    sparse.entries_of_outer: [call(A, n(3), n(4)), call(A, n(3, 2), n(4, 2)), call(A, c(3), c(4))],
}
ANALYTIC: set[Callable[..., Any]] = set()
