"""Tiles, repetitions and padding: every mode against NumPy's own matrix, every form of its widths, every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.errors import SrcgradError
from srcgrad.runtime import unpad, unrepeat
from tests.rules.orders import check_orders, to_the_third

rng = np.random.default_rng(53)
x = rng.standard_normal((3, 4))
w = np.arange(1.0, 65.0)


def matrix(function: Callable[[Any], Any], shape: tuple[int, ...]) -> Any:
    """The matrix of a linear function of arrays of this shape, one column per element."""
    return np.stack([np.ravel(function(unit.reshape(shape))) for unit in np.eye(int(np.prod(shape)))], axis=1)


# --- padding that is linear in the array -----------------------------------------------------------------------------
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("constant", {}),
    ("edge", {}),
    ("linear_ramp", {}),
    ("mean", {}),
    ("mean", {"stat_length": 2}),
    ("mean", {"stat_length": ((1, 2), (3, 9))}),
    ("reflect", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}),
    ("wrap", {}),
]


@pytest.mark.parametrize("shape", [(3, 4), (2, 1), (1, 1), (5, 2)])
@pytest.mark.parametrize("widths", [2, (1, 3), ((0, 2), (7, 0)), ((9, 4), (3, 11)), ((0, 0), (1, 0))], ids=str)
@pytest.mark.parametrize(("mode", "options"), OPTIONS, ids=str)
def test_the_transpose_of_padding(mode: Any, options: dict[str, Any], widths: Any, shape: tuple[int, ...]) -> None:
    padded = np.pad(np.zeros(shape), widths, mode, **options)
    g = rng.standard_normal(padded.shape)
    expected = matrix(lambda unit: np.pad(unit, widths, mode, **options), shape).T @ g.ravel()
    arguments = (options.get("stat_length"), options.get("reflect_type", "even"))
    np.testing.assert_allclose(unpad(g, np.zeros(shape), widths, mode, *arguments).ravel(), expected, atol=1e-12)


def padded_with_itself(x):
    ramp = np.pad(x**2, 2, "linear_ramp", end_values=x[0, 0]) ** 3
    framed = np.pad(x, ((1, 0), (0, 2)), constant_values=((x[0, 1], 1.0), (2.0, 0.5))) ** 2
    return np.sum(ramp) + np.sum(framed * w[:24].reshape(4, 6))


def padded_by_reflection(x):
    y = np.pad(x, ((1, 2), (2, 5)), "reflect", reflect_type="odd") ** 3
    return np.sum(y) + np.sum(np.pad(x, {-1: (1, 2)}, mode="wrap") ** 2)


def padded_with_extrema(x):
    y = np.pad(x, ((1, 2), (2, 1)), "maximum", stat_length=2) ** 3 + np.pad(x, ((1, 2), (2, 1)), "minimum") ** 2
    return np.sum(y * w[:42].reshape(6, 7)) + np.sum(np.pad(x, 1, "median", stat_length=((2, 3), (3, 2))) ** 3)


def padded_in_a_mode_known_later(x, mode="edge"):
    return np.sum(np.pad(x, 1, mode) ** 3)


# --- repetition ------------------------------------------------------------------------------------------------------
def repeated(x):
    y = np.repeat(x**2, [1, 0, 2, 3], axis=1) ** 2 * w[:18].reshape(3, 6)
    return np.sum(y) + np.sum(x.repeat(2) ** 3 * w[:24]) + np.sum(np.tile(x, (2, 1, 2)) ** 3)


def windowed(x):
    y = np.lib.stride_tricks.sliding_window_view(x, (2, 3)) ** 2 * w[:24].reshape(2, 2, 2, 3)
    return np.sum(y) + np.sum(np.mean(np.lib.stride_tricks.sliding_window_view(x, 2, axis=1), axis=-1) ** 3)


def resized(x):
    return np.sum(np.resize(x, (4, 5)) ** 3 * w[:20].reshape(4, 5)) + np.sum(np.resize(x, 5) ** 2)


@pytest.mark.parametrize(
    ("f", "order"),
    to_the_third(
        [
            padded_with_itself,
            padded_by_reflection,
            padded_with_extrema,
            padded_in_a_mode_known_later,
            repeated,
            resized,
            windowed,
        ],
        third=[padded_with_itself],
    ),
)
@pytest.mark.costly(2)
def test_derivatives(f: Callable[..., Any], order: int) -> None:
    check_orders(f, x, order)


@pytest.mark.parametrize("repeats", [0, 1, 3, 9, [2, 0, 1], [0, 0, 0], [0, 2, 0], [1, 1, 1], [3]], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_the_transpose_of_repeat(repeats: Any, axis: Any) -> None:
    a = np.zeros((3, 3))
    given = np.resize(repeats, 9) if axis is None and np.size(repeats) > 1 else repeats
    g = rng.standard_normal(np.repeat(a, given, axis).shape)
    expected = matrix(lambda unit: np.repeat(unit, given, axis), (3, 3)).T @ g.ravel()
    np.testing.assert_allclose(unrepeat(g, a, given, axis).ravel(), expected, atol=1e-12)


# --- ties, dtypes, refusals ------------------------------------------------------------------------------------------
def test_ties_of_padding_share_as_those_of_max_do() -> None:
    def f(x):
        return np.sum(np.pad(x, (2, 0), "maximum"))

    at = np.array([1.0, 3.0, 3.0])
    np.testing.assert_array_equal(grad(f)(at), [1.0, 2.0, 2.0])
    assert jvp(f, (at,), (np.array([0.0, 1.0, 0.0]),))[1] == 2.0


def test_every_argument_of_padding_keeps_its_dtype() -> None:
    def f(x, v):
        return np.real(np.sum(np.pad(x, 1, constant_values=v) ** 2 * (1.0 - 1.0j)))

    at, value = np.ones((2, 2), np.complex64), np.array([2.0, 3.0], np.float32)
    by_x, by_value = grad(f, argnums=(0, 1))(at, value)
    assert by_x.dtype == np.complex64 and by_value.dtype == np.float32
    np.testing.assert_allclose(by_x, 2.0 - 2.0j)
    np.testing.assert_allclose(by_value, [2.0 * 2.0 * 6, 2.0 * 3.0 * 6])


def test_padding_by_a_function_of_the_users_is_refused() -> None:
    def f(x):
        return np.sum(np.pad(x, 1, lambda vector, widths, axis, options: None))

    with pytest.raises(SrcgradError, match="np.pad is given a function|pad is given a function"):
        grad(f)(x)
