"""SciPy's sparse matrices as constants: programs in every mode against the same with a dense matrix, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SrcgradError
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused
from tests.parameters import share_by_day

sparse = pytest.importorskip("scipy.sparse")
linalg = pytest.importorskip("scipy.sparse.linalg")

DENSE = np.array([[2.0, -1.0, 0.0], [0.5, 3.0, 0.0], [0.0, 1.5, -4.0]])
M, A = sparse.csr_matrix(DENSE), sparse.csr_array(DENSE)
C = sparse.csc_array(DENSE + 1j * DENSE.T)
E, EM = sparse.eye_array(3, format="dia"), sparse.eye(3)
COO = sparse.coo_array((np.array([1.0, 2.0, 3.0]), (np.array([0, 0, 2]), np.array([1, 1, 0]))), (3, 3))
HELD = {"matrix": M, "list": [A]}
SHIFT = 0.75
X = np.array([0.3, -0.7, 1.1])
COLUMNS = np.array([[0.3, -0.7], [1.1, 0.2], [0.5, 0.9]])


class Operator:
    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, x):
        return 2.0 * (self.matrix @ x)


OPERATOR = Operator(A)


def through(matrix, x):
    return matrix @ x


def around(matrix):
    return lambda x: np.sum((matrix @ x) ** 2)


def stores(x):
    y = np.zeros(3)
    for _ in range(2):
        y[:] = A @ (x + y)
    return np.sum(y * y)


def turns(x):
    B = A
    for _ in range(2):
        x = np.sin(B @ x)
        B = B.T
    return np.sum(x * x)


def named(x):
    W = A.multiply(x)
    return W.sum() * np.sum(W @ x)


def asks(x):
    return np.sum(A @ x if sparse.issparse(A) else np.dot(A, x)) ** 2


#: A program, and the same on dense arrays.
PROGRAMS = {
    "A @ x": (lambda x: np.sum((A @ x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "A.dot": (lambda x: np.sum(M.dot(x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "A.T": (lambda x: np.sum((A.T @ x) ** 2), lambda x: np.sum((DENSE.T @ x) ** 2)),
    "* of matrices": (lambda x: np.sum((M * x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "sums": (
        lambda x: np.sum(((A + 2.0 * E - SHIFT * A) @ x) ** 2),
        lambda x: np.sum(((DENSE * (1 - SHIFT) + 2.0 * np.eye(3)) @ x) ** 2),
    ),
    "a shifted matrix": (
        lambda x: np.sum(((M - SHIFT * EM) @ x) ** 2),
        lambda x: np.sum(((DENSE - SHIFT * np.eye(3)) @ x) ** 2),
    ),
    "spsolve": (lambda x: np.sum(linalg.spsolve(A, x) ** 2), lambda x: np.sum(np.linalg.solve(DENSE, x) ** 2)),
    "complex": (lambda x: np.sum(np.abs(C @ x) ** 2), lambda x: np.sum(np.abs((DENSE + 1j * DENSE.T) @ x) ** 2)),
    "of an object": (lambda x: np.sum(OPERATOR(x) ** 2), lambda x: 4 * np.sum((DENSE @ x) ** 2)),
    "in a dict": (lambda x: np.sum((HELD["matrix"] @ x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "in a list": (lambda x: np.sum((HELD["list"][0] @ x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "in a call": (lambda x: np.sum(through(A, x) ** 2), lambda x: np.sum((DENSE @ x) ** 2)),
    "in a closure": (around(A), lambda x: np.sum((DENSE @ x) ** 2)),
}
OF_VECTORS = {
    "x @ A": (lambda x: np.sum((x @ A) ** 3), lambda x: np.sum((x @ DENSE) ** 3)),
    "x * of matrices": (lambda x: np.sum((x * M) ** 2), lambda x: np.sum((x @ DENSE) ** 2)),
    "-A / 2": (lambda x: np.sum(((-A / 2.0) @ x) ** 2), lambda x: np.sum((DENSE @ x) ** 2) / 4),
    "formats": (lambda x: np.sum((A.tocsc().T.tocoo() @ x) ** 2), lambda x: np.sum((DENSE.T @ x) ** 2)),
    "numbers of a matrix": (
        lambda x: np.sum(A @ x) ** 2 / A.shape[0] * A.nnz * A.sum(),
        lambda x: np.sum(DENSE @ x) ** 2 / 3 * 6 * np.sum(DENSE),
    ),
    "multiply, sum": (lambda x: A.multiply(x).sum() ** 2, lambda x: np.sum(DENSE * x) ** 2),
    "multiply, @": (lambda x: np.sum((A.multiply(x) @ x) ** 2), lambda x: np.sum(((DENSE * x) @ x) ** 2)),
    "multiply, a column": (
        lambda x: np.sum(A.multiply(x[:, None]).toarray() ** 3),
        lambda x: np.sum((DENSE * x[:, None]) ** 3),
    ),
    "multiply, a number": (lambda x: A.multiply(x[0]).sum() ** 2, lambda x: np.sum(DENSE * x[0]) ** 2),
    "* of arrays": (lambda x: np.sum((A * x).dot(x) ** 2), lambda x: np.sum(((DENSE * x) @ x) ** 2)),
    "entries that stand twice": (
        lambda x: np.sum((COO.multiply(x) @ x) ** 2) + COO.multiply(x).sum(),
        lambda x: np.sum(((COO.toarray() * x) @ x) ** 2) + np.sum(COO.toarray() * x),
    ),
    "named": (named, lambda x: np.sum(DENSE * x) * np.sum((DENSE * x) @ x)),
    "stores": (stores, lambda x: np.sum((DENSE @ (x + DENSE @ x)) ** 2)),
    "turns": (turns, lambda x: np.sum(np.sin(DENSE.T @ np.sin(DENSE @ x)) ** 2)),
    "issparse": (asks, lambda x: np.sum(DENSE @ x) ** 2),
}
CASES = [
    *(pytest.param(*pair, X, id=name) for name, pair in (PROGRAMS | OF_VECTORS).items()),
    *(pytest.param(*pair, COLUMNS, id=f"{name}, columns") for name, pair in PROGRAMS.items()),
    *(pytest.param(*PROGRAMS[n], X + 1j * X[::-1], id=f"{n}, complex x") for n in ("complex",)),
]


@pytest.mark.parametrize(
    "f, dense, x, further",
    [
        *(pytest.param(*case.values, False, id=f"{case.id}-first order") for case in CASES),
        *share_by_day([pytest.param(*case.values, True, id=f"{case.id}-every mode") for case in CASES], 6),
    ],
)
@pytest.mark.costly(4, first=2)
def test_all_modes_agree_with_the_dense_program(f, dense, x, further):
    """By day both directions at the first order, and every mode of each sixth program."""
    direction = np.cos(x) + (1j * np.sin(x) if np.iscomplexobj(x) else 0.0)
    gradient = srcgrad.grad(dense)(x)
    np.testing.assert_allclose(srcgrad.grad(f)(x), gradient, rtol=1e-12, atol=1e-12)
    value, tangent = srcgrad.jvp(f, (x,), (direction,))
    np.testing.assert_allclose(value, f(x), rtol=0)
    np.testing.assert_allclose(tangent, np.real(np.sum(gradient * direction)), rtol=1e-12, atol=1e-12)
    if x is not X or not further:
        return
    twice = srcgrad.hvp(dense)(x, direction)
    for kinds, derivative, wanted in ((True, srcgrad.hvp(f), twice), (False, srcgrad.grad(f), gradient)):
        with options(specialise=kinds):
            try:
                found = derivative(x, direction) if kinds else derivative(x)
            except (SrcgradError, Refused):
                continue  # of most forms it takes the kinds of what is differentiated
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("f", [named, stores, turns])
@pytest.mark.costly(1, first=1)
def test_against_numbers(f):
    srcgrad.check_grads(f, X, modes=("reverse", "forward", "numeric"))


@pytest.mark.parametrize("f, dense, x", [case for case in CASES if case.id in ("A @ x", "named", "spsolve")])
@pytest.mark.costly(1)
def test_reverse_over_reverse(f, dense, x):
    direction = np.cos(x)
    expected = srcgrad.hvp(dense)(x, direction)
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(srcgrad.grad(f)(x) * direction))(x), expected, rtol=1e-10)


def shifted(x, matrix, s):
    return np.sum(((matrix - s * matrix.T) @ x) ** 2)


@pytest.mark.parametrize("matrix", [M, A, M.tocsc(), A.todok(), A.tobsr(), A.todia(), A.tolil()])
@pytest.mark.costly(2, first=1)
def test_matrices_are_arguments_that_are_not_differentiated(matrix):
    expected = srcgrad.grad(shifted)(X, DENSE, 2.0)
    np.testing.assert_allclose(srcgrad.grad(shifted)(X, matrix, 2.0), expected, rtol=1e-12)
    held = srcgrad.grad(lambda x, o: np.sum(o(x) ** 2))(X, Operator(matrix))
    np.testing.assert_allclose(held, 8 * DENSE.T @ DENSE @ X, rtol=1e-12)


def test_a_number_that_scales_a_matrix_and_is_differentiated_is_refused():
    with pytest.raises(SrcgradError, match="depends on what is differentiated"):
        srcgrad.grad(shifted, argnums=(0, 2))(X, A, 2.0)


def decided_by_one(x):
    W = A.multiply(x)
    return np.sum(x) if (W @ x)[0] > 0 else x[0]


REFUSED = {
    "np.sum of a matrix": (lambda x: np.sum(A) * np.sum(x), "sum is given a sparse matrix"),
    "np.dot": (lambda x: np.sum(np.dot(A, x)), "dot is given a sparse matrix"),
    "an item": (lambda x: A[0] @ x, "of a sparse matrix"),
    "a loop": (lambda x: sum(row @ x for row in A), "of a sparse matrix"),
    "a varying factor of a matrix": (lambda x: np.sum((x[0] * M) @ x), "a number stands where|depends on what is"),
    "a dense summand": (lambda x: np.sum(A + x), "this operator on a sparse matrix and an array"),
    "handed out": (lambda x: A.multiply(x), "depends on what is differentiated"),
    "one of two": (lambda x: np.sum(A.multiply(x) if x[0] > 0 else x), "depends on what is differentiated"),
    "in a test": (decided_by_one, "depends on what is differentiated"),
    "in a tuple": (lambda x: (A.multiply(x), x)[int(x[0] > 0)].sum(), "depends on what is differentiated"),
    "made of what varies": (lambda x: np.sum(sparse.diags(x) @ x), "no derivative rule for diags"),
    "made inside": (lambda x: np.sum(sparse.diags([1.0, 2.0, 3.0]) @ x), "no derivative rule for diags"),
    "expm": (lambda x: np.sum(linalg.expm(A) @ x), "no derivative rule for _expm"),
    "splu": (lambda x: np.sum(linalg.splu(A).solve(x)), "has the method 'solve'"),
    "a matrix of NumPy": (lambda x: np.sum(M.todense() @ x), "numpy.matrix"),
    "sums by rows": (lambda x: np.sum(M.sum(axis=0) @ x), "numpy.matrix"),
    "an unknown method": (lambda x: np.sum(A.getrow(0) @ x), "the method 'getrow' of a sparse matrix"),
    "mixed with dense ones": (lambda x: sum(np.sum(m @ x) for m in [A, DENSE]), "class csr_array|operator on a sparse"),
}


@pytest.mark.parametrize("f, message", REFUSED.values(), ids=REFUSED)
def test_all_else_names_what_is_missing(f, message):
    with pytest.raises((SrcgradError, Refused), match=message):
        srcgrad.vjp(f, X)


def test_a_sparse_matrix_has_no_gradient():
    with pytest.raises(SrcgradError, match="sparse matrices are constants"):
        srcgrad.grad(lambda m: np.sum(m @ X))(A)


def test_a_matrix_that_becomes_an_array_is_compiled_again():
    global CHANGES
    derivative = srcgrad.grad(lambda x: np.sum((CHANGES * x) @ x))
    expected = [(DENSE + DENSE.T) @ X, srcgrad.grad(lambda x: np.sum((DENSE * x) @ x))(X)]
    for CHANGES, value in ((M, None), (A, expected[1]), (DENSE, expected[1])):
        if value is not None:
            np.testing.assert_allclose(derivative(X), value, rtol=1e-12)
        else:
            np.testing.assert_allclose(derivative(X), expected[0], rtol=1e-12)


CHANGES = M
