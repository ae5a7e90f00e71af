"""What has fewer than two dimensions is no matrix: SciPy takes some of it, and computes with what no formula is of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedValue

X = np.array([1.3, 2.5, 0.7])
PROGRAMS = {
    "solve": lambda a, b: np.sum(linalg.solve(a, b)),
    "solveh_banded": lambda a, b: np.sum(linalg.solveh_banded(a, b)),
    "cholesky": lambda a, b: np.sum(linalg.cholesky(a)),
    "cho_factor": lambda a, b: np.sum(linalg.cho_factor(a)[0]),
    "lu_factor": lambda a, b: np.sum(linalg.lu_factor(a)[0]),
    "expm": lambda a, b: np.sum(linalg.expm(a)),
    "sqrtm": lambda a, b: np.sum(linalg.sqrtm(a)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_less_than_a_matrix_is_refused(name: str) -> None:
    f = PROGRAMS[name]
    for a in (2.0, np.array(2.0), X):
        with pytest.raises(UnsupportedSyntax, match="in the place of a matrix"):
            srcgrad.grad(f)(a, X)
        with pytest.raises(UnsupportedSyntax, match="in the place of a matrix"):
            srcgrad.jacfwd(f)(a, X)


@pytest.mark.parametrize("name", ["sqrtm", "solveh_banded"])
def test_programs_of_any_arguments_look_when_they_run(name: str) -> None:
    f = PROGRAMS[name]
    with srcgrad.options(specialise=False), pytest.raises(RefusedValue, match="in the place of a matrix"):
        srcgrad.grad(f)(X, X)


def test_matrices_are_taken() -> None:
    a = np.array([[2.0]])
    assert np.allclose(srcgrad.grad(PROGRAMS["sqrtm"])(a, X), 0.5 / np.sqrt(a))
