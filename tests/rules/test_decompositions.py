"""Decompositions through the compiler: order 2, complex vectors, triangles, equal eigenvalues, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, jvp, runtime
from tests.parameters import share_by_day
from tests.rules.quotients import check, paired, quotient

rng = np.random.default_rng(11)
N = rng.standard_normal((3, 3))
Z = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
WEIGHTS = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
WIDE = rng.standard_normal((2, 4))
TALL = rng.standard_normal((4, 2))
WIDE_C = WIDE + 1j * rng.standard_normal((2, 4))
TALL_C = TALL + 1j * rng.standard_normal((4, 2))
SYMMETRIC = N + N.T + np.diag([0.0, 3.0, 7.0])
HERMITIAN = Z + Z.conj().T + np.diag([0.0, 3.0, 7.0])
POSITIVE = N @ N.T + 3.0 * np.eye(3)
POSITIVE_C = Z @ Z.conj().T + 3.0 * np.eye(3)


# --- functions that do not depend on what is arbitrary ---------------------------------------------------------------
def spectral_sum(a: Any) -> Any:
    return np.sum(np.sin(np.linalg.eigvalsh(a)))


def function_of_matrix(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.real(np.sum(WEIGHTS * ((v * np.sin(w)) @ np.conjugate(v.T))))


def upper_triangle(a: Any) -> Any:
    found = np.linalg.eigh(a, "U")
    return np.sum(np.exp(0.1 * found.eigenvalues) * np.abs(found.eigenvectors[1]) ** 2)


def factor(a: Any) -> Any:
    return np.real(np.sum(WEIGHTS * np.linalg.cholesky(a)))


def upper_factor(a: Any) -> Any:
    return np.real(np.sum(WEIGHTS * np.linalg.cholesky(a, upper=True)))


def eigenvectors(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(np.real(WEIGHTS * v)) ** 2) + np.sum(np.abs(w))


def eigenvalues(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigvals(a)) ** 3)


def thin(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs((u * np.cos(s)) @ vh) ** 2 * np.arange(1.0, 5.0)[: u.shape[0], None])


def full(a: Any) -> Any:
    found = np.linalg.svd(a)
    k = found.S.shape[0]
    return np.real(np.sum(((found.U[:, :k] * np.cos(found.S)) @ found.Vh[:k]) ** 2))


def null_space(a: Any) -> Any:
    rest = np.linalg.svd(a).U[:, 2:]
    return np.real(np.sum(np.arange(16.0).reshape(4, 4) * (rest @ np.conjugate(rest.T))))


def hermitian_svd(a: Any) -> Any:
    u, s, vh = np.linalg.svd(a, hermitian=True)
    return np.real(np.sum(WEIGHTS * ((u * np.cos(s)) @ vh)))


def both_factors(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return np.sum(np.abs(np.cos(q))) + np.real(np.sum(r**2))


def complete(a: Any) -> Any:
    q, r = np.linalg.qr(a, "complete")
    rest = q[:, 2:] @ np.conjugate(q[:, 2:].T)
    return np.real(np.sum(rest * np.arange(rest.size).reshape(rest.shape))) + np.real(np.sum(np.cos(r)))


def one_factor(a: Any) -> Any:
    return np.real(np.sum(np.sin(np.linalg.qr(a, mode="r"))))


CASES = [
    (spectral_sum, SYMMETRIC), (spectral_sum, HERMITIAN), (spectral_sum, Z), (spectral_sum, np.stack([N, SYMMETRIC])),
    (function_of_matrix, SYMMETRIC), (function_of_matrix, HERMITIAN), (function_of_matrix, N),
    (upper_triangle, HERMITIAN), (upper_triangle, N),
    (factor, POSITIVE), (factor, POSITIVE_C), (upper_factor, POSITIVE_C),
    (eigenvectors, N), (eigenvectors, Z), (eigenvalues, N), (eigenvalues, Z),
    (thin, N), (thin, TALL), (thin, WIDE), (thin, TALL_C), (thin, WIDE_C), (thin, Z),
    (full, TALL), (full, WIDE_C), (full, TALL_C), (null_space, TALL), (null_space, TALL_C),
    (hermitian_svd, SYMMETRIC), (hermitian_svd, HERMITIAN),
    (both_factors, TALL), (both_factors, WIDE_C), (both_factors, TALL_C), (complete, TALL_C), (complete, WIDE),
    (one_factor, WIDE_C),
]  # fmt: skip


@pytest.mark.parametrize(("f", "a"), CASES, ids=lambda x: getattr(x, "__name__", None) or f"{x.shape}{x.dtype.char}")
@pytest.mark.costly(3)
def test_both_directions_and_order_two(f: Any, a: Any) -> None:
    check(f, a)


@pytest.mark.parametrize("f", [upper_triangle, full], ids=lambda f: f.__name__)
@pytest.mark.parametrize("known", [True, False], ids=["specialised", "generic"])
@pytest.mark.costly(2)
def test_fields_of_results(f: Any, known: bool) -> None:
    """What is given may be kept in a result of which only data is known, and a text has none of these fields."""
    with srcgrad.options(specialise=known):
        check(f, N)


# --- order three -----------------------------------------------------------------------------------------------------
def log_determinant(t: float) -> Any:
    return 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(POSITIVE + t * SYMMETRIC))))


def sines(t: float) -> Any:
    return np.sum(np.sin(np.linalg.eigvalsh(POSITIVE + t * SYMMETRIC)))


@pytest.mark.parametrize("f", share_by_day([log_determinant, sines], 2))
def test_order_three(f: Any) -> None:
    second = srcgrad.grad(srcgrad.grad(f))
    expected = quotient(second, (0.1,), [1.0])
    np.testing.assert_allclose(srcgrad.grad(second)(0.1), expected, rtol=1e-6)


# --- triangles -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("f", "upper"), [(function_of_matrix, False), (upper_triangle, True), (factor, False)])
def test_the_triangle_that_is_not_read_has_no_cotangent(f: Any, upper: bool) -> None:
    gradient = srcgrad.grad(f)(POSITIVE_C)
    unread = np.tril(gradient, -1) if upper else np.triu(gradient, 1)
    assert not unread.any()
    assert not np.diagonal(gradient).imag.any()


def test_the_cotangent_pairs_with_symmetric_motions_as_that_of_pytorch() -> None:
    torch = pytest.importorskip("torch")

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum(np.exp(0.1 * w) * np.abs(v[0]) ** 2)

    a = torch.tensor(HERMITIAN, requires_grad=True)
    w, v = torch.linalg.eigh(a)
    (torch.exp(0.1 * w) * torch.abs(v[0]) ** 2).sum().backward()
    ours = srcgrad.grad(f)(HERMITIAN)
    motion = Z + Z.conj().T
    np.testing.assert_allclose(
        paired([ours], [motion]), paired([a.grad.conj().resolve_conj().numpy()], [motion]), rtol=1e-10
    )


# --- what is arbitrary -----------------------------------------------------------------------------------------------
def phase(a: Any) -> Any:
    return np.real(np.linalg.eigh(a)[1][1, 0])


def singular_phase(a: Any) -> Any:
    return np.real(np.linalg.svd(a)[0][1, 0])


def basis(a: Any) -> Any:
    return np.linalg.svd(a)[0][0, 2]


def completed(a: Any) -> Any:
    return np.linalg.qr(a, "complete")[0][0, 3]


ARBITRARY = [
    (phase, HERMITIAN, "phases"),
    (singular_phase, Z, "phases"),
    (basis, TALL, "basis"),
    (completed, TALL, "basis"),
]


@pytest.mark.parametrize(("f", "a", "what"), ARBITRARY)
def test_what_depends_on_an_arbitrary_choice_is_refused(f: Any, a: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        srcgrad.grad(f)(a)


def test_one_vector_beyond_the_rank_has_a_derivative() -> None:
    def f(a: Any) -> Any:
        return np.linalg.svd(a)[0][0, 3] ** 2 + np.linalg.qr(a, "complete")[0][1, 3] ** 2

    check(f, rng.standard_normal((4, 3)))


# --- equal eigenvalues and singular values ---------------------------------------------------------------------------
def test_functions_of_equal_eigenvalues_alone_are_right() -> None:
    def f(a: Any) -> Any:
        w, _ = np.linalg.eigh(a)
        return np.sum(w**2) + np.sum(np.linalg.eigvalsh(a))

    np.testing.assert_allclose(srcgrad.grad(f)(np.diag([2.0, 2.0, 5.0])), np.diag([5.0, 5.0, 11.0]))

    def g(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(s)

    np.testing.assert_allclose(srcgrad.grad(g)(3.0 * np.eye(3)), np.eye(3), atol=1e-15)


def test_turns_between_equal_eigenvalues_are_not_given_a_wrong_value() -> None:
    """The matrix itself, whose slope eigenvalues and eigenvectors cannot tell apart at a multiple of the identity."""

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return np.sum((v * w) @ v.T)

    with np.errstate(all="ignore"):
        assert not np.isfinite(srcgrad.grad(f)(np.eye(2))).all()
        assert not np.isfinite(srcgrad.jvp(f, (np.eye(2),), (np.ones((2, 2)),))[1])
        second = srcgrad.hvp(lambda a: np.sum(np.linalg.eigvalsh(a) ** 2))(np.eye(2), np.ones((2, 2)))
    assert not np.isfinite(second).all()


def test_nuclear_norm_of_equal_singular_values_has_its_second_derivative() -> None:
    def f(a: Any) -> Any:
        return np.linalg.norm(a, "nuc")

    check(f, 1.7 * np.eye(3))


def test_rank_deficient_matrices_have_singular_values_with_slopes() -> None:
    def f(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return s[0] + np.abs(u[0, 0])

    assert np.isfinite(srcgrad.grad(f)(np.outer([1.0, 2.0, 3.0], [0.5, -1.0]))).all()


# --- forms of call ---------------------------------------------------------------------------------------------------
def raw(a: Any) -> Any:
    return np.linalg.qr(a, mode="raw")[0]


def computed_mode(a: Any, mode: str) -> Any:
    return np.sum(np.linalg.qr(a, mode)[0])


@pytest.mark.parametrize(("f", "more"), [(raw, ()), (computed_mode, ("reduced",))])
def test_modes_without_a_derivative_are_refused_by_name(f: Any, more: tuple[str, ...]) -> None:
    with pytest.raises(srcgrad.SrcgradError, match="np.linalg.qr: the argument 'mode' must be the literal 'reduced'"):
        srcgrad.grad(f)(N, *more)


def test_options_may_be_numbers() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.cholesky(a, upper=1)) + np.sum(np.linalg.svd(a, 0, 1)[1])

    check(f, POSITIVE, second=False)


def test_single_precision_is_kept() -> None:
    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        u, s, vh = np.linalg.svd(a)
        return (
            np.sum(w * v[0] ** 2) + np.sum(s * u[0] ** 2) + np.sum(np.linalg.cholesky(a)) + np.sum(np.linalg.qr(a)[1])
        )

    assert srcgrad.grad(f)(POSITIVE.astype(np.float32)).dtype == np.float32


# --- named results ---------------------------------------------------------------------------------------------------
def test_fields_of_results_are_items() -> None:
    def f(a: Any) -> Any:
        found = np.linalg.svd(a, full_matrices=False)
        r = np.linalg.qr(a).R
        spread = np.linalg.eigh(a @ a.T).eigenvalues.shape[0]
        return found.S[0] * np.abs(found.U[0, 0]) + np.abs(found.Vh[0, 0]) + r[0, 1] * np.linalg.qr(a).Q[0, 0] * spread

    def g(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        q, r = np.linalg.qr(a)
        return s[0] * np.abs(u[0, 0]) + np.abs(vh[0, 0]) + r[0, 1] * q[0, 0] * 3

    np.testing.assert_allclose(srcgrad.grad(f)(N), srcgrad.grad(g)(N), rtol=1e-12)
    check(f, N)


def test_fields_of_other_named_tuples_are_found_by_their_names() -> None:
    from collections import namedtuple

    Triple = namedtuple("Triple", "R S Q")

    def f(x: Any) -> Any:
        return x.S**2 * x.Q

    found = srcgrad.grad(f)(Triple(1.0, 2.0, 3.0))
    assert found == Triple(0.0, 12.0, 4.0)


# --- beside PyTorch --------------------------------------------------------------------------------------------------
def test_beside_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for ours, theirs, a in (
        (
            both_factors,
            lambda t: torch.linalg.qr(t).R.pow(2).sum().real + torch.linalg.qr(t).Q.cos().abs().sum(),
            TALL_C,
        ),
        (eigenvalues, lambda t: (torch.linalg.eigvals(t).abs() ** 3).sum(), N),
        (thin, lambda t: _thin_in_torch(torch, t), WIDE_C),
    ):
        t = torch.tensor(a, requires_grad=True)
        theirs(t).backward()
        np.testing.assert_allclose(srcgrad.grad(ours)(a), t.grad.conj().resolve_conj().numpy(), rtol=1e-9)


def _thin_in_torch(torch: Any, t: Any) -> Any:
    u, s, vh = torch.linalg.svd(t, full_matrices=False)
    return (((u * s.cos()) @ vh).abs() ** 2 * torch.arange(1.0, u.shape[0] + 1)[:, None]).sum()


def test_eigenvalues_in_another_order_find_their_vectors() -> None:
    from srcgrad.runtime import matching

    found = np.array([[1.0, 2.0j, 3.0], [1.0, 1.0 + 1e-9, 0.5]])
    wanted = np.array([[3.0, 1.0, 2.0j], [0.5, 1.0 + 1e-9, 1.0]])
    np.testing.assert_array_equal(np.take_along_axis(found, matching(found, wanted), -1), wanted)


def test_second_derivatives_by_equal_singular_values_of_least_squares_are_refused() -> None:
    b = np.array([1.0, 2.0])

    def spread_of_values(a):
        return np.sum((np.linalg.lstsq(a, b, rcond=None)[3] - 1.0) ** 2)

    def solution(a):
        return np.sum(np.linalg.lstsq(a, b, rcond=None)[0] ** 2)

    with pytest.raises(NotImplementedError, match="singular values that are equal"):
        srcgrad.hvp(spread_of_values)(np.eye(2), np.ones((2, 2)))
    assert np.all(np.isfinite(srcgrad.hvp(solution)(np.eye(2), np.ones((2, 2)))))
    np.testing.assert_allclose(srcgrad.grad(spread_of_values)(np.diag([3.0, 2.0])), np.diag([4.0, 2.0]))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(150, 150), (2, 70, 70)])
def test_a_triangle_is_solved_by_halves(shape, upper):
    random = np.random.default_rng(0)
    n = shape[-1]
    a = np.tril(random.normal(size=shape) + 1j * random.normal(size=shape)) / n + 2.0 * np.eye(n)
    a = a.mT if upper else a
    b = random.normal(size=(*shape[:-1], 3))
    np.testing.assert_allclose(runtime.solve_triangle(a, b, upper), np.linalg.solve(a, b), rtol=1e-12, atol=1e-14)


def lower_weighed(a, w):
    return np.sum(w * np.linalg.cholesky(a))


def upper_weighed(a, w):
    return np.sum(w * np.linalg.cholesky(a, upper=True))


@pytest.mark.parametrize("weighed", [lower_weighed, upper_weighed])
def test_a_large_matrix_is_factored(weighed):
    random = np.random.default_rng(0)
    n = 130
    a, along, w = (random.normal(size=(n, n)) for _ in range(3))
    a, along = a @ a.T / n + np.eye(n), along + along.T
    step = 1e-6
    slope = (weighed(a + step * along, w) - weighed(a - step * along, w)) / (2.0 * step)
    assert np.sum(grad(weighed)(a, w) * along) == pytest.approx(slope, rel=1e-7)
    assert jvp(weighed, (a, w), (along, None))[1] == pytest.approx(slope, rel=1e-7)
