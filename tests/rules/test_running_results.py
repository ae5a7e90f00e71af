"""Running sums and products, differences, sums over intervals through the compiler; products exact at zeros."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.rules.table import lookup
from srcgrad.runtime import others, recurrence, running_product
from tests.rules.orders import check_orders, twice_at_night
from tests.rules.programs import program
from tests.rules.quotients import check

rng = np.random.default_rng(52)
x = rng.standard_normal((2, 3))
z = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
nan, inf = math.nan, math.inf


# --- forms of call ---------------------------------------------------------------------------------------------------
FORMS = {
    "cumsum cumprod nancumsum nancumprod": ("", "0", "axis=-1", "1, np.float64"),
    "diff": ("", "n=2", "2, 0, x", "axis=0, prepend=x[:1], append=0.5", "n=0", "n=3"),
    "ediff1d": ("", "x", "to_begin=0.3, to_end=x[0]"),
    "trapezoid": ("", "axis=0", "dx=0.3", "x[0]", "x=2 * x, axis=-2"),
    "gradient": ("axis=1", "axis=0, edge_order=1", "0.4, axis=-1, edge_order=2", "np.array([0.0, 1.0, 3.0]), axis=1"),
    "unwrap": ("", "axis=0", "period=0.7"),
}
CASES = [(name, form) for names, forms in FORMS.items() for name in names.split() for form in forms]


@pytest.mark.parametrize(("name", "order"), twice_at_night(sorted({name for name, _ in CASES}), 3))
@pytest.mark.costly(2)
def test_forms(name: str, order: int) -> None:
    """Every form in both directions; a sum of all of them at the second order."""
    calls = [f"np.{name}(x, {form})" for other, form in CASES if other == name]
    check_orders(program(" + ".join(f"np.sum(np.tanh({call}))" for call in calls)), x, order)


@pytest.mark.parametrize("form", ["np.cumulative_sum(x, {})", "np.cumulative_prod(x, {})"])
@pytest.mark.parametrize("options", ["axis=1", "axis=0, include_initial=True", "axis=-1, dtype=np.float64"])
@pytest.mark.costly(2, first=1)
def test_running_results_behind_an_initial_entry(form: str, options: str) -> None:
    check_orders(program(f"np.sum({form.format(options)} ** 2)"), x, 2)


def test_methods() -> None:
    check_orders(program("np.sum(x.cumsum() ** 2) + np.sum(x.cumsum(1, np.float64) * x.cumprod(axis=0))"), x, 2)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("np.diff(x, prepend=t, append=2 * t)", (x, rng.standard_normal((2, 2)))),
        ("np.diff(x, 2, 0, t)", (x, np.array(0.3))),
        ("np.diff(x, 0, -1, t)", (x, np.array(0.3))),
        ("np.ediff1d(x, t, t)", (x, rng.standard_normal((2, 2)))),
        ("np.trapezoid(x, t)", (x, np.array([0.1, 0.5, 2.0]))),
        ("np.trapezoid(x, dx=t)", (x, np.array(0.4))),
        ("np.trapezoid(x, t)", (x[0], rng.standard_normal((2, 3)))),
        ("np.gradient(x, t, axis=1)", (x, np.array([0.1, 0.5, 2.0]))),
        ("np.gradient(x, t, axis=1, edge_order=2)", (x, np.array([0.1, 0.5, 2.0]))),
        ("np.gradient(x, t)[1]", (x, np.array(0.4))),
        ("np.gradient(x, t, edge_order=2, axis=(1,))", (x, np.array(0.4))),
        ("np.unwrap(x, period=t)", (np.array([0.1, 3.0, 6.1, 0.4, 9.3]), np.array(4.1))),
    ],
)
@pytest.mark.costly(2, first=1)
def test_the_other_arguments_vary_too(call: str, arguments: tuple[Any, ...]) -> None:
    check(program(f"np.sum({call} ** 2)", "x", "t"), *arguments)


def test_complex_numbers() -> None:
    calls = ["np.cumsum(z, 0)", "np.cumprod(z)", "np.diff(z, prepend=z)", "np.trapezoid(z, np.abs(z))"]
    calls.append("np.gradient(z, axis=1)")
    check(program(" + ".join(f"np.sum(np.abs({call}) ** 2) + np.sum(np.real({call}))" for call in calls), "z"), z)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_complex_numbers_in_a_real_dtype(name: str) -> None:
    check(program(f"np.sum(np.{name}(z, dtype=np.float64) ** 2)", "z"), z, second=False)


def test_sequences_are_taken_apart() -> None:
    def spread(a, b):
        return np.cumprod([a, b])[1] + np.diff([a, b, 3.0], prepend=[b])[1] + np.trapezoid([a, b], [b, 2.0])

    check(spread, np.array(0.3), np.array(0.7), second=False)


def test_one_of_several_spacings_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="one of several spacings"):
        srcgrad.grad(program("np.sum(np.gradient(x, x[0, 0], 1.0)[0])"))(np.ones((3, 3)))


@pytest.mark.parametrize(
    ("call", "at", "expected"),
    [
        ("np.sum(np.nancumprod(x))", [nan, 0, 2, nan, 3], [0, 11, 0, 0, 0]),
        ("np.sum(np.nancumsum(x))", [nan, 0, nan], [0, 2, 0]),
        ("np.sum(np.cumsum(x, dtype=np.int64) * 1.0)", [2.5, 1.2], [0, 0]),
        ("np.sum(np.cumprod(x, dtype=np.int64) * 1.0)", [2.5, 1.2], [0, 0]),
        ("np.sum(np.cumprod(x)) + np.sum(np.diff(x)) + np.sum(np.ediff1d(x))", [], []),
        ("np.sum(np.diff(x)) + np.sum(np.ediff1d(x))", [1.0], [0]),
    ],
)
def test_what_takes_no_part(call: str, at: Any, expected: Any) -> None:
    np.testing.assert_array_equal(srcgrad.grad(program(call))(np.array(at, float)), expected)


@pytest.mark.parametrize("function", [np.cumsum, np.diff, np.trapezoid, np.ediff1d, np.add.accumulate])
def test_linear_functions_record_no_array(function: Any) -> None:
    rule = lookup(function)
    assert rule is not None
    first = rule.parameters[0]
    assert not rule.adjoint_slice({first}, {first}).reads


# --- products --------------------------------------------------------------------------------------------------------
ZEROS = np.array([[2.0, 0, 3], [0, 2, 0], [0, 0, 0], [2, 3, 4]])


@pytest.mark.parametrize("call", ["np.prod(x, axis=1) * x[:, 0]", "np.cumprod(x, axis=1) * x * np.arange(1.0, 4.0)"])
@pytest.mark.costly(1)
def test_products_are_exact_at_zeros_at_every_order(call: str) -> None:
    check_orders(program(f"np.sum({call})"), ZEROS, 3)


def test_a_product_of_many_zeros_along_axes() -> None:
    a = np.array([[0.0, 2, 3], [4, 0, 0], [5, 6, 0]])
    check_orders(program("np.sum(np.prod(x, axis=0) * np.prod(x, axis=1)) + np.prod(x, axis=(0, 1))"), a, 2)


def test_products_beyond_the_range_of_the_dtype() -> None:
    """The product overflows, or is rounded to 0; the products of the others do neither."""
    large = np.array([1e200, 1e200, 1e-250])
    np.testing.assert_allclose(others(large), [1e-50, 1e-50, inf])
    tiny = np.array([1e-200, 1e-200, 1e50])
    np.testing.assert_allclose(others(tiny), [1e-150, 1e-150, 0.0])


@pytest.mark.parametrize("shape", [(5,), (3000,), (70, 3), (3, 70), (100, 100), (0,), (1,), (3, 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrences_in_blocks_and_lines(shape: tuple[int, ...], reverse: bool) -> None:
    steps, factors = rng.standard_normal((2, *shape))
    found = recurrence(steps, factors, 0, reverse)
    expected = np.zeros(shape)
    order = range(shape[0] - 2, -1, -1) if reverse else range(1, shape[0])
    for j in order:
        i = j + 1 if reverse else j - 1
        expected[j] = steps[i] + factors[i] * expected[i]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10 * (1 + np.max(np.abs(expected), initial=0)))


def test_what_overflows_but_meets_nothing_takes_no_part() -> None:
    factors = np.full(5000, 1e10)
    g = np.zeros(5000)
    g[0] = 1.0
    np.testing.assert_array_equal(recurrence(g * factors, factors, 0, True), np.zeros(5000))


def test_running_products_along_several_axes() -> None:
    a = rng.standard_normal((2, 3, 4))
    found = running_product(a, (0, 2))
    np.testing.assert_allclose(found[1, 1, 2], np.prod(a[0, 1]) * np.prod(a[1, 1, :2]))
