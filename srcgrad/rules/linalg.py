"""Square matrices: inverses, determinants, linear systems.

Formulas: M. Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*
(2008).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, as_array, promote
from srcgrad.rules.results import reduced
from srcgrad.rules.table import rule
from srcgrad.rules.template import rank
from srcgrad.runtime import one_vector, unbroadcast, unmatmul_left


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
