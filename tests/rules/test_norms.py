"""Norms through the compiler: every order twice, zeros and ties, orders that are known late, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.rules.quotients import check

rng = np.random.default_rng(13)
VECTOR = np.array([0.7, -1.3, 0.4, 2.1])
MATRIX = np.array([[0.7, -1.3, 0.4], [2.1, 0.2, -0.9]])
COMPLEX = MATRIX + 1j * rng.standard_normal((2, 3))


def orders_of_vectors(x: Any) -> Any:
    total = (
        np.linalg.norm(x) + np.linalg.norm(x, 1) ** 2 + np.linalg.norm(x, np.inf) ** 2 + np.linalg.norm(x, -np.inf) ** 2
    )
    return total + np.linalg.norm(x, 3) + np.linalg.norm(x, 0.5) + np.linalg.norm(x, -1) + np.linalg.norm(x, 0)


def orders_along_an_axis(x: Any) -> Any:
    total = np.linalg.norm(x, axis=1) ** 3 + np.linalg.norm(x, 1, 1) ** 2 + np.linalg.norm(x, np.inf, axis=-1) ** 2
    return np.sum(total + np.linalg.norm(x, 2, 1) + np.linalg.norm(x, 1.5, 1) + np.linalg.norm(x, -2, 1))


def orders_of_matrices(x: Any) -> Any:
    total = np.linalg.norm(x, "fro") ** 3 + np.linalg.norm(x, 1) ** 2 + np.linalg.norm(x, -1) ** 2
    total = total + np.linalg.norm(x, np.inf) ** 2 + np.linalg.norm(x, -np.inf) ** 2
    return total + np.linalg.norm(x, 2) + np.linalg.norm(x, -2) + np.linalg.norm(x, "nuc")


def orders_along_two_axes(x: Any) -> Any:
    total = np.linalg.norm(x, "nuc", (2, 0)) + np.linalg.norm(x, 2, (0, 2)) + np.linalg.norm(x, -np.inf, (0, 2)) ** 2
    return np.sum(total + np.linalg.norm(x, -1, (2, 0)) ** 2) + np.sum(np.linalg.norm(x, axis=(0, 1), keepdims=True))


def matrix_norms(x: Any) -> Any:
    total = np.linalg.matrix_norm(x) + np.linalg.matrix_norm(x, ord="nuc") + np.linalg.matrix_norm(x, ord=1) ** 2
    return np.sum(total + np.linalg.matrix_norm(x, ord=-2) + np.linalg.matrix_norm(x, keepdims=True, ord=-np.inf) ** 2)


def vector_norms(x: Any) -> Any:
    total = (
        np.linalg.vector_norm(x) + np.linalg.vector_norm(x, axis=(0, 1), ord=3) + np.linalg.vector_norm(x, ord=1) ** 2
    )
    return (
        total + np.sum(np.linalg.vector_norm(x, axis=0, ord=np.inf) ** 2) + np.linalg.vector_norm(x, ord=-np.inf) ** 2
    )


def condition_numbers(x: Any) -> Any:
    total = np.linalg.cond(x) + np.linalg.cond(x, -2) + np.linalg.cond(x, "fro")
    return np.sum(total + np.linalg.cond(x, 1) + np.linalg.cond(x, -np.inf))


CASES = [
    (orders_of_vectors, VECTOR), (orders_of_vectors, COMPLEX[0]), (orders_along_an_axis, MATRIX),
    (orders_along_an_axis, COMPLEX), (orders_of_matrices, MATRIX), (orders_of_matrices, COMPLEX),
    (orders_along_two_axes, np.stack([MATRIX, 1.1 * MATRIX - 0.3])), (matrix_norms, COMPLEX), (vector_norms, MATRIX),
    (vector_norms, COMPLEX), (condition_numbers, MATRIX[:, :2]), (condition_numbers, COMPLEX[:, :2]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), CASES, ids=lambda x: getattr(x, "__name__", None) or f"{x.shape}{x.dtype.char}")
@pytest.mark.costly(2)
def test_every_order_twice(f: Any, x: Any) -> None:
    check(f, x)


# --- orders known late -----------------------------------------------------------------------------------------------
def any_order(x: Any, ord: Any) -> Any:
    return np.linalg.norm(x, ord)


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_orders_of_matrices_known_when_called(ord: Any) -> None:
    def literal_axes(x: Any, ord: Any) -> Any:
        return np.linalg.norm(x, ord, (0, 1))

    gradient = srcgrad.grad(any_order)(COMPLEX, ord)
    v = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
    step = (any_order(COMPLEX + 1e-6 * v, ord) - any_order(COMPLEX - 1e-6 * v, ord)) / 2e-6
    np.testing.assert_allclose(np.sum(np.real(gradient * v)), step, rtol=1e-7)
    np.testing.assert_allclose(srcgrad.grad(literal_axes)(COMPLEX, ord), gradient)


@pytest.mark.parametrize("ord", [3.0, 2.5, 2, 1, -1, np.inf, 0])
def test_orders_of_vectors_known_when_called(ord: Any) -> None:
    gradient = srcgrad.grad(any_order)(VECTOR, ord)
    step = [
        (any_order(VECTOR + 1e-6 * e, ord) - any_order(VECTOR - 1e-6 * e, ord)) / 2e-6 for e in np.eye(4)
    ]  # fmt: skip
    np.testing.assert_allclose(gradient, step, rtol=1e-7, atol=1e-9)


def test_second_derivatives_of_orders_known_when_called() -> None:
    h = srcgrad.hessian(any_order)

    def cubic(x: Any) -> Any:
        return np.linalg.norm(x, 3)

    np.testing.assert_allclose(h(VECTOR, 3.0), srcgrad.hessian(cubic)(VECTOR), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="needs its order and axis as literals"):
        h(MATRIX, "nuc")


def test_no_derivative_by_the_order() -> None:
    with pytest.raises(srcgrad.MissingRule, match="'ord': the order of a norm is taken as fixed"):
        srcgrad.grad(any_order, 1)(VECTOR, 3.0)


# --- zeros and ties --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_slopes_of_the_zero_matrix_are_zero(ord: Any) -> None:
    np.testing.assert_array_equal(srcgrad.grad(any_order)(np.zeros((2, 2)), ord), np.zeros((2, 2)))


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
def test_slopes_of_the_zero_vector_are_zero(ord: Any) -> None:
    np.testing.assert_array_equal(srcgrad.grad(any_order)(np.zeros(2), ord), np.zeros(2))


def test_ties_share() -> None:
    def spectral(x: Any) -> Any:
        return np.linalg.norm(x, 2)

    def rows(x: Any) -> Any:
        return np.linalg.norm(x, np.inf)

    np.testing.assert_allclose(srcgrad.grad(spectral)(np.eye(2)), np.eye(2) / 2)
    np.testing.assert_allclose(srcgrad.grad(rows)(np.array([[1.0, -2.0], [3.0, 0.0]])), [[0.5, -0.5], [0.5, 0.0]])


def test_second_derivatives_beside_equal_singular_values() -> None:
    """Of the greatest singular value where the others are equal, of rank 1 too."""

    def spectral(x: Any) -> Any:
        return np.linalg.norm(x, 2)

    def condition(x: Any) -> Any:
        return np.linalg.cond(x)

    check(spectral, np.outer([1.0, 2.0, 3.0], [0.5, -1.0, 0.2]))
    check(condition, np.diag([3.0, 2.0, 2.0, 1.0]))


def test_single_precision_is_kept() -> None:
    for f in (orders_of_matrices, matrix_norms, vector_norms):
        assert srcgrad.grad(f)(MATRIX.astype(np.float32)).dtype == np.float32
        assert srcgrad.grad(f)(COMPLEX.astype(np.complex64)).dtype == np.complex64


def test_beside_pytorch() -> None:
    torch = pytest.importorskip("torch")
    for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        t = torch.tensor(COMPLEX, requires_grad=True)
        torch.linalg.matrix_norm(t, ord).backward()
        expected = t.grad.conj().resolve_conj().numpy()
        np.testing.assert_allclose(srcgrad.grad(any_order)(COMPLEX, ord), expected, rtol=1e-10, atol=1e-13)


def test_condition_numbers_of_other_orders_are_refused_by_name() -> None:
    def f(x: Any) -> Any:
        return np.linalg.cond(x, "nuc")

    with pytest.raises(srcgrad.SrcgradError, match="np.linalg.cond: the argument 'p' must be the literal"):
        srcgrad.grad(f)(np.eye(2))
