"""Decompositions of matrices with well separated eigenvalues and singular values.

Vectors of complex Hermitian matrices and of complex singular values have arbitrary phases, which no difference
quotient follows: they are tested with functions that do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call
from tests.rules.samples.linalg import complex_spread, spread

draws = Draws(32)
n, c, spd, hpd = draws.n, draws.c, draws.spd, draws.hpd


def symmetric(*shape: int) -> Any:
    """Symmetric matrices with eigenvalues of both signs, their absolute values well apart."""
    v = np.linalg.qr(n(*shape))[0]
    w = (0.7 + 0.8 * np.arange(shape[-1])) * (-1.0) ** np.arange(shape[-1])
    return (v * w) @ v.mT


def hermitian(*shape: int) -> Any:
    """Hermitian matrices with eigenvalues of both signs."""
    v = np.linalg.qr(c(*shape))[0]
    w = (0.7 + 0.8 * np.arange(shape[-1])) * (-1.0) ** np.arange(shape[-1])
    return (v * w) @ np.conjugate(v.mT)


def general(*shape: int) -> Any:
    """Real matrices with real eigenvalues well apart."""
    v = 0.4 * n(*shape) + 2.0 * np.eye(shape[-1])  # well-conditioned, so that differences are accurate
    return (v * (0.6 + 0.9 * np.arange(shape[-1]))) @ np.linalg.inv(v)


turning = np.array([[0.3, -1.4, 0.2], [1.1, 0.5, -0.3], [0.4, 0.1, 2.0]])  # one real eigenvalue, two complex ones

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    np.linalg.cholesky: [
        call(spd(3)),
        call(spd(2, 4)),
        call(spd(1)),
        call(hpd(3)),
        call(spd(3), upper=True),
        call(hpd(2, 4), upper=True),
        call(spd(3) + np.triu(n(3, 3), 1)),
        call(spd(3), upper=False),
    ],
    np.linalg.eigh: [
        call(symmetric(3, 3)),
        call(symmetric(2, 4, 4)),
        call(symmetric(3, 3), "U"),
        call(symmetric(3, 3) + np.triu(n(3, 3), 1), UPLO="L"),
        call(np.array([[2.5]])),
    ],
    np.linalg.eigvalsh: [
        call(symmetric(3, 3)),
        call(symmetric(2, 3, 3), "U"),
        call(hermitian(3, 3)),
        call(hermitian(2, 3, 3), UPLO="U"),
        call(hermitian(3, 3) + np.triu(c(3, 3))),
    ],
    np.linalg.eig: [call(general(3, 3)), call(general(2, 3, 3)), call(turning), call(c(3, 3)), call(c(2, 3, 3))],
    np.linalg.eigvals: [call(general(3, 3)), call(turning), call(np.stack([turning, turning.T])), call(c(2, 3, 3))],
    np.linalg.svd: [
        call(spread(3, 3)),
        call(spread(4, 3)),
        call(spread(3, 4)),
        call(spread(2, 3, 3), True),
        call(spread(4, 2), False),
        call(spread(2, 4), full_matrices=False),
        call(spread(2, 5, 3), full_matrices=False),
        call(spread(4, 2), compute_uv=False),
        call(complex_spread(2, 4), True, False),
        call(symmetric(3, 3), hermitian=True),
        call(symmetric(2, 3, 3), compute_uv=False, hermitian=True),
        call(hermitian(3, 3), compute_uv=False, hermitian=True),
    ],
    np.linalg.svdvals: [call(spread(3, 3)), call(spread(2, 4, 2)), call(complex_spread(2, 4))],
    np.linalg.qr: [
        call(spread(3, 3)),
        call(spread(4, 2)),
        call(spread(2, 4), "reduced"),
        call(spread(2, 5, 3)),
        call(spread(3, 2), mode="complete"),
        call(spread(2, 2, 3), mode="complete"),
        call(spread(4, 2), "r"),
        call(spread(2, 4), mode="r"),
        call(complex_spread(4, 2)),
        call(complex_spread(2, 2, 4)),
        call(complex_spread(3, 3), mode="complete"),
        call(complex_spread(4, 2), mode="r"),
    ],
    # fields of results
    runtime.field: [call(np.linalg.eigh(symmetric(3, 3)), "eigenvectors"), call(np.linalg.slogdet(c(2, 2)), "sign")],
    runtime.field_of: [call([n(3), n(3, 3)], np.linalg.eigh(symmetric(3, 3)), "eigenvectors")],
    runtime.unfield: [call(n(3, 3), np.linalg.eigh(symmetric(3, 3)), "eigenvectors")],
    # parts
    runtime.hermitian_sum: [call(n(3, 3)), call(c(2, 3, 3))],
    runtime.from_triangle: [call(n(3, 3)), call(c(2, 3, 3), "U"), call(n(3, 3), UPLO="U")],
    runtime.to_triangle: [call(n(3, 3)), call(c(2, 3, 3), "U"), call(n(3, 3), UPLO="U")],
    runtime.half_triangle: [call(n(3, 3)), call(c(2, 3, 3), True)],
    runtime.solve_triangle: [
        call(np.tril(n(3, 3)) + 2.0 * np.eye(3), n(3, 2)),
        call(np.triu(c(2, 3, 3)) + 2.0 * np.eye(3), c(2, 3, 2), True),
    ],
    runtime.ratio: [
        call(n(2, 3), 1.0 + np.abs(n(3))),
        call(c(2, 3), 1.0 + np.abs(n(3))),
        call(np.array([0.0, 0.7]), np.array([1.2, 0.4])),
    ],
    runtime.scaled: [call(n(2, 3), n(3)), call(c(2, 3), n(2, 1))],
    runtime.weighted: [call(n(3, 2), n(2), n(2, 4)), call(c(2, 3, 2), n(2, 2), c(2, 2, 4))],
    runtime.widen: [call(n(3), 5), call(c(2, 3), 3)],
    runtime.of_distinct: [call(n(3), np.array([3.0, 2.0, 1.0]))],
    runtime.require_distinct: [call(n(3), np.array([3.0, 2.0, 1.0]))],
    runtime.pair_differences: [call(n(3)), call(n(2, 3), 5), call(c(3), 3)],
    runtime.unpair_differences: [call(n(3, 3), n(3)), call(n(2, 5, 5), n(2, 3))],
    runtime.over_gaps: [
        call(n(3, 3), draws.distinct(3)),
        call(c(3, 3), draws.distinct(3)),
        call(c(2, 3, 3), draws.distinct(2, 3) * (1.0 + 0.4j)),
        call(n(5, 5), 2.0 + draws.distinct(3)),
    ],
    runtime.phase_free: [call(n(3, 3)), call(n(3, 3), n(3, 3), 2)],
    runtime.basis_free: [call(n(3, 3), 2)],
    runtime.anchors: [call(n(3, 3))],
    runtime.keep_real: [call(n(3, 3), n(3, 3))],
    runtime.unkeep_real: [call(n(3, 3), n(3, 3))],
    runtime.twist: [call(n(3, 3), n(3)), call(c(3, 3), 1.0 + np.abs(n(3))), call(c(2, 4, 4), 1.0 + np.abs(n(2, 2)))],
    runtime.outside: [call(n(4, 2), n(4, 3)), call(c(2, 3, 2), c(2, 3, 2)), call(n(3, 2), c(3, 2))],
    runtime.polar: [call(spread(3, 3)), call(spread(4, 2)), call(complex_spread(2, 2, 3)), call(np.eye(3))],
}

ANALYTIC: set[Callable[..., Any]] = set()


def _turn(v: Any, like: Any) -> Any:
    """The signs by which real vectors, or complex ones with a real component, are those of ``like`` again."""
    return np.sign(np.real(np.sum(np.conjugate(like) * v, axis=-2, keepdims=True)))


def vectors_alike(y: Any, like: Any) -> Any:
    """Eigenvectors with the signs of others nearby."""
    return y[0], y[1] * _turn(y[1], like[1])


def singular_vectors_alike(y: Any, like: Any) -> Any:
    """Singular vectors with the signs of others nearby."""
    if not isinstance(y, tuple):
        return y
    count = y[1].shape[-1]
    left, right = _turn(y[0], like[0]), _turn(y[2].mT, like[2].mT)
    right[..., :count] = left[..., :count]
    return y[0] * left, y[1], y[2] * right.mT


#: What makes results alike whose signs are arbitrary, before they are compared.
ALIKE: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    np.linalg.eigh: vectors_alike,
    np.linalg.eig: vectors_alike,
    np.linalg.svd: singular_vectors_alike,
}
