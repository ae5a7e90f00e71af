"""Determinants, inverses, solutions and least squares through the compiler: order 2, singular matrices, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime import cofactor
from tests.rules.quotients import check, quotient

rng = np.random.default_rng(12)


def n(*shape: int) -> Any:
    return rng.standard_normal(shape)


def c(*shape: int) -> Any:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


SPD = (lambda a: a @ a.T + 3.0 * np.eye(3))(n(3, 3))
SINGULAR = np.outer([1.0, -0.4, 2.0], [0.3, 1.0, 0.6]) + np.outer([0.2, 0.9, 0.1], [1.0, -0.7, 0.4])
RANK_ONE = np.outer([1.0, -0.4, 2.0], [0.3, 1.0, 0.6])


def determinant(a: Any) -> Any:
    return np.real(np.sum(np.linalg.det(a) ** 2) + np.sum(np.linalg.det(a)))


def sign_and_logarithm(a: Any) -> Any:
    found = np.linalg.slogdet(a)
    return np.sum(found.logabsdet * np.real(found.sign) + np.imag(found.sign))


def inverse(a: Any) -> Any:
    return np.real(np.sum(np.linalg.inv(a) ** 2))


def solution(a: Any, b: Any) -> Any:
    return np.real(np.sum(np.linalg.solve(a, b) ** 2))


def of_arrays(a: Any, b: Any) -> Any:
    return np.sum(np.linalg.tensorsolve(a, b, (1,)) ** 2) + np.sum(
        np.linalg.tensorinv(np.reshape(a, (4, 2, 2)), ind=1)[0]
    )


def pseudoinverse(a: Any) -> Any:
    return np.real(np.sum(np.sin(np.linalg.pinv(a))))


def hermitian_pseudoinverse(a: Any) -> Any:
    return np.real(np.sum(np.sin(np.linalg.pinv(a, hermitian=True))))


def least_squares(a: Any, b: Any) -> Any:
    x, residuals, rank, s = np.linalg.lstsq(a, b)
    return np.real(np.sum(x**2)) + np.sum(residuals) * rank + s[0]


def shortest(a: Any, b: Any) -> Any:
    x, residuals, _, _ = np.linalg.lstsq(a, b)
    return np.sum(np.cos(x)) + residuals[0]


CASES = [
    (determinant, SPD), (determinant, c(2, 3, 3)), (determinant, SINGULAR), (determinant, RANK_ONE),
    (determinant, np.zeros((3, 3))), (sign_and_logarithm, n(3, 3)), (sign_and_logarithm, c(2, 2, 2)),
    (inverse, n(3, 3)), (inverse, c(2, 2, 2)), (pseudoinverse, n(4, 2)), (pseudoinverse, c(2, 3)),
    (pseudoinverse, n(2, 3, 2)), (pseudoinverse, 1.3 * np.eye(3)), (hermitian_pseudoinverse, SPD),
]  # fmt: skip


def name(x: Any) -> str:
    return getattr(x, "__name__", None) or f"{x.shape}{x.dtype.char}"


@pytest.mark.parametrize(("f", "a"), CASES, ids=name)
@pytest.mark.costly(2)
def test_functions_of_one_matrix(f: Any, a: Any) -> None:
    check(f, a)


SYSTEMS = [
    (solution, n(3, 3), n(3)), (solution, n(3, 3), n(3, 2)), (solution, n(2, 3, 3), n(3)), (solution, n(3, 3), c(3)),
    (solution, n(2, 1, 3, 3), c(4, 3, 2)), (least_squares, n(4, 2), n(4)), (least_squares, c(4, 2), c(4, 3)),
    (least_squares, n(2, 4), n(2)), (least_squares, c(2, 3), c(2, 2)), (shortest, np.eye(4)[:, :2], n(4)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "a", "b"), SYSTEMS, ids=name)
@pytest.mark.costly(2)
def test_functions_of_a_system(f: Any, a: Any, b: Any) -> None:
    check(f, a, b)


def test_systems_of_arrays() -> None:
    check(of_arrays, n(2, 4, 2), n(2, 2))


# --- singular matrices -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", [SINGULAR, RANK_ONE, np.zeros((3, 3))], ids=["rank 2", "rank 1", "rank 0"])
@pytest.mark.costly(1, first=1)
def test_the_third_derivative_of_a_determinant_of_any_rank(base: Any) -> None:
    def along(t: float) -> Any:
        return np.linalg.det(base + t * SPD)

    third = srcgrad.grad(srcgrad.grad(srcgrad.grad(along)))
    np.testing.assert_allclose(third(0.0), 6.0 * np.linalg.det(SPD), rtol=1e-10)


def test_the_cofactors_of_a_singular_matrix_in_a_batch() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.det(a))

    stacked = srcgrad.grad(f)(np.stack([SPD, SINGULAR, RANK_ONE]))
    for one, a in zip(stacked, (SPD, SINGULAR, RANK_ONE), strict=True):
        np.testing.assert_allclose(one, srcgrad.grad(f)(a), rtol=1e-9, atol=1e-12)
    assert srcgrad.grad(f)(np.zeros((0, 0))).shape == (0, 0)


def test_logarithms_of_singular_matrices_have_no_slope() -> None:
    with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError):
        srcgrad.grad(sign_and_logarithm)(np.zeros((2, 2)))


# --- cutoffs ---------------------------------------------------------------------------------------------------------
def cut_inverse(a: Any) -> Any:
    return np.sum(np.linalg.pinv(a, 0.3))


def cut_solution(a: Any) -> Any:
    return np.sum(np.linalg.lstsq(a, np.ones(3), rcond=0.3)[0])


@pytest.mark.parametrize("f", [cut_inverse, cut_solution])
def test_cutoffs_that_leave_out_more_than_zeros_are_refused(f: Any) -> None:
    gradient = srcgrad.grad(f)
    with pytest.raises(NotImplementedError, match="np.linalg.svd"):
        gradient(np.diag([1.0, 0.5, 0.1]))
    assert np.isfinite(gradient(np.diag([1.0, 0.5, 0.4]))).all()


def test_a_cutoff_by_hand_is_differentiated_through_singular_vectors() -> None:
    def f(a: Any) -> Any:
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        kept = s > 0.3 * s[0]
        return np.sum((vh[kept].T / s[kept]) @ u[:, kept].T)

    a = np.diag([1.0, 0.5, 0.1]) + 0.02 * SPD
    v = n(3, 3)
    np.testing.assert_allclose(np.sum(srcgrad.grad(f)(a) * v), quotient(cut_inverse, (a,), [v]), rtol=1e-6)


def test_constant_sides_may_be_lists() -> None:
    def f(b: Any) -> Any:
        return np.sum(np.linalg.solve([[2.0, 1.0], [0.5, 3.0]], b) ** 2)

    check(f, n(2))


def test_single_precision_is_kept() -> None:
    def f(a: Any) -> Any:
        whole = np.linalg.det(a) + np.linalg.slogdet(a)[1] + np.sum(np.linalg.pinv(a))
        return whole + np.sum(np.linalg.lstsq(a, np.ones(3, np.float32))[0]) + np.sum(np.linalg.inv(a))

    assert srcgrad.grad(f)(SPD.astype(np.float32)).dtype == np.float32


def test_beside_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for ours, theirs, a in (
        (inverse, lambda t: (torch.linalg.inv(t) ** 2).sum().real, c(3, 3)),
        (pseudoinverse, lambda t: torch.linalg.pinv(t).sin().sum().real, c(4, 2)),
        (determinant, lambda t: (torch.linalg.det(t) ** 2 + torch.linalg.det(t)).sum().real, c(3, 3)),
    ):
        t = torch.tensor(a, requires_grad=True)
        theirs(t).backward()
        np.testing.assert_allclose(srcgrad.grad(ours)(a), t.grad.conj().resolve_conj().numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_the_cofactors_of_two_by_two_are_exact(dtype: type) -> None:
    a = np.array([[[3.0, 2.0], [-1.0, 4.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]], dtype)
    found = cofactor(a)
    assert found.dtype == dtype
    assert found.tolist() == [[[4, 1], [-2, 3]], [[4, -2], [-2, 1]], [[0, 0], [0, 0]]]
    np.testing.assert_allclose(found[0], np.linalg.det(a[0]) * np.linalg.inv(a[0]).T, rtol=1e-6)
    assert cofactor(a[0]).tolist() == found[0].tolist()
