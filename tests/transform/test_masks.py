"""Which of two arrays was taken is asked before either is stored into: neither is restored for the answer."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime import prevails, wins
from tests.analysis.test_outcomes import numeric_gradient

X = np.array([0.6, -0.9, 1.3, 0.4])


def shortest(x):
    p = np.add.outer(np.sin(x), np.cos(x)) + 2.0
    for k in range(len(p)):
        p[:] = np.minimum(p, np.add.outer(p[:, k], p[k, :]) * 0.5)
    return np.sum(p * p)


def bounded(x):
    p = 3.0 * np.sin(x)
    for k in range(3):
        p[1:] = np.clip(p[1:] * p[:-1], -0.4, 0.9) + p[1:]
    return np.sum(p)


def in_a_branch(x):
    p = np.sin(x)
    for k in range(4):
        if k % 2:
            p[:] = np.maximum(p, p[::-1] * 0.7)
        else:
            p[k] = p[k] * 1.5
    return p @ p


def behind_an_exit(x):
    p = np.sin(x)
    for k in range(6):
        if p[0] > 2.0:
            break
        p[:] = np.maximum(p, 0.1) * 1.7
        if k == 4:
            return np.sum(p) * 2.0
    return p @ p


def rebound(x):
    p = np.sin(x)
    q = np.cos(x)
    for _ in range(3):
        p[1:] = p[:-1] * 0.9
        q = np.maximum(q, p)
        p[:] = q * p
    return p @ q


def raise_to(p, low):
    for i in range(len(p)):
        p[i:] = np.maximum(p[i:], low * p[: len(p) - i])


def in_a_callee(x):
    p = np.sin(x)
    for _ in range(2):
        raise_to(p, 0.8)
    return p @ p


def no_passes(x):
    p = np.sin(x)
    for _ in range(len(x) - 4):
        p[:] = np.minimum(p, 0.2 * x)
    return p @ p


PROGRAMS = [shortest, bounded, in_a_branch, behind_an_exit, rebound, in_a_callee, no_passes]


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program) -> None:
    expected = numeric_gradient(program, X)
    np.testing.assert_allclose(srcgrad.grad(program)(X), expected, rtol=1e-5, atol=1e-8)
    value, pull = srcgrad.vjp(program, X)
    for _ in range(2):
        np.testing.assert_allclose(pull(1.0)[0], expected, rtol=1e-5, atol=1e-8)
    direction = np.array([0.3, -0.2, 0.5, 0.7])
    near = [srcgrad.grad(program)(X + h * direction) for h in (1e-6, -1e-6)]
    second = (near[0] - near[1]) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(program)(X, direction), second, rtol=1e-4, atol=1e-6)
    slope = srcgrad.grad(lambda x: srcgrad.grad(program)(x) @ direction)
    np.testing.assert_allclose(slope(X), second, rtol=1e-4, atol=1e-6)


def test_nothing_is_restored_for_a_comparison() -> None:
    gradient = srcgrad.grad(shortest)
    gradient(X)
    assert "mask" in gradient.source and "p_0" not in gradient.source


def the_lesser(x, y):
    p = x.copy()
    for _ in range(1):
        p[:] = np.minimum(p, y)
    return np.sum(p)


def test_equal_elements_share_and_nan_reaches_both() -> None:
    x, y = np.array([1.0, 2.0, 3.0, np.nan, 1.0]), np.array([1.0, 1.0, 5.0, 1.0, np.nan])
    for found in (srcgrad.grad(the_lesser, (0, 1))(x, y), srcgrad.vjp(the_lesser, x, y)[1](1.0)):
        np.testing.assert_array_equal(found[0], [0.5, 0.0, 1.0, 1.0, 1.0])
        np.testing.assert_array_equal(found[1], [0.5, 1.0, 0.0, 1.0, 1.0])


def test_what_wins_takes_little_memory() -> None:
    x, y = np.array([1.0, 2.0, np.nan]), np.array([3.0, 1.0, 1.0])
    assert wins(x, y).dtype == bool
    assert wins(np.ones(2, np.float32), 1.0).dtype == np.float32
    np.testing.assert_array_equal(prevails(x, y), [0.0, 1.0, 0.0])
    assert type(prevails(2.0, 1.0)) is np.float64
    np.testing.assert_array_equal(prevails(np.array([np.nan]), np.array([np.nan])), [0.5])
    for dtype in (np.float32, np.complex64):
        g = np.ones(3, dtype)
        assert (g * wins(x.astype(np.float32), y.astype(np.float32))).dtype == dtype


def outer_products(x):
    return np.sum(np.sin(np.multiply.outer(x, x[1:])) + np.subtract.outer(x * x, x[1:]) ** 2)


def test_outer_products_of_vectors_are_summed_over_an_axis() -> None:
    gradient = srcgrad.grad(outer_products)
    np.testing.assert_allclose(gradient(X), numeric_gradient(outer_products, X), rtol=1e-6)
    assert "unlifted" not in gradient.source
    direction = np.array([0.3, -0.2, 0.5, 0.7])
    near = [srcgrad.grad(outer_products)(X + h * direction) for h in (1e-5, -1e-5)]
    np.testing.assert_allclose(
        srcgrad.hvp(outer_products)(X, direction), (near[0] - near[1]) / 2e-5, rtol=1e-5, atol=1e-8
    )
