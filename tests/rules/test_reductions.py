"""Reductions through the compiler: every form of call, ties, nan, what is left out, dtypes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule
from srcgrad.rules.table import lookup
from srcgrad.runtime.refusals import Refused
from tests.rules.orders import check_orders, twice_at_night
from tests.rules.programs import program
from tests.rules.quotients import check

rng = np.random.default_rng(51)
x = rng.standard_normal((2, 3))
z = rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))
nan, inf = math.nan, math.inf
missing = np.array([[1.3, nan, -0.4], [nan, 2.2, 0.7]])
SOME = "where=np.array([[True, False, True], [False, True, True]])"

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def gradient(expression: str, at: Any) -> Any:
    """The gradient of an expression of x."""
    return srcgrad.grad(program(expression))(at)


# --- forms of call ---------------------------------------------------------------------------------------------------
FORMS = {
    "sum mean prod var std nansum nanmean nanprod nanvar nanstd": (
        "", "axis=0", "axis=-1", "axis=(0, 1), keepdims=True", "axis=()", "1, np.float64", SOME,
        f"axis=1, keepdims=True, dtype='float64', {SOME}",
    ),
    "sum prod nansum nanprod": ("initial=0.7", f"axis=1, initial=0.7, {SOME}"),
    "max min nanmax nanmin": (
        "", "axis=-1", "axis=(0, 1), keepdims=True", "initial=0.1", f"axis=1, initial=-9.0, {SOME}",
    ),
    "var std nanvar nanstd": ("ddof=1", "axis=1, correction=1", "mean=0.3", f"axis=1, mean=np.ones((2, 1)), {SOME}"),
    "ptp": ("", "axis=0", "axis=1, keepdims=True"),
}  # fmt: skip
CASES = [(name, form) for names, forms in FORMS.items() for name in names.split() for form in forms]


@pytest.mark.parametrize(("name", "order"), twice_at_night(sorted({name for name, _ in CASES}), 3))
@pytest.mark.costly(2)
def test_forms(name: str, order: int) -> None:
    """Every form in both directions; a sum of all of them at the second order."""
    calls = [f"np.{name}(x, {form})" for other, form in CASES if other == name]
    check_orders(program(" + ".join(f"np.sum(np.tanh({call}))" for call in calls)), x, order)


@pytest.mark.parametrize(
    "call",
    [
        "x.sum(0)", "x.sum(1, np.float64)", "x.sum(axis=1, keepdims=True, initial=2.0)", "x.mean(axis=(0, 1))",
        "x.mean(0, keepdims=True)", "x.prod(initial=0.5)", "x.prod(initial=None)", "x.max(0, None, True)",
        "x.max(initial=0.1)",
        "x.min(axis=-1)", "x.var(0, None, None, 1)", "x.std(axis=0, ddof=1, keepdims=True)",
        f"x.sum({SOME})", f"x.mean(axis=1, {SOME})",
    ],
)  # fmt: skip
def test_methods(call: str) -> None:
    check_orders(program(f"np.sum(({call}) ** 2)"), x, 2)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("np.sum(x, axis=1, initial=t)", (x, np.array(0.3))),
        ("np.prod(x, axis=1, initial=t)", (x, np.array(0.3))),
        ("np.max(x, axis=0, initial=t)", (x, np.array(0.1))),
        ("np.var(x, axis=1, mean=t)", (x, rng.standard_normal((2, 1)))),
        ("np.std(x, mean=t)", (x, np.array(0.3))),
        ("np.nanvar(x, axis=1, mean=t, ddof=1)", (x, rng.standard_normal((2, 1)))),
    ],
)  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_the_other_arguments_vary_too(call: str, arguments: tuple[Any, ...]) -> None:
    check(program(f"np.sum({call} ** 2)", "x", "t"), *arguments)


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(z, axis=0)", "np.mean(z, 1)", "np.prod(z)", f"np.prod(z, axis=1, {SOME})", "np.var(z, axis=0, ddof=1)",
        f"np.var(z, {SOME})", "np.std(z, axis=1)", "np.var(z, axis=1, mean=z[:, :1])", "np.nanmean(z)",
        "np.nanvar(z, 1)", "np.max(z.real * 1j + 1)",
    ],
)  # fmt: skip
@pytest.mark.costly(2)
def test_complex_numbers(call: str) -> None:
    check(program(f"np.sum(np.abs({call}) ** 2) + np.sum(np.real({call}))", "z"), z)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std"])
def test_complex_numbers_in_a_real_dtype(name: str) -> None:
    """What NumPy discards has no share in the derivative."""
    check(program(f"np.sum(np.{name}(z, dtype=np.float64) ** 2)", "z"), z, second=False)


def test_sequences_are_taken_apart() -> None:
    def spread(a, b):
        return np.sum([a, 2.0 * b]) * np.std([a, b, a * b]) + np.max([a, b])

    check(spread, np.array(0.3), np.array(0.7), second=False)


def test_arguments_after_an_output_are_kept() -> None:
    """Named ``out`` stands before ``ddof``, which was once dropped with it."""

    def stored(x):
        made = np.empty(3)
        x.var(0, None, made, 1)
        return np.sum(made)

    x = np.array([[0.3, 1.0, -0.2], [0.5, -1.0, 0.7]])
    np.testing.assert_allclose(srcgrad.grad(stored)(x), [[-0.2, 2.0, -0.9], [0.2, -2.0, 0.9]])


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("np.var(x, ddof=x[0, 0])", MissingRule, "by its argument 'ddof': degrees of freedom are a count"),
    ],
)
def test_refused(call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        srcgrad.grad(program(f"np.sum({call})"))(np.ones((3, 3)))


# --- extrema ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "at", "expected"),
    [
        ("np.max(x)", [1.0, 3, 3], [0, 0.5, 0.5]),
        ("np.max(x, initial=3.0)", [1.0, 3, 3], [0, 1 / 3, 1 / 3]),
        ("np.max(x, initial=4.0)", [1.0, 3, 3], [0, 0, 0]),
        ("np.sum(np.min(x, axis=1))", [[2.0, 1, 1], [1, 1, 1]], [[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]]),
        ("np.ptp(x)", [3.0, 1, 3], [0.5, -1, 0.5]),
        ("np.max(x)", [1.0, nan, 2], [0, 1, 0]),
        ("np.sum(np.max(x, axis=1))", [[1.0, nan, nan], [1, 2, 2]], [[0, 0.5, 0.5], [0, 0.5, 0.5]]),
        ("np.max(x, where=x < 3, initial=0.0)", [1.0, 2, 3], [0, 1, 0]),
        ("np.sum(np.nanmax(x, axis=1))", [[nan, nan], [2.0, 2]], [[0, 0], [0.5, 0.5]]),
        ("np.nanmin(x, initial=1.0)", [nan, 1.0, 2], [0, 0.5, 0]),
    ],
)
def test_ties_share_and_nan_goes_to_nan(call: str, at: Any, expected: Any) -> None:
    np.testing.assert_allclose(gradient(call, np.array(at)), expected)


def test_extrema_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    a = np.array([[1.0, 3, 3], [2, 2, 2]])
    t = torch.tensor(a, requires_grad=True)
    (t.amax(1).sum() + t.amin(0).sum() + t.max()).backward()
    np.testing.assert_allclose(gradient("np.sum(np.max(x, 1)) + np.sum(np.min(x, 0)) + x.max()", a), t.grad.numpy())


# --- means and spreads -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "at", "expected"),
    [
        ("np.std(x)", [2.0, 2], [0, 0]),
        ("np.sum(np.std(x, axis=1))", [[2.0, 2], [1, 3]], [[0, 0], [-0.5, 0.5]]),
        ("np.var(x, ddof=1)", [2.0], [nan]),
        ("np.nansum(np.nanvar(x, axis=1, ddof=1))", [[nan, 1.0], [2, 3]], [[0, 0], [-1, 1]]),
        ("np.nansum(np.nanstd(x, axis=1))", [[nan, 1.0], [nan, nan]], [[0, 0], [0, 0]]),
        ("np.nansum(np.nanmean(x, axis=1))", [[nan, 1.0], [nan, nan]], [[0, 1], [0, 0]]),
        ("np.nanprod(x)", [nan, inf, 2], [0, 2, inf]),
        ("np.mean(x, where=x < 3)", [1.0, inf, 2], [0.5, 0, 0.5]),
        ("np.var(x, where=x < 3)", [1.0, inf, 2], [-0.5, 0, 0.5]),
        ("np.prod(x, where=x < 3)", [1.0, nan, 2], [2, 0, 1]),
    ],
)
def test_degenerate_spreads_and_what_is_left_out(call: str, at: Any, expected: Any) -> None:
    np.testing.assert_allclose(gradient(call, np.array(at)), expected)


@pytest.mark.parametrize("call", [f"np.sum(np.{name}(x) ** 3)" for name in ("nansum", "nanprod", "nanvar", "nanmax")])
@pytest.mark.costly(2)
def test_nan_is_absent_at_the_second_order_too(call: str) -> None:
    f = program(call)
    present = np.array([1.3, nan, 0.7, nan, -0.2])
    full = present[~np.isnan(present)]
    found = srcgrad.hessian(f)(present)
    np.testing.assert_allclose(found[np.ix_([0, 2, 4], [0, 2, 4])], srcgrad.hessian(f)(full))
    found[np.ix_([0, 2, 4], [0, 2, 4])] = 0
    np.testing.assert_array_equal(found, np.zeros((5, 5)))


@pytest.mark.parametrize(
    "call",
    [
        "np.sum(x)", "np.mean(x)", "np.prod(x)", "np.var(x)", "np.nansum(x)", "np.max(x, initial=1.0)",
    ],
)  # fmt: skip
def test_empty_arrays_have_empty_gradients(call: str) -> None:
    assert gradient(call, np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("call", ["np.sum(np.mean(x, axis=0))", "np.sum(np.std(x, 1))", "np.sum(np.max(x, axis=1))"])
def test_empty_axes(call: str) -> None:
    assert gradient(call, np.zeros((0, 3))).shape == (0, 3)


# --- dtypes ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "nansum", "nanprod"])
def test_nothing_passes_through_integers(name: str) -> None:
    f = program(f"np.{name}(x, dtype=np.int64) * 1.0")
    at = np.array([2.5, 1.2])
    np.testing.assert_array_equal(srcgrad.grad(f)(at), [0, 0])
    assert srcgrad.jvp(f, (at,), (np.ones(2),))[1] == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "var", "std", "nanmean"])
def test_cotangents_keep_the_dtype(name: str, dtype: Any) -> None:
    at = np.array([1.0, 2.0, 4.0], dtype)
    f = program(f"np.sum(np.{name}(x)) + np.sum(np.{name}(x, dtype=np.float64))")
    assert srcgrad.grad(f)(at).dtype == dtype
    y, y_dot = srcgrad.jvp(f, (at,), (at,))
    assert np.asarray(y_dot).dtype == np.asarray(y).dtype == np.float64


def test_a_mean_of_more_than_float16_can_count() -> None:
    assert np.all(gradient("np.mean(x)", np.ones(70_000, np.float16)) > 0)


def test_numbers_and_arrays_without_axes() -> None:
    for value in (0.7, np.float32(0.7), np.array(0.7)):
        for name in ("sum", "mean", "prod", "max", "nansum"):
            assert srcgrad.grad(program(f"np.{name}(x) * 1.0"))(value) == 1.0


# --- what is recorded ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("function", [np.sum, np.mean, np.add.reduce])
def test_linear_functions_record_no_array(function: Any) -> None:
    rule = lookup(function)
    assert rule is not None
    first = rule.parameters[0]
    piece = rule.adjoint_slice({first}, {first})
    assert not piece.reads


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ({0: 1e200, 1: 1e100, -2: 1e-160, -1: 1.2345e-160}, {0: 1.2345e-220, 5: 1.2345e-20, -2: 1.2345e140}),
        ({10: 1e200, 11: 1e100, 3072: 2e-162, 3073: 2e-162}, {10: 4e-224, 20: 4e-24, 3072: 2e138}),
        ({0: 1e200, 1: 1e-200, 1024: 1e200, 1025: 1e-200}, {0: 1e-200, 1: 1e200, 7: 1.0}),
    ],
)
def test_products_of_many_elements_lose_nothing_in_another_order(
    at: dict[int, float], expected: dict[int, float]
) -> None:
    x = np.ones(4099)
    for place, value in at.items():
        x[place] = value
    f = program("np.prod(x)", "x")
    with np.errstate(all="raise", under="ignore"):
        gradient = srcgrad.grad(f)(x)
    np.testing.assert_allclose([gradient[place] for place in expected], list(expected.values()), rtol=1e-14)


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_an_initial_value_is_compared_in_the_dtype_of_the_result(name: str) -> None:
    """An initial value of 0.7 stands in the result as a float32, which it does not equal: its gradient was zero."""
    single, start = np.array([[0.4, 0.5], [0.9, 0.8]], np.float32), np.float64(0.7)
    f = program(f"np.sum(np.{name}(x, axis=1, initial=s))", "x", "s")
    by_x, by_start = srcgrad.grad(f, (0, 1))(single, start)
    assert by_start == 1.0 and np.count_nonzero(by_x) == 1
    assert srcgrad.jvp(f, (single, start), (np.zeros_like(single), np.float64(2.0)))[1] == 2.0


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("call", [
    *(f"np.{name}(k, {axis}initial=s)" for axis in ("", "axis=0, keepdims=True, ")
      for name in ("sum", "prod", "nansum", "nanprod", "max", "min", "nanmax", "nanmin")),
    *(f"np.{name}.reduce(k, 0, initial=s)" for name in ("add", "multiply", "maximum", "minimum", "fmax", "fmin")),
    "k.sum(initial=s)", "np.sum(k > 1, initial=s)", "np.max(k > 1, initial=s)", "np.sum(k * 1.0, initial=s, dtype=int)",
])  # fmt: skip
def test_an_initial_value_among_integers_is_cut_off(call: str, specialise: bool) -> None:
    """NumPy starts from it in the dtype of the result, which moves by jumps: it had the slope of one among floats."""
    f = program(f"np.sum({call}) * s", "s", "k")
    at, k = 2.6, np.array([[1, 2], [3, 4]])
    expected = f(at, k) / at
    with srcgrad.options(specialise=specialise):
        np.testing.assert_allclose(srcgrad.grad(f)(at, k), expected, rtol=1e-12)
        np.testing.assert_allclose(srcgrad.jvp(f, (at, k), (1.0, None))[1], expected, rtol=1e-12)
        np.testing.assert_allclose(srcgrad.hvp(f)(at, k, 1.0), 0.0, atol=1e-12)


@pytest.mark.parametrize("call", [
    "np.sum(k, 0, None, y, initial=s)", "np.add.reduce(k, initial=s, out=y)", "np.max(k, axis=0, out=y, initial=s)",
])  # fmt: skip
def test_an_initial_value_is_not_cut_off_where_the_output_is_of_floats(call: str) -> None:
    """NumPy computes in the dtype of the output: the value was that of integers."""
    f = program(f"np.sum(({call}, y)[1]) * s", "s", "k", "y")
    with pytest.raises(Refused, match="in the dtype of an output"):
        srcgrad.grad(f)(2.6, np.array([[1, 2], [3, 4]]), np.zeros(2))
    floats = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = (f(2.6 + 1e-6, floats, np.zeros(2)) - f(2.6 - 1e-6, floats, np.zeros(2))) / 2e-6
    np.testing.assert_allclose(srcgrad.grad(f)(2.6, floats, np.zeros(2)), expected, rtol=1e-6)
