"""Elements picked by index, position, condition, choice and order: every form, ties, places that are met twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime import add_at, arranging, sorting, untake_axis
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(47)
x = rng.standard_normal((3, 4))
w = np.arange(1.0, 37.0)
rows, columns = np.array([0, 2, 0]), np.array([3, 1, 3])
mask = np.array([[True, False, True, False], [False, True, True, True], [True, True, False, False]])


# --- indices ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "index",
    [
        1,
        -1,
        (1, -2),
        Ellipsis,
        (Ellipsis, 1),
        (None, 1),
        (slice(None), None, 2),
        (slice(None, None, -1), slice(3, 0, -2)),
        rows,
        [0, 0, 1],
        (rows, columns),
        (rows, 1),
        (slice(None), columns),
        (rows[:, None], columns),
        (None, rows, slice(1, 3)),
        (rows, None, columns),
        mask,
        mask[:, 0],
        (slice(None), mask[0]),
        (mask[:, 0], 2),
        (mask[:, 0], columns[:2]),
        True,
        False,
        np.True_,
        (True, 1),
        np.array(True),
        np.array(2),
        np.int8(1),
        np.array([], int),
        (),
        slice(2, 1),
    ],
    ids=str,
)
def test_every_index(index: Any) -> None:
    def f(x):
        return np.sum(x[index] ** 3)

    expected = np.zeros_like(x)
    np.add.at(expected, index, 3.0 * x[index] ** 2)
    np.testing.assert_allclose(grad(f)(x), expected)


@pytest.mark.parametrize("index", [(), Ellipsis, None, np.array(False)], ids=str)
def test_every_index_of_an_array_of_no_dimensions(index: Any) -> None:
    def f(x):
        return np.sum(x[index] ** 2)

    for at in (np.array(1.5), np.float64(1.5)):
        gradient = grad(f)(at)
        assert np.shape(gradient) == () and gradient == 3.0 * np.size(at[index])


def test_numbers_that_are_indexed_at_order_three() -> None:
    def f(x):
        s = np.sum(x)
        return np.sum(s[()] * s[None] * s[...])

    check_orders(f, x[0])
    assert grad(grad(grad(lambda x: x[()] ** 3)))(np.array(2.0)) == 6.0


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((2000,), np.arange(4000) % 1999),
        ((2000, 3), -1 - np.arange(2500) % 1999),
        ((3, 2000), (slice(None), np.arange(2500) % 1999)),
        ((50, 60), (np.arange(4000) % 49, np.arange(4000) % 59)),
        ((50, 60), np.arange(3000).reshape(50, 60) % 3 > 0),
        ((50, 60), np.arange(50) % 3 > 0),
        ((50, 60, 2), (np.arange(3000).reshape(50, 60) % 3 > 0, 1)),
    ],
)
def test_many_places_add_as_few_do(shape: tuple[int, ...], index: Any) -> None:
    g = rng.standard_normal(np.empty(shape)[index].shape)
    expected = rng.standard_normal(shape)
    result = expected.copy()
    np.add.at(expected, index, g)
    add_at(result, index, g)
    np.testing.assert_allclose(result, expected)
    turned = np.asfortranarray(np.zeros(shape))
    add_at(turned, index, g)
    plain = np.zeros(shape)
    np.add.at(plain, index, g)
    np.testing.assert_allclose(turned, plain)


# --- positions -------------------------------------------------------------------------------------------------------
def taken(x):
    y = np.take(x, np.array([[0, 2], [-1, 3]]), axis=1) ** 2 * w[:12].reshape(3, 2, 2)
    return np.sum(y) + np.sum(np.take(x, [5, 5, -1]) ** 3) + np.take(x, 3) ** 2 + np.sum(x.take(1, 0) ** 2)


def taken_beyond_the_ends(x):
    places = np.array([-7, 5, 2, 13])
    wrapped = np.take(x, places, 1, mode="wrap") ** 2 * w[:12].reshape(3, 4)
    return np.sum(wrapped) + np.sum(np.take(x, places, mode="clip") ** 3)


def taken_along(x):
    order = np.argsort(x, axis=1)
    once = np.take_along_axis(x, order, 1) ** 2 * w[:12].reshape(3, 4)
    return (
        np.sum(once)
        + np.sum(np.take_along_axis(x, np.array([[0, 1]]), 1) ** 3)
        + np.sum(np.take_along_axis(x, np.array([2, 2]), axis=None) ** 2)
    )


# --- conditions and choices ------------------------------------------------------------------------------------------
def where_a_condition_holds(x):
    places = np.where(x[0] > 0)
    return (
        np.sum(x[1][places] ** 3) + np.sum(np.extract(x > 0, x) ** 2) + np.sum(np.compress([1, 0, 1], x, axis=0) ** 2)
    )


def selected(x):
    y = np.select([x > 0.3, x > -0.5], [x**2, x[0] ** 3], x[:, :1] ** 4)
    return np.sum(y) + np.sum(np.select([x > 0.0], [x]) ** 2)


def chosen(x):
    numbers = np.array([[0, 1, 2, 1], [1, 1, 0, 5]])
    return np.sum(np.choose(numbers[0], [x[0], x[1], 2.0]) ** 3) + np.sum(
        np.choose(numbers, x[:, None], mode="wrap") ** 2
    )


def without_zeros(x):
    padded = np.concatenate([np.zeros(2), x[0], [0.0]])
    layers = np.pad(x, 1)
    return np.sum(np.trim_zeros(padded) ** 2 * w[:4]) + np.sum(np.trim_zeros(layers, "b", axis=1)[1] ** 3)


# --- orders ----------------------------------------------------------------------------------------------------------
def sorted_along_axes(x):
    y = np.sort(x, axis=0) ** 2 * w[:12].reshape(3, 4) + np.sort(x, kind="heapsort") ** 3
    return np.sum(y) + np.sum(np.sort(x, None)[:5] ** 2)


def partitioned(x):
    y = np.partition(x, (1, 2), axis=-1) ** 2 * w[:12].reshape(3, 4)
    return np.sum(y) + np.sum(np.partition(x, 3, axis=None)[:4] ** 3)


def sorted_as_complex_numbers(x):
    return np.sum(np.real(np.sort_complex(x[0]) ** 2 * w[:4])) + np.sum(np.abs(np.sort(x[0] + 1j * x[1])) ** 4 * w[:4])


# --- triangles -------------------------------------------------------------------------------------------------------
def triangles_and_diagonals(x):
    y = np.triu(x[0]) ** 2 * w[:16].reshape(4, 4) + np.diag(x[1]) + np.tril(x[2], -1) ** 3
    return np.sum(y) + np.sum(np.diagflat(x, 1) ** 2) + np.sum(np.diag(x, 1) ** 3)


@pytest.mark.parametrize(
    ("f", "order"),
    to_the_third(
        [
            taken,
            taken_beyond_the_ends,
            taken_along,
            where_a_condition_holds,
            selected,
            chosen,
            without_zeros,
            sorted_along_axes,
            partitioned,
            sorted_as_complex_numbers,
            triangles_and_diagonals,
        ],
        third=[taken_along, selected],
    ),
)
@pytest.mark.costly(2, first=1)
def test_derivatives(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


def test_a_place_met_twice_along_an_axis_of_length_one_broadcasts() -> None:
    """The indices had one row, the array three: everything was added to the first row."""

    def f(x):
        return np.sum(np.take_along_axis(x, np.array([[0, 0]]), 1))

    np.testing.assert_array_equal(grad(f)(x), [[2.0, 0, 0, 0]] * 3)


# --- ties ------------------------------------------------------------------------------------------------------------
def ranked(x):
    return np.sum(np.sort(x) * np.arange(1.0, 1.0 + x.shape[0]))


@pytest.mark.parametrize("size", [6, 5000])
def test_equal_elements_keep_their_order_as_in_pytorch(size: int) -> None:
    torch = pytest.importorskip("torch")
    at = rng.integers(0, max(3, size // 3), size).astype(float)
    leaf = torch.tensor(at, requires_grad=True)
    (torch.sort(leaf, stable=True).values * torch.arange(1.0, 1.0 + size, dtype=torch.float64)).sum().backward()
    np.testing.assert_array_equal(grad(ranked)(at), leaf.grad.numpy())


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("levels", [3, 10**9])
@pytest.mark.parametrize("shape", [(4, 5), (70, 80)])
def test_positions_of_an_order_are_positions(axis: Any, levels: int, shape: tuple[int, int]) -> None:
    a = rng.integers(0, levels, shape) * 0.5
    for y, places in (
        (np.sort(a, axis), sorting(a, np.sort(a, axis), axis)),
        (np.partition(a, 2, axis), arranging(a, np.partition(a, 2, axis), axis)),
    ):
        np.testing.assert_array_equal(np.take_along_axis(a, places, axis), y)


def test_the_transpose_of_take_adds_in_the_dtype_of_the_array() -> None:
    for dtype in (np.float16, np.float32, np.complex64):
        made = untake_axis(np.ones(3, np.complex128), np.zeros(2, dtype), [0, 1, 0])
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, [2.0, 1.0])


def taken_into(x):
    made = np.empty(2)
    return np.sum(np.take(x, [0, -1], out=made) * made)


def test_what_is_taken_is_stored() -> None:
    expected = np.zeros_like(x)
    expected.flat[[0, -1]] = 2.0 * x.flat[[0, -1]]
    np.testing.assert_allclose(grad(taken_into)(x), expected)


# --- refusals --------------------------------------------------------------------------------------------------------
def sorted_by_fields(x):
    return np.sum(np.sort(x, order="a"))


def test_an_order_of_fields_is_refused() -> None:
    with pytest.raises(UnsupportedSyntax, match="'order'"):
        grad(sorted_by_fields)(x)
