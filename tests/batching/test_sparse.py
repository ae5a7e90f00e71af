"""``jacobian(f, sparsity=...)``: what the dense Jacobian is, from fewer products, and no entry lost in silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from srcgrad import ArgumentError, SparsityError, jacobian
from srcgrad.api.sparse import coloured


def stencil(u: Any) -> Any:
    return u[1:-1] ** 2 - u[2:] * u[:-2]


def arrow(x: Any) -> Any:
    """Each row has its own column and the first; the first row has all."""
    y = x * x[0]
    y[0] = np.sum(x**2)
    return y


def switched(x: Any) -> Any:
    return x * np.where(x[0] > 0.0, 1.0, x[::-1])


def projected(cameras: Any, points: Any) -> Any:
    """Two numbers for each camera and each point."""
    rows = []
    for camera in cameras.reshape(-1, 4):
        for point in points:
            depth = camera[3] + point[2]
            rows.append((point[:2] + camera[:2]) * camera[2] / depth)
    return np.array(rows)


u = np.random.default_rng(3).random(9) + 0.5


def pattern_of(dense: Any) -> Any:
    return scipy.sparse.csr_array(dense != 0.0)


@pytest.mark.parametrize("function", [stencil, arrow])
def test_what_the_dense_one_is(function: Any) -> None:
    dense = jacobian(function)(u)
    for sparsity in (pattern_of(dense), (dense != 0.0), "auto"):
        f = jacobian(function, sparsity=sparsity)
        for point in (u, u[::-1] * 1.5):
            got = f(point)
            assert isinstance(got, scipy.sparse.sparray)
            np.testing.assert_allclose(got.toarray(), jacobian(function)(point), rtol=1e-12, atol=1e-14)


def test_few_products() -> None:
    f = jacobian(stencil, sparsity=pattern_of(jacobian(stencil)(u)))
    f(u)
    (plan,) = f._plans.values()
    assert plan.count == 3


def test_blocks_of_cameras_and_points() -> None:
    points = np.random.default_rng(4).random((5, 3)) + 1.0
    cameras = np.random.default_rng(5).random(8) + 1.0
    dense = jacobian(projected)(cameras, points).reshape(20, 8)
    f = jacobian(projected, sparsity="auto")
    f(cameras, points)
    np.testing.assert_allclose(f(cameras * 1.1, points).toarray(), jacobian(projected)(cameras * 1.1, points).reshape(
        20, 8), rtol=1e-12)  # fmt: skip
    (plan,) = f._plans.values()
    assert plan.count <= 4
    assert dense.shape == (20, 8)


def test_an_entry_that_the_pattern_lacks() -> None:
    lacking = pattern_of(jacobian(stencil)(u)).toarray()
    lacking[2, 3] = False
    with pytest.raises(SparsityError, match="entries that are not in its sparsity pattern"):
        jacobian(stencil, sparsity=lacking)(u)


def test_a_pattern_that_is_another_elsewhere() -> None:
    f = jacobian(switched, sparsity="auto")
    for point in (u, u * -1.0, u):
        np.testing.assert_allclose(f(point).toarray(), jacobian(switched)(point), rtol=1e-12)


@pytest.mark.parametrize(
    ("argnums", "sparsity", "arguments", "message"),
    [
        (0, np.eye(3), (u,), r"has shape \(7, 9\), its sparsity pattern \(3, 3\)"),
        ((0,), "auto", (u,), "by one argument"),
        (0, "none", (u,), "a pattern or 'auto'"),
        (0, "auto", (u + 1j,), "of an array of real numbers"),
    ],
)
def test_what_it_does_not_take(argnums: Any, sparsity: Any, arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        jacobian(stencil, argnums, sparsity=sparsity)(*arguments)


def test_columns_of_one_colour_share_no_row() -> None:
    pattern = scipy.sparse.random_array((30, 40), density=0.1, rng=np.random.default_rng(6), format="csc")
    colours = coloured(pattern)
    for colour in range(int(colours.max()) + 1):
        assert (pattern[:, colours == colour] != 0).sum(axis=1).max() <= 1
