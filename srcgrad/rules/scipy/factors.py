"""Factors of matrices of scipy.linalg, and systems solved by them: Cholesky, LU, QR; eigenvalues and singular values.

Where NumPy has the same function its rule is shared; what holds of triangles that are not read, arbitrary vectors and
equal values is said in ``srcgrad.rules.decompositions``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import linalg

from srcgrad.rules.decompositions import SWITCH, matrix
from srcgrad.rules.facts import Array, Sequence, Static, Unknown, as_array, promote
from srcgrad.rules.results import floating
from srcgrad.rules.table import rule
from srcgrad.runtime import as_columns, from_columns, from_triangle, half_triangle, to_triangle, unbroadcast
from srcgrad.runtime.scipy.systems import in_triangle, other_triangle, require_square, rows_in_order, rows_in_place


# --- Cholesky --------------------------------------------------------------------------------------------------------
@rule(linalg.cholesky)
def cholesky(a, lower=False, *, c, c_bar):
    """The factor u of a = u^H u (I. Murray, Differentiation of the Cholesky decomposition, 2016)."""
    g = linalg.solve_triangular(np.conjugate(c), half_triangle(c_bar @ c.mT, True))
    return to_triangle(linalg.solve_triangular(c, g.mT).mT, "U")


@cholesky.tangent
def cholesky(a, lower=False, *, c, a_dot):
    g = linalg.solve_triangular(c, from_triangle(a_dot, "U"), 2)
    return half_triangle(linalg.solve_triangular(c, g.mT, 1).mT, True) @ c


@cholesky.when(lower=True)
def cholesky(a, lower=False, *, c, c_bar):
    """The factor l of a = l l^H."""
    g = linalg.solve_triangular(c, half_triangle(c.mT @ c_bar), 1, True)
    return to_triangle(linalg.solve_triangular(c, g.mT, 2, True).mT)


@cholesky.tangent_when(lower=True)
def cholesky(a, lower=False, *, c, a_dot):
    g = linalg.solve_triangular(c, from_triangle(a_dot), 0, True)
    return c @ half_triangle(linalg.solve_triangular(np.conjugate(c), g.mT, 0, True).mT)


@rule(linalg.cho_factor)
def cho_factor(a, lower=False, *, y, y_bar):
    """Cholesky's factor in one triangle; the other one is left as it was, or zero since SciPy 1.18."""
    c = y[0]
    g = linalg.solve_triangular(np.conjugate(c), half_triangle(np.triu(y_bar[0]) @ np.triu(c).mT, True))
    return to_triangle(linalg.solve_triangular(c, g.mT).mT, "U") + other_triangle(y_bar[0])


@cho_factor.tangent
def cho_factor(a, lower=False, *, y, a_dot):
    c = y[0]
    g = linalg.solve_triangular(c, from_triangle(a_dot, "U"), 2)
    moved = half_triangle(linalg.solve_triangular(c, g.mT, 1).mT, True) @ np.triu(c)
    return moved + other_triangle(a_dot), None


@cho_factor.when(lower=True)
def cho_factor(a, lower=False, *, y, y_bar):
    """In the lower triangle."""
    c = y[0]
    g = linalg.solve_triangular(c, half_triangle(np.tril(c).mT @ np.tril(y_bar[0])), 1, True)
    return to_triangle(linalg.solve_triangular(c, g.mT, 2, True).mT) + other_triangle(y_bar[0], True)


@cho_factor.tangent_when(lower=True)
def cho_factor(a, lower=False, *, y, a_dot):
    c = y[0]
    g = linalg.solve_triangular(c, from_triangle(a_dot), 0, True)
    moved = np.tril(c) @ half_triangle(linalg.solve_triangular(np.conjugate(c), g.mT, 0, True).mT)
    return moved + other_triangle(a_dot, True), None


for factored in (cholesky, cho_factor):
    factored.accept(ignored=("check_finite",), allowed={"lower": SWITCH})
cholesky.infer(matrix)


@cho_factor.infer
def cho_factor(arguments, literals):
    if "lower" not in literals or as_array(arguments["a"]).rank != 2:  # SciPy gives lists of stacks
        return Unknown()
    return Sequence("tuple", (matrix(arguments, literals), Static(literals["lower"])))


def solved(factors: str):
    """The fact of a solution: floating numbers, of the shape of b where one matrix was factored."""

    def infer(arguments, literals):
        match arguments[factors]:
            case Sequence(items=(first, _)):
                a, b = as_array(first), as_array(arguments["b"])
                shape = b.shape if a.rank == 2 and (b.rank or 9) <= 2 else None
                return Array(shape, floating(promote(a.dtype, b.dtype)))
        return Array()

    return infer


@rule(linalg.cho_solve)
def cho_solve(c_and_lower, b, *, x, x_bar):
    """The solution of a x = b by the factor of a, through the products of which it is made."""
    g = np.conjugate(linalg.cho_solve(c_and_lower, np.conjugate(as_columns(x_bar, b))))
    z = as_columns(x, b)
    t = np.conjugate(in_triangle(c_and_lower[0], c_and_lower[0], c_and_lower[1]))
    below = g @ (z.mT @ t) + np.conjugate(z) @ (np.conjugate(g.mT) @ t)
    above = (t @ g) @ z.mT + (t @ np.conjugate(z)) @ np.conjugate(g.mT)
    c_bar = in_triangle(-np.where(c_and_lower[1], below, above), c_and_lower[0], c_and_lower[1])
    return [c_bar, None], unbroadcast(from_columns(g, b), b)


@cho_solve.tangent
def cho_solve(c_and_lower, b, *, x, c_and_lower_dot, b_dot):
    z = as_columns(x, b)
    t = in_triangle(c_and_lower[0], c_and_lower[0], c_and_lower[1])
    d = in_triangle(c_and_lower_dot[0], c_and_lower[0], c_and_lower[1])
    below = d @ (np.conjugate(t.mT) @ z) + t @ (np.conjugate(d.mT) @ z)
    above = np.conjugate(d.mT) @ (t @ z) + np.conjugate(t.mT) @ (d @ z)
    moved = linalg.cho_solve(c_and_lower, np.where(c_and_lower[1], below, above))
    return -from_columns(moved, b), linalg.cho_solve(c_and_lower, b_dot)


cho_solve.accept(ignored=("check_finite",))
cho_solve.infer(solved("c_and_lower"))


@rule(linalg.cho_solve_banded)
def cho_solve_banded(cb_and_lower, b, *, x, x_bar):
    """The solution of a x = b by the factor of a banded matrix, in b."""
    return None, unbroadcast(np.conjugate(linalg.cho_solve_banded(cb_and_lower, np.conjugate(x_bar))), b)


@cho_solve_banded.tangent
def cho_solve_banded(cb_and_lower, b, *, x, b_dot):
    return linalg.cho_solve_banded(cb_and_lower, b_dot)


cho_solve_banded.accept(ignored=("check_finite",))
cho_solve_banded.refuse(
    "solve with scipy.linalg.solveh_banded, which takes the matrix itself",
    cb_and_lower="the slope by Cholesky's factor of a banded matrix is not written down",
)


# --- LU --------------------------------------------------------------------------------------------------------------
@rule(linalg.lu_factor)
def lu_factor(a, *, y, y_bar):
    """The factors l and u of a with its rows in another order, in one array (F. de Hoog et al., 2011)."""
    lu = require_square(y[0])
    below = np.tril(y_bar[0], -1)
    core = np.tril(below + np.tril(lu, -1).mT @ below, -1) + np.triu(np.triu(y_bar[0]) @ np.triu(lu).mT)
    left = linalg.solve_triangular(lu, core, 1, True, True)
    return rows_in_place(linalg.solve_triangular(lu, left.mT).mT, y[1])


@lu_factor.tangent
def lu_factor(a, *, y, a_dot):
    lu = require_square(y[0])
    left = linalg.solve_triangular(lu, rows_in_order(a_dot, y[1]), 0, True, True)
    inner = linalg.solve_triangular(lu, left.mT, 1).mT
    below = np.tril(inner, -1)
    return below + np.tril(lu, -1) @ below + np.triu(inner) @ np.triu(lu), None


@rule(linalg.lu)
def lu(a, *, y, y_bar):
    """a = p l u, of which p does not move."""
    l = require_square(y[1])
    core = np.tril(l.mT @ y_bar[1], -1) + np.triu(y_bar[2] @ y[2].mT)
    left = linalg.solve_triangular(l, core, 1, True, True)
    return y[0] @ linalg.solve_triangular(require_square(y[2]), left.mT).mT


@lu.tangent
def lu(a, *, y, a_dot):
    l = require_square(y[1])
    left = linalg.solve_triangular(l, y[0].mT @ a_dot, 0, True, True)
    inner = linalg.solve_triangular(require_square(y[2]), left.mT, 1).mT
    return 0.0 * y[0], l @ np.tril(inner, -1), np.triu(inner) @ y[2]


lu_factor.matrices = cholesky.matrices = cho_factor.matrices = ("a",)
for factored in (lu_factor, lu):
    factored.accept(ignored=("check_finite",))


@lu_factor.infer
def lu_factor(arguments, literals):
    a = matrix(arguments, literals)
    return Sequence("tuple", (a, Array((None,)))) if a.rank == 2 else Unknown()


@rule(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, *, x, x_bar):
    """The solution of a x = b by the factors of a."""
    g = linalg.lu_solve(lu_and_piv, as_columns(x_bar, b), 1)
    z = as_columns(x, b)
    rows = rows_in_order(g, lu_and_piv[1])
    below = np.tril(rows @ (np.triu(lu_and_piv[0]) @ z).mT, -1)
    above = np.triu((rows + np.tril(lu_and_piv[0], -1).mT @ rows) @ z.mT)
    return [unbroadcast(-(below + above), lu_and_piv[0]), None], unbroadcast(from_columns(g, b), b)


@lu_solve.tangent
def lu_solve(lu_and_piv, b, trans=0, *, x, lu_and_piv_dot, b_dot):
    z = as_columns(x, b)
    part = np.triu(lu_and_piv_dot[0]) @ z
    rows = np.tril(lu_and_piv_dot[0], -1) @ (np.triu(lu_and_piv[0]) @ z) + part + np.tril(lu_and_piv[0], -1) @ part
    moved = rows_in_place(rows, lu_and_piv[1])
    return -from_columns(linalg.lu_solve(lu_and_piv, moved), b), linalg.lu_solve(lu_and_piv, b_dot)


@lu_solve.when(trans=1)
def lu_solve(lu_and_piv, b, trans=0, *, x, x_bar):
    """With the transpose."""
    g = linalg.lu_solve(lu_and_piv, as_columns(x_bar, b))
    rows = rows_in_order(as_columns(x, b), lu_and_piv[1])
    below = np.tril(rows @ (np.triu(lu_and_piv[0]) @ g).mT, -1)
    above = np.triu((rows + np.tril(lu_and_piv[0], -1).mT @ rows) @ g.mT)
    return [unbroadcast(-(below + above), lu_and_piv[0]), None], unbroadcast(from_columns(g, b), b)


@lu_solve.tangent_when(trans=1)
def lu_solve(lu_and_piv, b, trans=0, *, x, lu_and_piv_dot, b_dot):
    rows = rows_in_order(as_columns(x, b), lu_and_piv[1])
    part = np.tril(lu_and_piv_dot[0], -1).mT @ rows
    whole = rows + np.tril(lu_and_piv[0], -1).mT @ rows
    moved = np.triu(lu_and_piv[0]).mT @ part + np.triu(lu_and_piv_dot[0]).mT @ whole
    return -from_columns(linalg.lu_solve(lu_and_piv, moved, 1), b), linalg.lu_solve(lu_and_piv, b_dot, 1)


@lu_solve.when(trans=2)
def lu_solve(lu_and_piv, b, trans=0, *, x, x_bar):
    """With the conjugate transpose."""
    h = linalg.lu_solve(lu_and_piv, np.conjugate(as_columns(x_bar, b)))
    rows = rows_in_order(np.conjugate(as_columns(x, b)), lu_and_piv[1])
    below = np.tril(rows @ (np.triu(lu_and_piv[0]) @ h).mT, -1)
    above = np.triu((rows + np.tril(lu_and_piv[0], -1).mT @ rows) @ h.mT)
    return [unbroadcast(-(below + above), lu_and_piv[0]), None], unbroadcast(from_columns(np.conjugate(h), b), b)


@lu_solve.tangent_when(trans=2)
def lu_solve(lu_and_piv, b, trans=0, *, x, lu_and_piv_dot, b_dot):
    rows = rows_in_order(np.conjugate(as_columns(x, b)), lu_and_piv[1])
    part = np.tril(lu_and_piv_dot[0], -1).mT @ rows
    whole = rows + np.tril(lu_and_piv[0], -1).mT @ rows
    moved = np.triu(lu_and_piv[0]).mT @ part + np.triu(lu_and_piv_dot[0]).mT @ whole
    solution = linalg.lu_solve(lu_and_piv, np.conjugate(moved), 2)
    return -from_columns(solution, b), linalg.lu_solve(lu_and_piv, b_dot, 2)


lu_solve.accept(ignored=("check_finite",), allowed={"trans": (0, 1, 2)})
lu_solve.infer(solved("lu_and_piv"))
