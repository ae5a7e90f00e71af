"""Functions of scipy.linalg: systems, factors, matrix equations, functions of matrices, matrices made of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from srcgrad.runtime.scipy import matrices, systems
from tests.rules.samples.calls import Call, Draws, call
from tests.rules.samples.decompositions import (
    general,
    hermitian,
    singular_vectors_alike,
    symmetric,
    turning,
    vectors_alike,
)
from tests.rules.samples.linalg import complex_spread, spread

draws = Draws(41)
n, c, u, spd, hpd = draws.n, draws.c, draws.u, draws.spd, draws.hpd
BATCHES = tuple(map(int, __import__("scipy").__version__.split(".")[:2])) >= (1, 16)


def batched(*calls: Call) -> list[Call]:
    """Calls with stacks of matrices, which SciPy takes in most places since 1.16."""
    return list(calls) if BATCHES else []


def apart(*shape: int) -> Any:
    """Matrices with a heavy diagonal."""
    return n(*shape) + 4.0 * np.eye(shape[-1])


def complex_apart(*shape: int) -> Any:
    return c(*shape) + 5.0 * np.eye(shape[-1])


def logarithmic(*shape: int) -> Any:
    """Matrices whose eigenvalues are away from the negative axis."""
    return 0.3 * n(*shape) + 1.5 * np.eye(shape[-1])


def banded(lower: int, upper: int, size: int, draw: Callable[..., Any] = n) -> Any:
    ab = draw(lower + upper + 1, size)
    ab[upper] += 5.0
    return ab


def half_banded(width: int, size: int, lower: bool, draw: Callable[..., Any] = n) -> Any:
    ab = draw(width + 1, size)
    ab[0 if lower else width] += 6.0
    return ab


def rolled(draw: Callable[..., Any], *shape: int) -> Any:
    """Matrices with a heavy diagonal, their rows in another order, which pivots put right."""
    return np.roll(draw(*shape) + 4.0 * np.eye(shape[-1]), 1, axis=-2)


_hermitian = hpd(3)
SAMPLES: dict[Callable[..., Any], list[Call]] = {
    # systems
    linalg.solve: [
        call(apart(3, 3), n(3)),
        call(apart(3, 3), n(3, 2)),
        call(complex_apart(3, 3), n(3)),
        call(apart(3, 3), c(3, 2), assume_a="gen"),
        call(spd(3) + np.tril(n(3, 3), -1), n(3), assume_a="pos"),
        call(_hermitian + np.triu(c(3, 3), 1), c(3, 2), True, assume_a="positive definite"),
        call(symmetric(3, 3) + np.tril(n(3, 3), -1), n(3, 2), assume_a="sym"),
        call(complex_apart(3, 3) + np.triu(c(3, 3), 1), c(3), True, assume_a="symmetric"),
        call(hermitian(3, 3), c(3), assume_a="her"),
        call(hermitian(3, 3), n(3, 1), lower=True, assume_a="hermitian"),
        call(apart(3, 3), n(3), transposed=True),
        call(spd(3), n(3, 2), assume_a="pos", transposed=True),
        *batched(
            call(apart(2, 3, 3), n(3)),
            call(apart(3, 3), n(2, 3, 2)),
            call(apart(3, 3), n(3, 2), assume_a="diagonal"),
            call(apart(4, 4), n(4), assume_a="tridiagonal"),
            call(complex_apart(3, 3), n(3), assume_a="upper triangular"),
            call(apart(2, 3, 3), n(3), transposed=True),
            call(complex_apart(3, 3), n(3, 2), assume_a="lower triangular"),
            call(apart(3, 3), n(3), assume_a="banded"),
            call(apart(3, 3), n(3), assume_a="lower triangular", transposed=True),
        ),
    ],
    linalg.solve_triangular: [
        call(apart(3, 3), n(3)),
        call(apart(3, 3), n(3, 2), 0, True),
        call(apart(3, 3), n(3), trans=1, lower=True, unit_diagonal=True),
        call(apart(3, 3), n(3, 2), trans="T", unit_diagonal=True),
        call(complex_apart(3, 3), n(3, 2), "C", True),
        call(complex_apart(3, 3), c(3), trans=2),
        call(complex_apart(3, 3), c(3), trans="N", unit_diagonal=True),
        *batched(call(apart(2, 3, 3), n(3)), call(apart(2, 3, 3), n(3, 2), 1), call(apart(3, 3), n(2, 3, 1), 2, True)),
    ],
    linalg.solve_banded: [
        call((1, 1), banded(1, 1, 4), n(4)),
        call((0, 2), banded(0, 2, 4), n(4, 2)),
        call((2, 1), banded(2, 1, 3), c(3)),
        call((1, 2), banded(1, 2, 4, c), n(4, 2)),
        call((3, 0), banded(3, 0, 3), n(3)),
    ],
    linalg.solveh_banded: [
        call(half_banded(1, 4, False), n(4)),
        call(half_banded(2, 4, True), n(4, 2), lower=True),
        call(half_banded(1, 4, True, c), c(4), lower=True),
        call(half_banded(2, 3, False, c), c(3, 2), lower=False),
        call(half_banded(0, 3, False), n(3)),
        call(half_banded(1, 3, False), c(3)),
        call(half_banded(1, 3, False, c), n(3)),
    ],
    linalg.solve_sylvester: [
        call(apart(3, 3), apart(2, 2), n(3, 2)),
        call(complex_apart(2, 2), complex_apart(3, 3), c(2, 3)),
        call(apart(2, 2), complex_apart(2, 2), n(2, 2)),
        *batched(call(apart(2, 2, 2), apart(3, 3), n(2, 3))),
    ],
    linalg.solve_continuous_lyapunov: [
        call(apart(3, 3), n(3, 3)),
        call(complex_apart(3, 3), c(3, 3)),
        call(complex_apart(2, 2), n(2, 2)),
        call(spd(2), c(2, 2)),
        *batched(call(apart(2, 2, 2), n(2, 2))),
    ],
    linalg.solve_discrete_lyapunov: [
        call(0.3 * n(3, 3), n(3, 3)),
        call(0.3 * c(3, 3), c(3, 3)),
        call(0.3 * c(2, 2), n(2, 2), method="bilinear"),
        call(0.3 * n(3, 3), c(3, 3), "direct"),
    ],
    # factors
    linalg.cholesky: [
        call(spd(3)),
        call(hpd(3) + np.tril(c(3, 3), -1)),
        call(spd(3), True),
        call(hpd(3), lower=True),
        *batched(call(spd(2, 2)), call(hpd(2, 2), lower=True)),
    ],
    linalg.cho_factor: [
        call(spd(3)),
        call(hpd(3) + np.tril(c(3, 3), -1)),
        call(spd(3) + np.triu(n(3, 3), 1), True),
        call(hpd(3), lower=True),
    ],
    linalg.cho_solve: [
        call((linalg.cholesky(spd(3)), False), n(3)),
        call(linalg.cho_factor(spd(3), True), n(3, 2)),
        call(linalg.cho_factor(hpd(3)), c(3, 2)),
        call((linalg.cholesky(hpd(3), True), True), c(3)),
        *batched(call((linalg.cholesky(spd(2, 2)), False), n(2)), call((linalg.cholesky(spd(2)), True), n(3, 2, 1))),
    ],
    linalg.cho_solve_banded: [
        call((linalg.cholesky_banded(half_banded(1, 4, False)), False), n(4)),
        call((linalg.cholesky_banded(half_banded(1, 4, True, c), lower=True), True), n(4, 2)),
    ],
    linalg.lu_factor: [call(rolled(n, 4, 4)), call(rolled(c, 3, 3)), *batched(call(rolled(n, 2, 3, 3)))],
    linalg.lu: [call(rolled(n, 4, 4)), call(rolled(c, 3, 3)), call(rolled(n, 2, 3, 3))],
    linalg.lu_solve: [
        call(linalg.lu_factor(rolled(n, 4, 4)), n(4)),
        call(linalg.lu_factor(rolled(n, 4, 4)), n(4, 2), 1),
        call(linalg.lu_factor(rolled(c, 3, 3)), c(3, 2)),
        call(linalg.lu_factor(rolled(c, 3, 3)), n(3), trans=1),
        call(linalg.lu_factor(rolled(c, 3, 3)), n(3, 2), trans=2),
        call(linalg.lu_factor(rolled(n, 3, 3)), c(3), trans=2),
        call(linalg.lu_factor(rolled(n, 3, 3)), c(3)),
        *batched(
            call(linalg.lu_factor(rolled(n, 2, 3, 3)), n(3)),
            call(linalg.lu_factor(rolled(n, 3, 3)), n(2, 3, 2), 1),
        ),
    ],
    linalg.qr: [
        call(spread(3, 3)),
        call(spread(2, 3), mode="full"),
        call(spread(4, 2), mode="economic"),
        call(complex_spread(4, 2), mode="economic"),
        call(complex_spread(3, 3)),
    ],
    linalg.eigh: [
        call(symmetric(3, 3)),
        call(symmetric(3, 3) + np.tril(n(3, 3), -1), lower=False),
        call(symmetric(3, 3), eigvals_only=True),
        call(hermitian(3, 3), lower=False, eigvals_only=True),
        call(np.array([[2.5]]), eigvals_only=False),
    ],
    linalg.eigvalsh: [call(symmetric(3, 3)), call(hermitian(3, 3)), call(hermitian(3, 3), lower=False)],
    linalg.eig: [call(general(3, 3)), call(c(3, 3))],
    linalg.eigvals: [call(turning), call(c(3, 3))],
    linalg.svd: [call(spread(3, 3)), call(spread(4, 2), False), call(complex_spread(3, 2), compute_uv=False)],
    linalg.svdvals: [call(spread(3, 2)), call(complex_spread(2, 3))],
    linalg.polar: [
        call(apart(3, 3)),
        call(spread(4, 2)),
        call(complex_spread(3, 3), side="right"),
        call(complex_spread(4, 2)),
    ],
    linalg.det: [call(n(3, 3)), call(c(3, 3))],
    linalg.inv: [call(apart(3, 3)), call(c(3, 3))],
    linalg.pinv: [call(spread(4, 2)), call(complex_spread(2, 3))],
    linalg.lstsq: [call(spread(4, 2), n(4)), call(spread(4, 2), n(4, 3)), call(spread(2, 4), n(2))],
    linalg.norm: [call(n(3)), call(n(3, 2)), call(c(3, 2), "fro"), call(n(3, 2), 1), call(n(2, 3), 2, 1, True)],
    # functions of matrices
    linalg.expm: [call(n(3, 3)), call(c(3, 3)), *batched(call(n(2, 2, 2)))],
    linalg.expm_frechet: [
        call(n(3, 3), n(3, 3)),
        call(c(2, 2), c(2, 2), method="blockEnlarge"),
        call(n(3, 3), n(3, 3), "SPS", False),
        call(n(2, 2), c(2, 2), compute_expm=False),
        call(c(2, 2), n(2, 2), compute_expm=False),
    ],
    linalg.sqrtm: [call(logarithmic(3, 3)), call(complex_apart(3, 3)), call(-spd(2) / 3)],
    linalg.logm: [call(logarithmic(3, 3)), call(complex_apart(3, 3)), call(-spd(2) / 3)],
    linalg.fractional_matrix_power: [call(logarithmic(3, 3), 0.7), call(complex_apart(2, 2), -1.3), call(spd(3), 2)],
    **{
        f: [call(0.5 * n(3, 3)), call(0.5 * c(2, 2))]
        for f in (linalg.cosm, linalg.sinm, linalg.tanm, linalg.coshm, linalg.sinhm, linalg.tanhm)
    },
    # matrices made of vectors
    linalg.toeplitz: [
        call(n(3)),
        call(n(3), n(4)),
        call(n(4), n(2)),
        call(c(3)),
        call(c(3), n(2)),
        call(n(3), r=c(3)),
        call(n(1), n(1)),
    ],
    linalg.hankel: [call(n(3)), call(n(3), n(4)), call(c(4), r=n(2)), call(c(2))],
    linalg.circulant: [call(n(4)), call(c(3)), call(n(1)), *batched(call(n(2, 3)))],
    linalg.companion: [call(u(4)), call(c(3)), *batched(call(u(2, 3)))],
    linalg.leslie: [call(n(4), n(3)), call(c(3), n(2)), call(n(3), c(2))],
    linalg.diagsvd: [call(n(2), 2, 3), call(c(2), 4, 2)],
    linalg.khatri_rao: [
        call(n(2, 3), n(4, 3)),
        call(c(2, 2), n(1, 2)),
        call(n(2, 2), c(1, 2)),
        *batched(call(n(2, 2, 3), n(4, 3))),
    ],
    linalg.block_diag: [
        call(n(2, 3), n(1, 2), n(2, 2)),
        call(n(2), 0.7, n(2, 1)),
        call(c(2, 2), n(3)),
        call(n(2, 2)),
    ],
    # transposes and parts
    systems.assumed: [
        call(c(3, 3)),
        *(call(c(3, 3), a, low) for a in ("sym", "her", "pos") for low in (False, True)),
        *(call(n(4, 4), a) for a in ("diagonal", "tridiagonal", "upper triangular", "lower triangular")),
    ],
    systems.unassumed: [
        call(c(3, 3), n(3, 3)),
        call(c(2, 3, 3), c(3, 3)),
        *(call(c(3, 3), c(3, 3), a, low) for a in ("symmetric", "hermitian") for low in (False, True)),
        *(call(n(4, 4), n(4, 4), a) for a in ("diagonal", "tridiagonal", "upper triangular", "lower triangular")),
    ],
    systems.in_triangle: [
        call(n(3, 3), n(3, 3)),
        call(c(2, 3, 3), c(3, 3), True),
        call(n(3, 3), n(3, 3), True, True),
        call(n(2, 2), n(2, 2), False, True),
    ],
    systems.other_triangle: [call(n(3, 3)), call(c(2, 3, 3), True)],
    systems.rows_in_order: [call(n(4, 2), np.array([2, 1, 3, 3])), call(c(2, 3, 1), np.array([[1, 2, 2], [2, 1, 2]]))],
    systems.rows_in_place: [call(n(4, 2), np.array([2, 1, 3, 3])), call(c(2, 3, 1), np.array([1, 2, 2]))],
    systems.require_square: [call(n(2, 2))],
    systems.require_tall: [call(n(3, 2))],
    systems.bands_product: [
        call((1, 2), n(4, 4), n(4)),
        call((2, 0), c(3, 3), n(3, 2)),
        call((1, 1), n(3, 2), c(2, 2)),
    ],
    systems.bands_outer: [call((1, 2), n(4), n(4)), call((2, 0), c(3, 2), n(3, 2)), call((1, 1), n(2, 2), c(2, 2))],
    systems.turned_bands: [call((1, 2), n(4, 4)), call((2, 0), c(3, 5))],
    systems.hermitian_bands: [call(n(3, 4)), call(c(2, 3), True), call(c(3, 4))],
    systems.unhermitian_bands: [call(n(5, 4)), call(c(3, 3), True), call(c(5, 4))],
    matrices.untoeplitz_c: [call(n(3, 4), n(3)), call(c(3, 2), c(3))],
    matrices.untoeplitz_r: [call(n(3, 4), n(4)), call(c(3, 2), c(2))],
    matrices.unhankel_c: [call(n(3, 4), n(3)), call(c(3, 2), c(3))],
    matrices.unhankel_r: [call(n(3, 4), n(4)), call(c(3, 2), c(2))],
    matrices.uncirculant: [call(n(3, 3), n(3)), call(c(2, 2), c(2))],
    matrices.block: [call(n(5, 6), n(2, 2), n(2, 3)), call(c(3, 3), c(2), n(2, 1)), call(n(3, 3), n(3, 3))],
    matrices.block_placed: [call(n(2, 2), n(5, 6), n(2, 3)), call(c(1, 2), c(3, 3), n(2, 1)), call(n(3, 3), n(3, 3))],
}

if hasattr(linalg, "kron"):
    SAMPLES[linalg.kron] = [call(n(2, 2), n(3, 1))]

ANALYTIC: set[Callable[..., Any]] = {linalg.expm, linalg.inv}

ALIKE: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    linalg.eigh: lambda y, like: vectors_alike(y, like) if isinstance(y, tuple) else y,
    linalg.eig: vectors_alike,
    linalg.svd: singular_vectors_alike,
}
