"""What SciPy adds to modules of arrays, and what the kinds of arrays decide: written from values, and right."""

from __future__ import annotations

import collections
import functools
import importlib.util
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import SrcgradError, UnsupportedSyntax
from tests.specialise.serving import check_refused, check_right

pytest.importorskip("scipy._lib._array_api")  # which says that arrays of other libraries are not served
_HOLDER = "scipy._external" if importlib.util.find_spec("scipy._external") else "scipy._lib"
xpx = importlib.import_module(f"{_HOLDER}.array_api_extra")
X = np.array([0.7, 1.3, -0.4, 2.1])
_PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def program(*arguments: Any) -> Callable[[Any], Any]:
    def noted(function: Any) -> Any:
        _PROGRAMS.append((function, arguments or (X,)))
        return function

    return noted


# --- updates at a place ----------------------------------------------------------------------------------------------
@program()
def set_at_a_place(x):
    y = x * x
    z = xpx.at(y, 1).set(3.0 * x[0])
    return np.sum(y * z)


@program()
def set_where_a_mask_holds(x):
    y = xpx.at(np.exp(x), x > 1.0).set(x[0])
    return np.sum(y * x)


@program()
def set_in_a_copy(x):
    y = np.sin(x)
    z = xpx.at(y)[1:].set(0.5, copy=True)
    return np.sum(y * y) + np.sum(z * x)


@program()
def every_operation(x):
    y = x + 3.0
    y = xpx.at(y)[0].add(x[1])
    y = xpx.at(y)[1].subtract(x[2])
    y = xpx.at(y)[2].multiply(x[3])
    y = xpx.at(y)[3].divide(x[0])
    y = xpx.at(y)[:2].power(2.0)
    y = xpx.at(y)[2:].min(x[:2] * 5.0)
    y = xpx.at(y)[1:3].max(x[:2])
    return np.sum(y * np.arange(4.0))


@program()
def set_in_a_loop(x):
    y = np.zeros(4)
    for i in range(4):
        place = xpx.at(y, i)
        y = place.set(x[i] * x[i - 1])
    return np.sum(y * y)


@program()
def set_in_a_number(x):
    y = xpx.at(np.sum(x * x), np.sum(x) > 99.0).set(0.0)
    return y[()] * 2.0


@program()
def applied_where_a_condition_holds(x):
    y = xpx.apply_where(x > 0.0, x, np.log, fill_value=-1.0)
    z = xpx.apply_where(x > 1.0, (x, x * x), operator.truediv, lambda a, b: a * b)
    return np.sum(y * z) + np.sum(xpx.apply_where(x > 1.0, (x, x), lambda a, b: a * b, fill_value=x))


@program()
def a_matrix_of_a_diagonal(x):
    return np.sum(xpx.create_diagonal(x, offset=1)[:4, 1:] @ x)


# --- what the kinds of arrays decide ---------------------------------------------------------------------------------
@program()
def machine_numbers_of_a_dtype(x):
    return np.sum(x[np.abs(x) > np.finfo(x.dtype).eps]) * (2.0 if x.dtype.kind in "fc" else 3.0)


def in_the_dtype(x, dtype):
    return np.zeros(2, dtype=dtype) + x[:2]


@program()
def a_dtype_that_is_passed_on(x):
    return np.sum(in_the_dtype(x * x, np.result_type(x, 1.0)))


@program()
def places_in_arrays(x):
    order = np.argsort(x)
    rows = np.stack([x, x * x])
    return np.sum(x[order] * np.arange(4.0)) + np.sum(rows[:, order[1:]] ** 2) + x[order[0]]


@program()
def shapes_of_tuples(x):
    shape = (2,) + (1,) * (x.ndim - 1) + (2,)
    return np.sum(np.reshape(np.concatenate((x,) * 2)[:4], shape) @ x[:2]) + len(shape * 2)


@program()
def broadcast_with_each_other(x):
    rows, column = np.broadcast_arrays(x, x[:2, np.newaxis])
    return np.sum(rows * column) + np.sum(np.broadcast_to(x[0], (2, 2)))


def in_either_way(x, how="sum"):
    how = how.upper()
    if how == "SUM":
        return np.sum(x)
    if how in ("MEAN", "AVERAGE"):
        return np.mean(x) * 3.0
    return np.max(x)


@program()
def a_text_that_is_known(x):
    return in_either_way(x * x) + in_either_way(x, "average")


def to_array(values):
    try:
        values = np.asarray(values)
        if not np.isdtype(values.dtype, "numeric"):
            raise ValueError("of numbers")
        return values
    except ValueError:
        return np.ones(max(np.size(v) for v in [np.asarray(v) for v in values]))


@program()
def a_handler_that_is_not_reached(x):
    return np.sum(to_array(x * x))


Moments = collections.namedtuple("Moments", "mean square")
Moments.__module__ = "scipy.stats"


def moments(x):
    return Moments(np.mean(x), np.mean(x * x))


@program()
def a_named_tuple_of_a_library(x):
    mean, square = moments(x)
    return square - mean**2 + moments(x * 2.0).square


@pytest.mark.parametrize("function, arguments", _PROGRAMS, ids=[function.__name__ for function, _ in _PROGRAMS])
@pytest.mark.costly(2)
def test_programs(function: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(function, monkeypatch, *arguments)


# --- refusals --------------------------------------------------------------------------------------------------------
def place_that_is_kept(x):
    return [xpx.at(x * x, 1)][0].set(2.0)[0]


def place_that_is_passed_on(x):
    return np.sum(stored(xpx.at(x * x, 1)))


def stored(place):
    return place.set(2.0)


def place_that_is_chosen(x):
    place = xpx.at(x * x, 1) if x[0] > 0.0 else xpx.at(x * 2.0, 0)
    return np.sum(place.set(2.0))


@pytest.mark.parametrize("function", [place_that_is_kept, place_that_is_passed_on, place_that_is_chosen])
def test_places_that_do_not_stay(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check_refused(function, monkeypatch, X)


# --- parameters at their defaults ------------------------------------------------------------------------------------
def chosen_by_a_text(x, how="sum"):
    return functools.reduce(operator.mul, (x, x))[0] if how == "first" else _OTHERS[how](x)


_OTHERS = {"sum": np.sum, "square": lambda x: np.sum(x * x)}


def test_a_parameter_at_its_default_is_a_constant() -> None:
    derivative = grad(chosen_by_a_text)
    np.testing.assert_allclose(derivative(X), np.ones(4))
    np.testing.assert_allclose(derivative(X, "sum"), np.ones(4))
    for _ in range(2):
        try:
            other = derivative(X, "square")
        except UnsupportedSyntax:
            continue
        np.testing.assert_allclose(other, 2.0 * X)
    np.testing.assert_allclose(derivative(X), np.ones(4))


def scaled_by(x, power=2, is_negative=False):
    y = x**power
    return np.sum(-y if is_negative else y)


def test_other_arguments_than_the_defaults() -> None:
    derivative = grad(scaled_by)
    for power, is_negative in ((2, False), (3, False), (2, True), (3, True), (2, False)):
        expected = power * X ** (power - 1) * (-1.0 if is_negative else 1.0)
        np.testing.assert_allclose(derivative(X, power, is_negative), expected)
        np.testing.assert_allclose(derivative(X, is_negative=is_negative, power=power), expected)


def test_what_is_left_out_of_a_variance_has_no_part_in_its_gradient() -> None:
    _stats = pytest.importorskip("scipy.stats._stats_py")

    def variance(x):
        return _stats._xp_var(x, correction=1, nan_policy="omit")

    gradient = grad(variance)(np.insert(X, 2, np.nan))
    np.testing.assert_allclose(gradient, np.insert(2.0 / 3.0 * (X - X.mean()), 2, 0.0))


def test_a_policy_that_scipy_does_not_know_is_refused() -> None:
    """It raises there, and gave a number here."""
    stats = pytest.importorskip("scipy.stats")

    def of_no_policy(x):
        return stats.zscore(x, nan_policy="none")[2]

    with pytest.raises(SrcgradError):
        grad(of_no_policy)(np.array([1.0, 2.5, 4.0]))
