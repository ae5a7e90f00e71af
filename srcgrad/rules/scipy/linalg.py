"""Linear systems of scipy.linalg: general, triangular, banded, by factors; matrix equations.

A solver that is told of a structure reads one part of its matrix; the derivative is that of the function as it is
computed, so that the rest has the cotangent 0.  Formulas: M. Giles, *Collected matrix derivative results* (2008).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import linalg

from srcgrad.rules import arguments as known
from srcgrad.rules.decompositions import SWITCH
from srcgrad.rules.facts import Array, as_array, promote
from srcgrad.rules.results import floating
from srcgrad.rules.table import constant, rule
from srcgrad.runtime import as_columns, from_columns, unbroadcast
from srcgrad.runtime.scipy.systems import (
    assumed,
    bands_outer,
    bands_product,
    hermitian_bands,
    in_triangle,
    turned_bands,
    unassumed,
    unhermitian_bands,
    uplo,
)

constant(uplo)


def is_among(*values: object) -> known.Condition:
    """The condition that an argument is one of some literals."""
    return lambda argument: argument.is_literal and argument.literal in values


def solution(matrix: str):
    """The fact of the solution of a system with one matrix."""

    def infer(arguments, literals):
        a, b = as_array(arguments[matrix]), as_array(arguments["b"])
        return Array(b.shape if a.rank == 2 and (b.rank or 9) <= 2 else None, floating(promote(a.dtype, b.dtype)))

    return infer


# --- general systems -------------------------------------------------------------------------------------------------
GENERAL = is_among(None, "gen", "general", "banded")


@rule(linalg.solve)
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """The solution of a x = b, where the structure of a says which part of it is read."""
    g = linalg.solve(np.matrix_transpose(a), as_columns(x_bar, b), not lower, assume_a=assume_a)
    return unassumed(-(g @ as_columns(x, b).mT), a, assume_a, lower), unbroadcast(from_columns(g, b), b)


@solve.tangent
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, a_dot, b_dot):
    moved = assumed(a_dot, assume_a, lower) @ as_columns(x, b)
    a_part = -from_columns(linalg.solve(a, moved, lower, assume_a=assume_a), b)
    return a_part, linalg.solve(a, b_dot, lower, assume_a=assume_a)


@solve.when(transposed=True)
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """The solution of a.T x = b."""
    g = linalg.solve(a, as_columns(x_bar, b), lower, assume_a=assume_a)
    return unassumed(-(as_columns(x, b) @ g.mT), a, assume_a, lower), unbroadcast(from_columns(g, b), b)


@solve.tangent_when(transposed=True)
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, a_dot, b_dot):
    moved = assumed(a_dot, assume_a, lower).mT @ as_columns(x, b)
    a_part = -from_columns(linalg.solve(a, moved, lower, assume_a=assume_a, transposed=True), b)
    return a_part, linalg.solve(a, b_dot, lower, assume_a=assume_a, transposed=True)


@solve.when(known.alike("a", "b"), assume_a=GENERAL, a=known.rank(2), b=known.rank(1))
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """One matrix, one vector."""
    g = linalg.solve(a.T, x_bar)
    return unassumed(np.outer(-g, x), a), g


@solve.when(assume_a=GENERAL)
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """With any matrix."""
    g = linalg.solve(np.matrix_transpose(a), as_columns(x_bar, b))
    return unassumed(-(g @ as_columns(x, b).mT), a), unbroadcast(from_columns(g, b), b)


@solve.tangent_when(assume_a=GENERAL)
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, a_dot, b_dot):
    return -from_columns(linalg.solve(a, a_dot @ as_columns(x, b)), b), linalg.solve(a, b_dot)


@solve.when(assume_a="upper triangular")
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """With one triangle."""
    g = linalg.solve(np.matrix_transpose(a), as_columns(x_bar, b), assume_a="lower triangular")
    return unassumed(-(g @ as_columns(x, b).mT), a, assume_a), unbroadcast(from_columns(g, b), b)


@solve.when(assume_a="lower triangular")
def solve(a, b, lower=False, assume_a=None, transposed=False, *, x, x_bar):
    """With the other triangle."""
    g = linalg.solve(np.matrix_transpose(a), as_columns(x_bar, b), assume_a="upper triangular")
    return unassumed(-(g @ as_columns(x, b).mT), a, assume_a), unbroadcast(from_columns(g, b), b)


STRUCTURES = (
    None, "gen", "general", "banded", "diagonal", "tridiagonal", "upper triangular", "lower triangular", "sym",
    "symmetric", "her", "hermitian", "pos", "positive definite",
)  # fmt: skip
solve.accept(ignored=("check_finite",), allowed={"assume_a": STRUCTURES, "transposed": SWITCH})
solve.infer(solution("a"))
solve.matrices = ("a",)


# --- triangular systems ----------------------------------------------------------------------------------------------
@rule(linalg.solve_triangular)
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, x_bar):
    """The solution of a x = b with one triangle of a."""
    g = linalg.solve_triangular(a, as_columns(x_bar, b), 1, lower, unit_diagonal)
    a_bar = in_triangle(-(g @ as_columns(x, b).mT), a, lower, unit_diagonal)
    return a_bar, unbroadcast(from_columns(g, b), b)


@solve_triangular.tangent
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, a_dot, b_dot):
    moved = in_triangle(a_dot, a, lower, unit_diagonal) @ as_columns(x, b)
    a_part = -from_columns(linalg.solve_triangular(a, moved, trans, lower, unit_diagonal), b)
    return a_part, linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)


@solve_triangular.when(known.alike("a", "b"), trans=is_among(0, "N"), a=known.rank(2), b=known.rank(1))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, x_bar):
    """One matrix, one vector."""
    g = linalg.solve_triangular(a, x_bar, 1, lower, unit_diagonal)
    return in_triangle(np.outer(-g, x), a, lower, unit_diagonal), g


@solve_triangular.when(trans=is_among(1, "T"))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, x_bar):
    """With the transpose."""
    g = linalg.solve_triangular(a, as_columns(x_bar, b), 0, lower, unit_diagonal)
    a_bar = in_triangle(-(as_columns(x, b) @ g.mT), a, lower, unit_diagonal)
    return a_bar, unbroadcast(from_columns(g, b), b)


@solve_triangular.tangent_when(trans=is_among(1, "T"))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, a_dot, b_dot):
    moved = in_triangle(a_dot, a, lower, unit_diagonal).mT @ as_columns(x, b)
    a_part = -from_columns(linalg.solve_triangular(a, moved, trans, lower, unit_diagonal), b)
    return a_part, linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)


@solve_triangular.when(trans=is_among(2, "C"))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, x_bar):
    """With the conjugate transpose."""
    h = linalg.solve_triangular(a, np.conjugate(as_columns(x_bar, b)), 0, lower, unit_diagonal)
    a_bar = in_triangle(-(np.conjugate(as_columns(x, b)) @ h.mT), a, lower, unit_diagonal)
    return a_bar, unbroadcast(from_columns(np.conjugate(h), b), b)


@solve_triangular.tangent_when(trans=is_among(2, "C"))
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, *, x, a_dot, b_dot):
    moved = np.conjugate(in_triangle(a_dot, a, lower, unit_diagonal).mT) @ as_columns(x, b)
    a_part = -from_columns(linalg.solve_triangular(a, moved, trans, lower, unit_diagonal), b)
    return a_part, linalg.solve_triangular(a, b_dot, trans, lower, unit_diagonal)


solve_triangular.accept(ignored=("check_finite",), allowed={"trans": (0, "N", 1, "T", 2, "C")})
solve_triangular.infer(solution("a"))


# --- banded systems --------------------------------------------------------------------------------------------------
@rule(linalg.solve_banded)
def solve_banded(l_and_u, ab, b, *, x, x_bar):
    """The solution of a x = b, of a its diagonals: b_bar solves the transposed system, turned like them."""
    g = linalg.solve_banded((l_and_u[1], l_and_u[0]), turned_bands(l_and_u, ab), x_bar)
    return None, unbroadcast(bands_outer(l_and_u, -g, x), ab), unbroadcast(g, b)


@solve_banded.tangent
def solve_banded(l_and_u, ab, b, *, x, ab_dot, b_dot):
    moved = bands_product(l_and_u, ab_dot, x)
    return -linalg.solve_banded(l_and_u, ab, moved), linalg.solve_banded(l_and_u, ab, b_dot)


@rule(linalg.solveh_banded)
def solveh_banded(ab, b, lower=False, *, x, x_bar):
    """The solution of a x = b, of a Hermitian a half of its diagonals."""
    h = linalg.solveh_banded(ab, np.conjugate(x_bar), lower=lower)
    width = np.shape(ab)[0] - 1
    full = bands_outer((width, width), -np.conjugate(h), x)
    return unbroadcast(unhermitian_bands(full, lower), ab), unbroadcast(np.conjugate(h), b)


@solveh_banded.tangent
def solveh_banded(ab, b, lower=False, *, x, ab_dot, b_dot):
    width = np.shape(ab)[0] - 1
    moved = bands_product((width, width), hermitian_bands(ab_dot, lower), x)
    return -linalg.solveh_banded(ab, moved, lower=lower), linalg.solveh_banded(ab, b_dot, lower=lower)


for banded in (solve_banded, solveh_banded):
    banded.matrices = ("ab",)
    banded.accept(ignored=("check_finite",))
    banded.infer(solution("ab"))


# --- matrix equations ------------------------------------------------------------------------------------------------
@rule(linalg.solve_sylvester)
def solve_sylvester(a, b, q, *, x, x_bar):
    """The solution of a x + x b = q: q_bar solves the transposed equation."""
    g = linalg.solve_sylvester(np.matrix_transpose(a), np.matrix_transpose(b), x_bar)
    return unbroadcast(-(g @ x.mT), a), unbroadcast(-(x.mT @ g), b), unbroadcast(g, q)


@solve_sylvester.tangent
def solve_sylvester(a, b, q, *, x, a_dot, b_dot, q_dot):
    a_part = -linalg.solve_sylvester(a, b, a_dot @ x)
    return a_part, -linalg.solve_sylvester(a, b, x @ b_dot), linalg.solve_sylvester(a, b, q_dot)


@rule(linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a, q, *, x, x_bar):
    """The solution of a x + x a^H = q."""
    g = linalg.solve_continuous_lyapunov(np.matrix_transpose(a), x_bar)
    return unbroadcast(-(g @ x.mT + np.conjugate(x.mT @ g).mT), a), unbroadcast(g, q)


@solve_continuous_lyapunov.tangent
def solve_continuous_lyapunov(a, q, *, x, a_dot, q_dot):
    moved = a_dot @ x + x @ np.conjugate(np.matrix_transpose(a_dot))
    return -linalg.solve_continuous_lyapunov(a, moved), linalg.solve_continuous_lyapunov(a, q_dot)


@rule(linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a, q, method=None, *, x, x_bar):
    """The solution of a x a^H - x + q = 0."""
    g = linalg.solve_discrete_lyapunov(np.matrix_transpose(a), x_bar, method)
    left = g @ np.conjugate(a) @ x.mT
    return unbroadcast(left + np.conjugate(g.mT @ (a @ x)), a), unbroadcast(g, q)


@solve_discrete_lyapunov.tangent
def solve_discrete_lyapunov(a, q, method=None, *, x, a_dot, q_dot):
    turned = np.conjugate(np.matrix_transpose(a_dot))
    moved = a_dot @ x @ np.conjugate(np.matrix_transpose(a)) + a @ x @ turned
    return linalg.solve_discrete_lyapunov(a, moved, method), linalg.solve_discrete_lyapunov(a, q_dot, method)


@solve_sylvester.infer
def solve_sylvester(arguments, literals):
    a, b, q = (as_array(arguments[p]) for p in "abq")
    dtype = floating(promote(promote(a.dtype, b.dtype), q.dtype))
    return Array(q.shape if a.rank == b.rank == q.rank == 2 else None, dtype)


solve_sylvester.matrices = ("a", "b", "q")
for lyapunov in (solve_continuous_lyapunov, solve_discrete_lyapunov):
    lyapunov.matrices = ("a", "q")

    @lyapunov.infer
    def lyapunov(arguments, literals):
        a, q = as_array(arguments["a"]), as_array(arguments["q"])
        return Array(q.shape if a.rank == q.rank == 2 else None, floating(promote(a.dtype, q.dtype)))
