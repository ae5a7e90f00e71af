"""Polynomials through the compiler: orders 2 and 3, roots and fits, remainders that lose their leading zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule, SrcgradError
from srcgrad.rules.table import lookup
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(17)
X = rng.standard_normal(6)
PLACES = np.linspace(-1.0, 1.3, 6)
DATA = rng.standard_normal(6)
PAIRS = rng.standard_normal((6, 2))


def values(x):
    return np.sum(np.polyval(x[:4], np.sin(x)) ** 2)


def sums(x):
    y = np.polysub(np.polyadd(x[:2], x[1:5] * x[1:5]), x[:3])
    return np.sum(y * y * y)


def products(x):
    y = np.polymul(np.polymul(x[:3], x[2:]), x[:2])
    return np.sum(np.sin(y))


def quotients(x):
    q, r = np.polydiv(x * x, 2.0 + x[:3])
    return np.sum(q**3) + np.sum(r * r)


def quotient_alone(x):
    return np.sum(np.polydiv(x, np.cos(x[:2]))[0] ** 2)


def calculus(x):
    y = np.polyint(np.polyder(x * x), 2, x[:2] * x[1:3])
    return np.sum(np.polyder(y, 3) ** 2) + np.sum(np.polyint(x, k=x[0]) ** 3)


def roots_of(x):
    y = np.roots(np.cos(x[:4]) + 1.5)
    return np.sum(np.real(y) ** 3) + np.sum(np.imag(y) ** 2)


def poly_of(x):
    return np.sum(np.poly(x) ** 3) + np.sum(np.poly(x[:2] + 1j * x[2:4]).imag ** 2)


def fit(x):
    c = np.polyfit(PLACES + 0.1 * np.sin(x), DATA * x, 2)
    return np.sum(c**3)


def weighted_fit(x):
    c = np.polyfit(PLACES + 0.1 * np.sin(x), DATA * x, 2, w=2.0 + np.cos(x))
    return np.sum(c * c)


def columns_fit(x):
    c = np.polyfit(PLACES + 0.1 * x, PAIRS * x[:, None], 1, w=2.0 + np.cos(x))
    return np.sum(c * c)


TO_THE_THIRD = [values, products, quotient_alone, fit]
TO_THE_SECOND = [sums, quotients, calculus, poly_of, roots_of, weighted_fit, columns_fit]


@pytest.mark.parametrize(("f", "order"), to_the_third(TO_THE_THIRD + TO_THE_SECOND, [values], TO_THE_THIRD))
@pytest.mark.costly(2, first=1)
def test_orders(f: Any, order: int) -> None:
    check_orders(f, X, order)


def leading_zeros(x):
    y = np.polymul(np.array([0.0, 1.0, 2.0]) * x[:3], x[3:5])
    return np.sum(y * y)


def test_a_coefficient_that_is_zero_receives_what_reaches_the_product() -> None:
    """d(a0 b1 + a1 b0) / d a0 = b1 although a0 is 0 and the product one shorter."""
    x = np.array([1.0, 1.0, 1.0, 3.0, 4.0])
    u_bar = srcgrad.grad(leading)(np.array([0.0, 1.0, 2.0]), x[3:])
    np.testing.assert_allclose(u_bar[0], 4.0)


def leading(u, v):
    return np.polymul(u, v)[0]


def test_a_remainder_without_its_leading_zeros() -> None:
    """4 degrees of quotient; the remainder of degree 0 although 1 is expected: what is left is aligned at the end."""
    v = np.array([1.0, 2.0, -1.0])
    u = np.array([1.0, 1.5, -1.7, 3.1, 3.7, -1.0])
    y = np.polydiv(u, v)
    assert len(y[1]) == 1
    rule = lookup(np.polydiv)
    assert rule is not None
    y_bar = (rng.standard_normal(4), rng.standard_normal(1))
    u_bar, v_bar = rule.compile_adjoint({"u", "v"}, {"u", "v"})(u, v, y, y_bar)
    u_dot, v_dot = rng.standard_normal(6), rng.standard_normal(3)
    q_dot, r_dot = rule.compile_tangent({"u", "v"}, {"u", "v"})(u, v, y, u_dot, v_dot)
    above, below = np.polydiv(u + 1e-6 * u_dot, v + 1e-6 * v_dot), np.polydiv(u - 1e-6 * u_dot, v - 1e-6 * v_dot)
    np.testing.assert_allclose(q_dot, (above[0] - below[0]) / 2e-6, rtol=1e-7)
    np.testing.assert_allclose(r_dot, (above[1] - below[1])[-1:] / 2e-6, rtol=1e-7)
    np.testing.assert_allclose(y_bar[0] @ q_dot + y_bar[1] @ r_dot, u_bar @ u_dot + v_bar @ v_dot, rtol=1e-11)


def first_root(p):
    return np.sum(np.roots(p) ** 2)


def test_the_sum_of_squares_of_roots() -> None:
    """For p0 x^2 + p1 x + p2 it is (p1^2 - 2 p0 p2) / p0^2; trailing zeros are roots at 0."""
    p = np.array([2.0, 1.0, -3.0])
    expected = [-2 * p[1] ** 2 / p[0] ** 3 + 2 * p[2] / p[0] ** 2, 2 * p[1] / p[0] ** 2, -2 / p[0]]
    np.testing.assert_allclose(srcgrad.grad(first_root)(p), expected, rtol=1e-12)
    p = np.array([2.0, 1.0, 0.0])
    np.testing.assert_allclose(srcgrad.grad(first_root)(p), [-1 / 4, 1 / 2, -1.0], rtol=1e-12)


def of_roots(r):
    return np.sum(np.poly(r) * np.array([1.0, -2.0, 3.0, 0.5]))


def test_equal_roots_and_roots_at_zero_are_exact() -> None:
    r = np.array([2.0, 2.0, 0.0])
    # y = (1, -(a + b + c), ab + ac + bc, -abc)
    expected = [2.0 + 3.0 * 2.0, 2.0 + 3.0 * 2.0, 2.0 + 3.0 * 4.0 - 0.5 * 4.0]
    np.testing.assert_allclose(srcgrad.grad(of_roots)(r), expected, rtol=1e-14)


def of_matrix(a):
    return np.sum(np.poly(a))


def fit_in_full(x):
    return np.polyfit(PLACES, x, 2, full=True)[0][0]


def fit_with_covariance(x):
    return np.sum(np.polyfit(PLACES, x, 2, cov=True)[1])


def test_refusals() -> None:
    with pytest.raises(NotImplementedError, match=r"np\.poly.*eigvals"):
        srcgrad.grad(of_matrix)(np.eye(2))
    with pytest.raises(SrcgradError, match="full"):
        srcgrad.grad(fit_in_full)(X)
    with pytest.raises(SrcgradError, match="cov"):
        srcgrad.grad(fit_with_covariance)(X)
    with pytest.raises(MissingRule, match="polynomial"):
        srcgrad.grad(as_object)(X)


def as_object(x):
    return np.polyval(np.poly1d(x), 0.5)


def fit_of(x):
    return np.polyfit(x, DATA, 5)[0]


def test_a_fit_without_one_answer_raises() -> None:
    with pytest.warns(np.exceptions.RankWarning), pytest.raises(NotImplementedError, match="poorly conditioned"):
        srcgrad.grad(fit_of)(np.ones(6))


def evaluation(p, x):
    return np.sum(np.polyval(p, x))


def test_dtypes_and_numbers() -> None:
    p_bar, x_bar = srcgrad.grad(evaluation, argnums=(0, 1))(X.astype(np.float32), DATA)
    assert p_bar.dtype == np.float32 and x_bar.dtype == np.float64
    p_bar, x_bar = srcgrad.grad(evaluation, argnums=(0, 1))(X, 0.5)
    assert isinstance(x_bar, float)
    np.testing.assert_allclose(p_bar, 0.5 ** np.arange(5, -1, -1))
