"""Sparse matrices are constants whose products with arrays are written from values; what would vary is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SrcgradError
from tests.specialise.serving import check_right

sparse = pytest.importorskip("scipy.sparse")

DENSE = np.array([[2.0, -1.0, 0.0], [0.5, 3.0, 0.0], [0.0, 1.5, -4.0]])
A, M = sparse.csr_array(DENSE), sparse.csr_matrix(DENSE)
B = sparse.csc_array(DENSE.T * 0.5 + np.eye(3))
X = np.array([0.3, -0.7, 1.1])


# --- what is served --------------------------------------------------------------------------------------------------
def constants(x):
    s = np.sum((A.dot(B) @ x) ** 2) + np.sum((A @ B - 2.0 * B.T) @ x) * A.shape[1] + A.nnz
    return s + A.trace() * np.sum(A.diagonal() * x) + np.sum((M**2) @ x) + np.sum(A.sum(axis=0) * x) ** 2


def chosen(x):
    C = A if x[0] > 0 else A.T.tocsr()
    return np.sum((C @ x) ** 2)


def several_classes(x):
    s = 0.0
    for C in [A, B]:
        s = s + np.sum((C @ x) ** 2)
    return s


def replaced_meanwhile(x):
    C = A
    W = C.multiply(x)
    C = B
    return np.sum(W @ x) ** 2 + W.sum() + np.sum(C @ x)


def weighed_again_in_each_round(x):
    C, s = A, 0.0
    for k in range(3):
        W = C.multiply(x * (k + 1))
        V, C = W, C.T
        s = s + V.sum() * np.sum(W.dot(x)) + np.sum(V.toarray() ** 2)
    return s


def until_it_is_large(x):
    C, k = A, 0
    while np.sum(C @ x) < 5 and k < 4:
        x = np.tanh(C @ x) + x
        C = C + B
        k += 1
    return np.sum((C @ x) ** 2)


def raising(x):
    try:
        return np.sum(A @ np.concatenate([x, x]))
    except ValueError:
        return np.sum(x**2)


def of_both_sides(x):
    return np.sum(np.outer(x, x) @ A @ x) + x @ A @ x + np.sum((A * (1 + 2j)).imag @ x) ** 2


SERVED = [
    constants, chosen, several_classes, replaced_meanwhile, weighed_again_in_each_round, until_it_is_large, raising,
    of_both_sides,
]  # fmt: skip


@pytest.mark.parametrize("f", SERVED)
@pytest.mark.costly(2, first=1)
def test_sparse_matrices_are_served(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = A.toarray(), B.toarray(), M.toarray()
    check_right(f, monkeypatch, X)
    for matrix, dense in zip((A, B, M), before, strict=True):
        np.testing.assert_array_equal(matrix.toarray(), dense)


def test_an_argument_of_another_dtype_is_compiled_again() -> None:
    derivative = srcgrad.grad(lambda x, C: np.sum(np.abs(C @ x) ** 2))
    for factor in (1.0, 1.0 + 2.0j, 1.0):
        dense = np.real(np.conj(DENSE * factor).T @ (DENSE * factor))
        np.testing.assert_allclose(derivative(X, sparse.csr_array(DENSE * factor)), 2.0 * dense @ X)


# --- what is refused -------------------------------------------------------------------------------------------------
def divided_by_what_varies(x):
    return np.sum(((A / x[1]) @ x) ** 2)


def of_an_earlier_round(x):
    W, s = A.multiply(x), 0.0
    for k in range(3):
        s = s + np.sum(W @ x)
        W = B.multiply(x * (k + 1))
    return s


def _passed_on(W, x, n):
    V = B.multiply(x)
    return W.sum() + V.sum() if n == 0 else _passed_on(V, x, n - 1)


def handed_to_itself(x):
    return _passed_on(A.multiply(x), x, 2)


def captured(x):
    W = A.multiply(x)

    def product(v):
        return np.sum(W @ v)

    return product(x) + product(2.0 * x)


def decided(x):
    W = A.multiply(x)
    return np.sum(W @ x) if W.sum() > 0 else W.sum() ** 2


def asked_for_its_class(x):
    W = A.multiply(x)
    return W.sum() if isinstance(W, sparse.sparray) else np.sum(x)


def asked_for_its_class_itself(x):
    W = A.multiply(x)
    return W.sum() if type(W) is sparse.coo_array or sparse.issparse(W) else np.sum(x)


def entries_changed(x):
    C = A.copy()
    y = C @ (x * x)
    C.data[0] = 5.0
    return np.sum(y**2) + np.sum(C @ x)


def item_stored(x):
    C = A.tolil()
    C[0, 0] = x[0]
    return np.sum(C @ x)


def kept_outside(x):
    KEPT.append(A.multiply(x))
    return KEPT[-1].sum()


KEPT: list[Any] = []
REFUSED = [
    divided_by_what_varies, of_an_earlier_round, handed_to_itself, captured, decided, entries_changed, item_stored,
    kept_outside, asked_for_its_class, asked_for_its_class_itself,
]  # fmt: skip


@pytest.mark.parametrize("f", REFUSED)
def test_what_would_vary_or_change_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(SrcgradError):
        srcgrad.grad(f)(X)
