"""Order statistics, weighted means, covariances and counts through the compiler: forms, ties, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule, UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime import from_bins, into_bins, unweighed, weighed
from tests.parameters import at_night
from tests.rules.orders import check_orders
from tests.rules.programs import program
from tests.rules.quotients import check
from tests.rules.samples.statistics import SMOOTH, STEPS

rng = np.random.default_rng(53)
x = rng.standard_normal((3, 4))
z = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
w = rng.uniform(0.2, 0.9, 4)
nan = math.nan
missing = np.where(x > 0.9, nan, x)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


# --- order statistics ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", [*SMOOTH, *STEPS])
@pytest.mark.costly(2)
def test_every_method_by_elements_and_by_q(method: str) -> None:
    """Against differences, so that the element is NumPy's; a method that jumps has slope 0 in q."""
    calls = [f"np.quantile(x, q, axis=1, method={method!r})", f"np.percentile(x, 100 * q, 0, method={method!r})"]
    calls += [f"np.nanquantile(x, q[0], method={method!r})"]
    check(program(" + ".join(f"np.sum({c} ** 2)" for c in calls), "x", "q"), x, np.array([0.2371, 0.6133]))


@pytest.mark.parametrize("order", [2, at_night(3)])
def test_forms_of_median(order: int) -> None:
    calls = ["np.median(x)", "np.median(x, 0)", "np.median(x, axis=(0, 1), keepdims=True)", "np.nanmedian(x, axis=-1)"]
    calls += ["np.percentile(x, [20, 70], axis=1)", "np.quantile(x[0], (0.2, 0.7))"]
    calls += ["np.nanpercentile(x, [20.0, 70.0])"]
    calls += ["np.median(x, 1, None, False, True)", "np.quantile(x, 0.3, (1, 0), None, False, 'hazen', True)"]
    check_orders(program(" + ".join(f"np.sum({call} ** 3)" for call in calls)), x, order)


@pytest.mark.parametrize("call", ["np.nanmedian(x)", "np.nanmedian(x, axis=1)", "np.nanpercentile(x, 37.0, axis=0)"])
def test_nan_is_absent(call: str) -> None:
    found = srcgrad.grad(program(f"np.nansum({call} ** 2)"))(missing)
    assert np.all(np.isfinite(found)) and np.all(found[np.isnan(missing)] == 0) and np.any(found != 0)


@pytest.mark.parametrize(
    ("call", "at", "expected"),
    [
        ("np.median(x)", [3.0, 1, 2], [0, 0, 1]),
        ("np.median(x)", [4.0, 1, 2, 3], [0, 0, 0.5, 0.5]),
        ("np.median(x)", [2.0, 1, 2, 2, 3], [0, 0, 1, 0, 0]),
        ("np.quantile(x, 0.5)", [1.0, 2, 2, 3], [0, 0.5, 0.5, 0]),
        ("np.quantile(x, 0)", [2.0, 1, 1], [0, 1, 0]),
        ("np.quantile(x, 1)", [2.0, 1, 2], [0, 0, 1]),
        ("np.nansum(np.nanmedian(x, axis=1))", [[nan, nan], [2.0, 4]], [[0, 0], [0.5, 0.5]]),
        ("np.median(x)", [], []),
    ],
)
def test_ties_go_to_the_one_in_the_stable_order(call: str, at: Any, expected: Any) -> None:
    np.testing.assert_allclose(srcgrad.grad(program(call))(np.array(at, float)), expected)


def test_quantiles_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    a = np.array([[2.0, 1, 2, 2, 3], [5, 4, 3, 2, 1]])
    for q in (0.0, 0.3, 0.5, 0.75, 1.0):
        t = torch.tensor(a, requires_grad=True)
        torch.quantile(t, q, dim=1).sum().backward()
        np.testing.assert_allclose(srcgrad.grad(program("np.sum(np.quantile(x, q, axis=1))", "x", "q"))(a, q), t.grad)


def test_a_partition_finds_what_sorting_finds() -> None:
    """One long slice is partitioned, several are sorted."""
    a = rng.integers(0, 60, 2000).astype(float)
    twice = np.stack([a, a])
    for q in (0.0, 0.25, 0.301, 0.5, 1.0):
        both = unweighed(np.array([1.0, 0.0]), twice, q, 1)
        np.testing.assert_array_equal(unweighed(1.0, a, q), both[0])
        np.testing.assert_allclose(weighed(a, a, q), np.quantile(a, q))
    assert unweighed(1.0, np.append(a, nan), 1.0)[-1] == 1.0


def test_the_slope_by_q_at_the_ends() -> None:
    f = program("np.quantile(x, q)", "x", "q")
    slope = srcgrad.grad(f, 1)
    a = np.array([4.0, 1.0, 3.0])
    assert (slope(a, 0.0), slope(a, 0.5), slope(a, 1.0)) == (4.0, 2.0, 2.0)


# --- weighted means --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "weights"),
    [
        ("np.average(x, axis=1, weights=w)", w),
        ("np.average(x, 0, w[:3], keepdims=True)", w),
        ("np.average(x, weights=w * np.ones((3, 1)))", w),
        ("np.average(x, axis=(1, 0), weights=w[:, None] * w[:3])", w),
        ("np.average(x, axis=1, weights=w, returned=True)[0]", w),
        ("np.average(x, axis=1, weights=w, returned=True)[1]", w),
        ("np.average(x * w, axis=0, returned=True)[0]", w),
        ("np.average(x * 1j + w, axis=1, weights=w * (1 + 2j)).imag", w),
    ],
)
@pytest.mark.costly(2, first=1)
def test_averages(call: str, weights: Any) -> None:
    check(program(f"np.sum({call} ** 2)", "x", "w"), x, weights)


# --- covariances -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        "np.cov(x)", "np.cov(x, rowvar=False)", "np.cov(x, x[0] ** 2)", "np.cov(x, None, True, True)", "np.cov(x[0])",
        "np.cov(x, ddof=0)", "np.cov(x, x[:2] ** 2, fweights=np.array([1, 2, 1, 3]))", "np.cov(x, dtype=np.float64)",
        "np.corrcoef(x)", "np.corrcoef(x, x[0] ** 2)", "np.corrcoef(x, rowvar=False)", "np.corrcoef(x[0], x[1])",
    ],
)  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_covariances(call: str) -> None:
    check_orders(program(f"np.sum({call} ** 3)"), x, 2)


@pytest.mark.parametrize("options", ["", ", ddof=0", ", ddof=2, fweights=np.array([1, 2, 1, 3])", ", bias=True"])
@pytest.mark.costly(2)
def test_covariances_by_their_weights(options: str) -> None:
    check(program(f"np.sum(np.cov(x, x[0] ** 2, aweights=w{options}) ** 2)", "x", "w"), x, w)


@pytest.mark.parametrize("call", ["np.cov(z)", "np.cov(z, z[0] ** 2, aweights=np.arange(1.0, 5.0))", "np.corrcoef(z)"])
@pytest.mark.costly(1, first=2)
def test_complex_covariances(call: str) -> None:
    check(program(f"np.sum(np.abs({call}) ** 4) + np.sum(np.real({call}))", "z"), z)


def test_arrays_in_a_list() -> None:
    check(program("np.cov([x[0], x[1]])[0, 1] + np.corrcoef([x[0], x[1], x[0] * x[2]])[1, 2]"), x, second=False)


# --- counts ----------------------------------------------------------------------------------------------------------
def test_counts_are_linear_in_weights() -> None:
    check_orders(program("np.sum(np.bincount(np.array([0, 2, 1, 2]), x, minlength=5) ** 3)"), x[0], 3)
    single = srcgrad.grad(program("np.sum(np.bincount([0, 2, 2], weights=x))"))(np.ones(3, np.float32))
    assert single.dtype == np.float32


@pytest.mark.parametrize("order", [2, at_night(3)])
def test_histograms_are_linear_in_weights(order: int) -> None:
    data, edges = np.array([0.1, 0.7, 2.0, 0.5]), np.array([0.0, 0.5, 1.5, 2.0])
    for form in ("np.array([0.0, 0.5, 1.5, 2.0]), weights=x", "3, (0.05, 1.9), weights=x", "4, None, None, x"):
        check_orders(program(f"np.sum(np.histogram({data.tolist()}, {form})[0] ** 3)"), x[0], order)
    both = program(f"np.histogram({data.tolist()}, {edges.tolist()}, weights=x)[0] @ np.diff(np.histogram(x, 3)[1])")
    with pytest.raises(MissingRule, match="by its argument 'a': numbers move from bin to bin by jumps"):
        srcgrad.grad(both)(x[0])
    single = srcgrad.grad(program("np.histogram([0.2, 0.6], 3, weights=x)[0][0]"))(np.ones(2, np.float32))
    assert single.dtype == np.float32


def test_bins_are_those_of_numpy() -> None:
    """Edges, ties, empty bins, and numbers outside, of every kind."""
    for a in ([0.0, 0.5, 1.0, 1.0, 2.0, 2.5, -0.1, nan], [0, 1, 2, 3, 1], np.float32([0.1, 0.7, 0.3])):
        for bins in ([0.0, 0.0, 0.5, 1.0, 2.0, 2.0], [0.1, 0.7], [1.0], [0, 1, 2, 2], np.float32([0.1, 0.3, 0.7])):
            weights = np.arange(1.0, 1.0 + len(a))
            expected, edges = np.histogram(a, bins, weights=weights)
            np.testing.assert_allclose(into_bins(weights, a, edges), expected)
            assert np.vdot(from_bins(expected, a, edges), weights) == pytest.approx(expected @ expected)


@pytest.mark.parametrize("name", ["histogram", "histogram_bin_edges"])
def test_counts_by_data_are_refused(name: str) -> None:
    with pytest.raises(MissingRule, match="from bin to bin by jumps") as refusal:
        srcgrad.grad(program(f"np.sum(np.{name}(x)[0])"))(x)
    assert "smooth kernels" in str(refusal.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("np.quantile(x, 0.5, method='inverted_cdf', weights=x)", "the argument 'weights' is not supported"),
        ("np.median(x, overwrite_input=True)", "stores into an array, its output or an operand"),
        ("np.histogram([0.5], 3, weights=x, density=True)[0]", "the argument 'density' must be"),
        ("np.average(x, returned=x[0, 0] > 0)[0]", "the argument 'returned' must be the literal False or True"),
    ],
)
def test_refused_forms(call: str, message: str) -> None:
    with pytest.raises(UnsupportedSyntax, match=message):
        srcgrad.grad(program(call))(x)


@pytest.mark.parametrize("count", [5, 700])
def test_a_nan_is_the_quantile_and_gets_its_cotangent(count: int) -> None:
    """As of np.max; it had been ranked as a number, and others had got finite gradients of a value that is nan."""
    x = np.random.default_rng(0).normal(size=(3, count))
    expected = srcgrad.grad(lambda x: np.sum(np.median(x, axis=1)[::2]))(x)
    x[1, 3] = x[1, 1] = np.nan
    found = srcgrad.grad(lambda x: np.sum(np.median(x, axis=1)))(x)
    expected[1, 1] = 1.0
    np.testing.assert_array_equal(found, expected)
    assert np.flatnonzero(srcgrad.grad(lambda x: np.quantile(x, 0.3))(x[1])).tolist() == [1]
    np.testing.assert_array_equal(srcgrad.grad(lambda x: np.nanmedian(x))(x)[1, [1, 3]], 0.0)


def test_complex_weights_of_real_numbers() -> None:
    """The mean and its cotangent are complex; they had been made real before they met the weights."""
    z = np.array([0.3 + 0.4j, 1.1 - 0.2j, 0.6 + 0.7j])
    check(program("np.sum(np.abs(np.average(x, axis=1, weights=z)))", "x", "z"), x[:, :3], z[: x.shape[1]])

    def both(x, z):
        mean, total = np.average(x, axis=1, weights=z, returned=True)
        return np.sum(np.abs(mean + total))

    check(both, x[:, :3], z[: x.shape[1]])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("road", [{}, {"specialise": False}], ids=str)
def test_numpy_reads_the_real_part_of_complex_weights_of_a_covariance(road) -> None:
    m = np.array([[1.0, 2.0, 0.5, 0.3], [0.2, 0.7, 3.0, 1.0]])
    by = np.array([[1.0, 2.0], [3.0, 5.0]])

    def f(w):
        return np.sum(np.real((1 + 2j) * np.cov(m * (1 + 1j * m), aweights=w * (1 + 0.5j)) * by))

    w = np.array([0.5, 1.2, 0.8, 0.3])
    expected = np.array([(f(w + h) - f(w - h)) / 2e-6 for h in 1e-6 * np.eye(4)])
    with options(**road):
        np.testing.assert_allclose(srcgrad.grad(f)(w), expected, rtol=1e-6)
        np.testing.assert_allclose(srcgrad.jvp(f, (w,), (np.ones(4),))[1], expected.sum(), rtol=1e-5, atol=1e-8)
