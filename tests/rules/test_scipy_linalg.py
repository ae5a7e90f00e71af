"""scipy.linalg through the compiler: first and second order, factors as tuples, parts that are not read, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.lib import NumpyVersion

import srcgrad
from srcgrad import check_grads, grad
from srcgrad.errors import SrcgradError
from tests.parameters import share_by_day

linalg = pytest.importorskip("scipy.linalg")

rng = np.random.default_rng(43)


def n(*shape: int) -> Any:
    return rng.standard_normal(shape)


def c(*shape: int) -> Any:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


EYE, WEIGHTS = np.eye(3), n(3, 3)
REAL, COMPLEX = n(3, 3) + 3.0 * EYE, c(3, 3) + 4.0 * EYE


def size(y: Any) -> Any:
    """A real number that depends on every entry of y, not through its modulus alone."""
    return np.real(np.sum(y * (0.3 - 0.8j))) + np.real(np.sum(y * np.conj(y)))


# --- both directions, first and second order -------------------------------------------------------------------------
def solve_with_a_positive_definite_matrix(a, b):
    return np.sum(linalg.solve(a @ a.T + EYE, b, assume_a="pos") ** 2)


def solve_with_a_hermitian_matrix(a, b):
    return size(linalg.solve(a @ np.conj(a.T) + 3 * EYE, b, assume_a="her", lower=True))


def solve_with_the_transpose(a, b):
    return np.sum(linalg.solve(a, b, transposed=True) ** 2) + size(linalg.solve(a, b))


def triangular(a, b):
    x = linalg.solve_triangular(a, b, unit_diagonal=True)
    return size(linalg.solve_triangular(a, x, trans="C", lower=True))


def by_cholesky(a, b):
    return np.sum(linalg.cho_solve(linalg.cho_factor(a @ a.T + EYE), b) ** 2)


def by_a_lower_factor(a, b):
    factor, lower = linalg.cho_factor(a @ np.conj(a.T) + 3 * EYE, lower=True)
    determinant = np.sum(np.log(np.real(np.diagonal(factor))))
    return size(linalg.cho_solve((factor, lower), b)) + determinant


def cholesky(a):
    return size(linalg.cholesky(a @ np.conj(a.T) + 3 * EYE)) + size(linalg.cholesky(EYE + a @ np.conj(a.T), lower=True))


def by_lu(a, b):
    return np.sum(linalg.lu_solve(linalg.lu_factor(a), b) ** 2)


def by_parts_of_lu(a, b):
    packed, piv = linalg.lu_factor(a)
    return size(linalg.lu_solve((packed, piv), b, trans=2)) + size(np.diagonal(packed))


def lu(a):
    p, lower, upper = linalg.lu(a)
    return size(p @ lower) + size(upper)


def bands(ab, b):
    return np.sum(linalg.solve_banded((1, 1), ab, b) ** 2)


def hermitian_bands(ab, b):
    return size(linalg.solveh_banded(ab, b, lower=True))


def sylvester(a, b):
    return size(linalg.solve_sylvester(a, b, a @ b)) + size(linalg.solve_continuous_lyapunov(a, b))


def discrete_lyapunov(a, q):
    return size(linalg.solve_discrete_lyapunov(0.2 * a, q))


def exponential(a):
    value, along = linalg.expm_frechet(0.3 * a, a)
    return size(value) + size(along)


def roots(a):
    m = a @ a.T + EYE
    return size(linalg.sqrtm(m)) + size(linalg.logm(m) @ linalg.fractional_matrix_power(m, 0.7))


def sines(a):
    return size(linalg.cosm(0.3 * a)) + size(linalg.sinhm(0.3 * a) @ linalg.tanm(0.1 * a))


def diagonals(a, b):
    m = linalg.toeplitz(a, b) @ linalg.hankel(b, a)
    return size(m) + size(linalg.circulant(a) @ m[:, :3].T) + size(linalg.toeplitz(a) ** 2)


def blocks(a, b):
    return np.sum(linalg.block_diag(a, b, a) ** 3) + np.sum(linalg.khatri_rao(a, a) ** 3)


def rows(a, b):
    return np.sum(linalg.companion(a + 3.0) ** 3) + np.sum(linalg.leslie(a, b[:2]) ** 3)


def eigenvalues(a):
    values, vectors = linalg.eigh(a + a.T)
    return np.sum(values**3) + np.sum(vectors**2 * WEIGHTS) + np.sum(linalg.eigvalsh(a, lower=False) ** 2)


def singular_values(a):
    u, s, vh = linalg.svd(a, full_matrices=False)
    return np.sum(s**3) + np.sum((u @ vh) * WEIGHTS) + np.sum(linalg.svdvals(a) ** 2)


def shared(a):
    return linalg.det(a) + np.sum(linalg.inv(a) * WEIGHTS) + np.sum(linalg.pinv(a) * WEIGHTS) + linalg.norm(a, 2)


def orthogonal(a):
    q, r = linalg.qr(a)
    return np.sum(q * WEIGHTS) + np.sum(r**2) + np.sum(linalg.qr(a, mode="economic")[1] * WEIGHTS)


def polar(a):
    u, p = linalg.polar(a)
    return size(u @ WEIGHTS) + size(p @ WEIGHTS)


def general_eigenvalues(a):
    values, vectors = linalg.eig(a)
    return size(values) + np.sum(np.abs(vectors) ** 4)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (solve_with_a_positive_definite_matrix, (REAL, n(3))),
    (solve_with_a_hermitian_matrix, (COMPLEX, c(3))),
    (solve_with_the_transpose, (REAL, n(3, 2))),
    (triangular, (COMPLEX, c(3))),
    (by_cholesky, (REAL, n(3))),
    (by_a_lower_factor, (COMPLEX, c(3, 2))),
    (cholesky, (COMPLEX,)),
    (by_lu, (REAL, n(3))),
    (by_parts_of_lu, (COMPLEX, c(3))),
    (lu, (REAL,)),
    (bands, (n(3, 4) + np.array([[0.0], [4.0], [0.0]]), n(4))),
    (hermitian_bands, (c(2, 4) + np.array([[6.0], [0.0]]), c(4))),
    (sylvester, (COMPLEX, c(3, 3) + 3 * EYE)),
    (discrete_lyapunov, (c(3, 3), c(3, 3))),
    (exponential, (REAL,)),
    (roots, (REAL,)),
    (sines, (REAL,)),
    (diagonals, (n(3), n(4))),
    (blocks, (n(2, 2), n(1, 3))),
    (rows, (n(3), n(3))),
    (eigenvalues, (REAL,)),
    (singular_values, (REAL,)),
    (shared, (REAL,)),
    (orthogonal, (REAL,)),
    (polar, (COMPLEX,)),
    (general_eigenvalues, (COMPLEX,)),
]


@pytest.mark.parametrize("case", share_by_day(map(pytest.param, CASES), 3), ids=lambda case: case[0].__name__)
@pytest.mark.costly(2)
def test_two_orders_agree_with_numbers(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    function, arguments = case
    check_grads(function, *arguments)


@pytest.mark.parametrize("case", [case for k, case in enumerate(CASES) if k % 3], ids=lambda case: case[0].__name__)
@pytest.mark.costly(2)
def test_the_first_order_agrees_with_numbers(case: tuple[Callable[..., Any], tuple[Any, ...]]) -> None:
    """Those whose second order is asked at night."""
    function, arguments = case
    check_grads(function, *arguments, order=1)


LINES = [
    lambda t: np.sum(linalg.expm(REAL * np.sin(t)) ** 2),
    lambda t: np.sum(linalg.solve(REAL + t * WEIGHTS, WEIGHTS * t) ** 2),
    lambda t: np.sum(linalg.solve_triangular(REAL + t * WEIGHTS, WEIGHTS * t, 1) ** 2),
    lambda t: np.sum(linalg.sqrtm(REAL @ REAL.T + t * EYE) * WEIGHTS),
    lambda t: np.sum(linalg.toeplitz(WEIGHTS[0] * np.sin(t), WEIGHTS[1] * t) ** 3),
]


@pytest.mark.parametrize(
    "f",
    share_by_day(LINES, 5),
    ids="expm solve triangular sqrtm toeplitz".split(),
)
def test_third_order(f: Callable[..., Any]) -> None:
    second = grad(grad(f))
    h = 1e-3
    expected = (8 * (second(0.7 + h) - second(0.7 - h)) - (second(0.7 + 2 * h) - second(0.7 - 2 * h))) / (12 * h)
    np.testing.assert_allclose(grad(second)(0.7), expected, rtol=1e-6, atol=1e-6)


# --- what is read ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f, zero",
    [
        (lambda a: np.sum(linalg.solve(a, WEIGHTS, assume_a="pos")), np.tril(np.ones((3, 3)), -1)),
        (lambda a: np.sum(linalg.solve(a, WEIGHTS, True, assume_a="sym")), np.triu(np.ones((3, 3)), 1)),
        (lambda a: np.sum(linalg.solve_triangular(a, WEIGHTS)), np.tril(np.ones((3, 3)), -1)),
        (lambda a: np.sum(linalg.solve_triangular(a, WEIGHTS, 0, True, True)), np.triu(np.ones((3, 3)))),
        (lambda a: np.sum(linalg.cholesky(a)), np.tril(np.ones((3, 3)), -1)),
        (lambda a: np.sum(linalg.eigvalsh(a) ** 3), np.triu(np.ones((3, 3)), 1)),
    ],
)
def test_what_is_not_read_has_no_slope(f: Callable[..., Any], zero: Any) -> None:
    """The derivative of the function as it is computed, exactly; what is read has one everywhere."""
    slope = grad(f)(REAL @ REAL.T + EYE)
    assert np.all(slope[zero == 1] == 0) and np.all(slope[zero == 0] != 0)


def test_a_factor_keeps_what_it_does_not_write() -> None:
    """cho_factor leaves the other triangle as it was, with the slope of a copy; since SciPy 1.18 it is zero."""
    a = REAL @ REAL.T + EYE
    expected = np.tril(WEIGHTS, -1) if np.any(np.tril(linalg.cho_factor(a)[0], -1)) else np.zeros((3, 3))
    found = grad(lambda a: np.sum(np.tril(linalg.cho_factor(a)[0], -1) * WEIGHTS))(a)
    np.testing.assert_allclose(found, expected)


@pytest.mark.skipif(NumpyVersion(scipy.__version__) < "1.16.0", reason="SciPy 1.15 solves one system at a time")
def test_stacks_of_matrices() -> None:
    a, b = n(2, 3, 3) + 3 * EYE, n(3)

    def each(a, b):
        return np.sum(linalg.solve(a, b) ** 2)

    a_bar, b_bar = grad(each, argnums=(0, 1))(a, b)
    parts = [grad(each, argnums=(0, 1))(m, b) for m in a]
    np.testing.assert_allclose(a_bar, np.stack([p[0] for p in parts]), rtol=1e-10)
    np.testing.assert_allclose(b_bar, parts[0][1] + parts[1][1], rtol=1e-10)


def test_single_precision_stays() -> None:
    a, b = REAL.astype(np.float32), WEIGHTS.astype(np.float32)
    for f in (
        lambda a, b: np.sum(linalg.solve(a, b)),
        lambda a, b: np.sum(linalg.expm(a) * b),
        lambda a, b: np.sum(linalg.cho_solve(linalg.cho_factor(a @ a.T), b)),
        lambda a, b: np.sum(linalg.toeplitz(a[0], b[0])),
    ):
        assert [x.dtype for x in grad(f, argnums=(0, 1))(a, b)] == [np.float32, np.float32]


def test_matrices_of_empty_vectors_have_empty_gradients() -> None:
    for f in (linalg.toeplitz, linalg.hankel, linalg.circulant, lambda a: linalg.toeplitz(a, a)):
        assert grad(lambda a, f=f: np.sum(f(a)))(n(0)).shape == (0,)


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "f, message",
    [
        (lambda a: np.sum(linalg.solve(a, WEIGHTS, overwrite_a=True)), "'overwrite_a' is not supported"),
        (lambda a: np.sum(linalg.eigh(a, a)[0]), "'b' is not supported"),
        (lambda a: np.sum(linalg.qr(a, pivoting=True)[1]), "'pivoting' is not supported"),
        (lambda a: np.sum(linalg.qr(a, mode="raw")[1]), "'mode' must be the literal"),
        (lambda a: np.sum(linalg.lu(a, permute_l=True)[1]), "'permute_l' is not supported"),
        (lambda a: np.sum(linalg.schur(a)[0]), "scipy.linalg.eig"),
        (lambda a: np.sum(linalg.solve_toeplitz(a[0], a)), "scipy.linalg.toeplitz"),
    ],
)
def test_forms_that_are_refused_by_name(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(SrcgradError, match=message):
        grad(f)(REAL)


def test_an_argument_that_says_what_is_assumed_is_no_other_form() -> None:
    found = grad(lambda a: np.sum(linalg.inv(a, overwrite_a=False)) + np.sum(linalg.qr(a, pivoting=False)[1]))(REAL)
    expected = grad(lambda a: np.sum(linalg.inv(a)) + np.sum(linalg.qr(a)[1]))(REAL)
    np.testing.assert_array_equal(found, expected)


def test_factors_that_are_not_square_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="square"):
        grad(lambda a: np.sum(linalg.lu_factor(a)[0]))(n(3, 2))
    with pytest.raises(NotImplementedError, match="wide"):
        grad(lambda a: np.sum(linalg.polar(a)[1]))(n(2, 3))


def test_torch_agrees() -> None:
    torch = pytest.importorskip("torch")

    def exponential_of_torch(a):
        return torch.sum(torch.abs(torch.matrix_exp(a)) ** 2)

    for ours, theirs, a in (
        (lambda a: np.sum(np.abs(linalg.expm(a)) ** 2), exponential_of_torch, COMPLEX),
        (lambda a: np.sum(linalg.det(a) ** 2), lambda a: torch.linalg.det(a) ** 2, REAL),
        (lambda a: np.sum(linalg.lu(a)[2] ** 2), lambda a: torch.sum(torch.linalg.lu(a)[2] ** 2), REAL),
    ):
        x = torch.tensor(a, requires_grad=True)
        theirs(x).backward()
        np.testing.assert_allclose(srcgrad.grad(ours)(a), np.conj(x.grad.numpy()), rtol=1e-8)
