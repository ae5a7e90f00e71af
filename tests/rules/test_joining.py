"""Arrays joined, changed and taken apart through the compiler: dtypes of partners, positions, call forms, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jacobian, jvp, options
from tests.rules.orders import check_orders, to_the_third

x = np.random.default_rng(43).standard_normal((3, 4))
w = np.arange(1.0, 21.0)
whole = np.array([1, 2, 3, 4])


# --- joining ---------------------------------------------------------------------------------------------------------
def with_integers(x):
    return np.sum(np.concatenate([x, whole[None], [x[0]]]) ** 2) + np.sum(np.array([x[0], whole, [1, 2, 3, 4]]) ** 3)


def with_numbers(x):
    y = np.array([x[0, 0], 1, 2.5, x[0, 1]])
    return np.sum(y**2 * w[:4]) + np.sum(np.hstack([x[0, 0], x[1], 3]) ** 2) + np.sum(np.append(x[0], 2.0) ** 2)


def side_by_side(x):
    columns = np.column_stack([x[0], x.T]) ** 2
    return (
        np.sum(columns * w.reshape(5, 4).T[:, :4])
        + np.sum(np.dstack([x, x**2]) ** 2)
        + np.sum(np.vstack((x, x[1])) ** 3)
    )


def stacked(x):
    y = np.stack([x[0], x[1] * 2, np.ones(4)], axis=-1)
    return np.sum(y**2 * w[:12].reshape(4, 3)) + np.sum(np.stack(x, 1)[0] ** 3) + np.sum(np.concatenate(x, axis=0) ** 2)


def by_index(x):
    y = np.r_[x[0], x[1, 0], 2.0, 0:2, x[2, 0] : x[2, 1] : 3j, [x[0, 1], 1.0]]
    return np.sum(y**2 * w[: y.size]) + np.sum(np.r_[x] ** 3) + np.sum(np.r_[x, x[:1]] ** 2 * w[:16].reshape(4, 4))


def by_index_as_columns(x):
    columns = np.c_[x[0], x.T, x[1] * x[2]] ** 2
    return np.sum(columns * w.reshape(5, 4).T) + np.sum(np.c_[x[0, 0], 1.0, x[:1]] ** 3) + np.sum(np.c_[x[2], 0:4] ** 2)


def by_index_and_indexed_at_once(x):
    y = np.c_[x[0], x[1]][:, 0] * np.r_[x[2], 1.0].T[:4]
    y[:2] += np.r_[x[1], x[0]][2:4] ** 2
    return np.sum(y**2) + np.c_[x, x].real[1, 5] ** 3


def in_blocks(x):
    whole = np.block([[x, x[:, :1]], [np.ones((1, 4)), 2.0]])
    return np.sum(whole**3) + np.sum(np.block([x[0], 3.0, x[1, :2]]) ** 2 * w[:7])


def in_another_dtype(x):
    y = np.concatenate([x[0], x[1]], dtype=np.complex128) * (1.0 + 2.0j)
    return np.sum(np.real(y * y)) + np.sum(np.stack([x[0], x[1]], dtype=np.float64) ** 2)


# --- parts put in and taken out --------------------------------------------------------------------------------------
def put_in(x):
    y = np.insert(x, [3, 1], x[:, :2] ** 2, axis=1)
    z = np.insert(np.insert(x, 2, x[0, 0], axis=0), 1, x[:, 1].sum(), axis=1)
    return np.sum(y**3 * w[:6]) + np.sum(z**2) + np.sum(np.insert(x, slice(0, 4, 2), x[1, :2]) ** 3)


def put_at_the_end(x):
    return np.sum(np.append(x**2, x[0] * x[1]) ** 2 * w[:16]) + np.sum(np.append(x, [x[0] ** 2], axis=0) ** 3)


def taken_out(x):
    return np.sum(np.delete(x**2, [0, -1], axis=1) ** 2) + np.sum(np.delete(x, slice(None, None, 3)) ** 3)


# --- taken apart -----------------------------------------------------------------------------------------------------
def parts_that_overlap(x):
    parts = np.array_split(x**2, [3, 1], axis=1)
    return np.sum(parts[0] ** 2) * np.sum(parts[2]) + np.sum(np.split(x[0], [1, -1])[1] ** 3)


def halves_and_rows(x):
    a, b = np.hsplit(x, 2)
    c, d, e = np.vsplit(x, 3)
    (f, _) = np.dsplit(x[None], [1])
    return np.sum(a * b) + np.sum(c * d * e) + np.sum(f**3)


PROGRAMS = [
    with_integers,
    with_numbers,
    side_by_side,
    stacked,
    by_index,
    by_index_as_columns,
    by_index_and_indexed_at_once,
    in_blocks,
    in_another_dtype,
    put_in,
    put_at_the_end,
    taken_out,
    parts_that_overlap,
    halves_and_rows,
]
if hasattr(np, "unstack"):

    def unstacked(x):
        p, q, *_ = np.unstack(x, axis=1)
        return np.sum(p * q * q)

    PROGRAMS.append(unstacked)


@pytest.mark.parametrize(("f", "order"), to_the_third(PROGRAMS, third=[in_blocks, parts_that_overlap]))
@pytest.mark.costly(2)
def test_derivatives(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


# --- dtypes ----------------------------------------------------------------------------------------------------------
def joined(a, b, c, d):
    row = np.concatenate([a, np.append(b, c), np.stack([d[0], d[1]])])
    return np.real(np.sum(row * row * (1.0 - 2.0j)))


def test_every_partner_keeps_its_own_dtype() -> None:
    rng = np.random.default_rng(5)
    arguments = (
        rng.standard_normal(3).astype(np.float32),
        rng.standard_normal(2),
        (rng.standard_normal(2) + 1j * rng.standard_normal(2)).astype(np.complex64),
        rng.standard_normal(2).astype(np.float16),
    )
    gradient = grad(joined, argnums=(0, 1, 2, 3))(*arguments)
    for part, argument in zip(gradient, arguments, strict=True):
        assert part.dtype == argument.dtype
        expected = 2.0 * argument * (1.0 - 2.0j)
        np.testing.assert_allclose(part, expected if np.iscomplexobj(argument) else expected.real, rtol=2e-3)


def test_values_put_into_integers_are_cut() -> None:
    def f(v):
        return np.sum(np.insert(np.array([1, 2, 3]), 1, v) * 2.0)

    assert grad(f)(2.7) == 0.0
    assert jvp(f, (2.7,), (1.0,))[1] == 0.0


@pytest.mark.parametrize("whole", [np.arange(4), np.array([True, False, True, False])], ids=["int", "bool"])
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_second_derivatives_of_values_put_into_integers_are_zero(whole: Any, specialise: bool) -> None:
    def inserted(x, base):
        return np.sum(np.insert(base, [1, 2], x[:2] ** 2)[:4] * x)

    def padded(x, base):
        return np.sum(np.pad(base[:2], 1, constant_values=x[0] ** 2) * x)

    at = np.array([1.2, 2.3, 3.4, 4.1])
    with options(specialise=specialise):
        for f in (inserted, padded):
            assert not np.any(jacobian(grad(f))(at, whole))
            assert not np.any(jvp(grad(f), (at, whole), (np.ones(4), None))[1])


def into_another(x):
    made = np.empty((6, 4))
    return np.sum(np.concatenate([x, x], out=made) * made)


def test_what_is_joined_is_stored() -> None:
    np.testing.assert_allclose(grad(into_another)(x), 4.0 * x)


# --- refusals --------------------------------------------------------------------------------------------------------
def of_an_unknown_number(x, more=(1, 2)):
    return np.sum(np.broadcast_arrays(x, *more)[0])


def test_an_unknown_number_of_arrays() -> None:
    np.testing.assert_allclose(grad(of_an_unknown_number)(x), np.ones_like(x))
