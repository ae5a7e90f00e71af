"""Lists of lists that a recursive function takes apart and joins."""

from __future__ import annotations

import numpy as np

from srcgrad import grad, jvp

X = np.array([0.31, 0.72, 0.55, 0.13, 0.94, 0.41])


def by_minors(m):
    if len(m) == 1:
        return m[0][0]
    s = 0.0
    for j in range(len(m)):
        s += (-1) ** j * m[0][j] * by_minors([row[:j] + row[j + 1 :] for row in m[1:]])
    return s


def determinant(x):
    return by_minors([[x[0], x[1], 2.0], [x[2], 1.0, x[3]], [0.5, x[4], x[5]]])


def test_a_determinant_by_minors() -> None:
    """Once a refusal at run time in reverse mode: in the recursion nothing else said that lists are joined."""
    matrix = np.array([[X[0], X[1], 2.0], [X[2], 1.0, X[3]], [0.5, X[4], X[5]]])
    slopes = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    expected = slopes[[0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 2]]
    np.testing.assert_allclose(grad(determinant)(X), expected, rtol=1e-12)
    np.testing.assert_allclose(jvp(determinant, (X,), (np.ones(6),))[1], np.sum(expected), rtol=1e-12)
