"""Unmodified functions of installed packages: right, or refused at a place; and what judging them has found."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedSyntax
from tests.installed.judge import judge
from tests.installed.table import ENTRIES
from tests.parameters import at_night

#: How many are right on the first Python with the packages that README's test command brings.
RIGHT = 190
#: The same of every forty-eighth function, which runs by day.
RIGHT_BY_DAY = 6


def of_packages(*roots: str) -> list:
    return [entry for entry in ENTRIES if entry.module.split(".")[0] in roots]


def check(entries: list) -> int:
    """How many are right; fails where one is wrong, or the compiler did."""
    verdicts = [judge(entry) for entry in entries]
    failed = [f"{v.kind} {v.entry.name}: {v.why}\n{v.text}" for v in verdicts if v.kind in ("wrong", "crash")]
    assert not failed, "\n".join(failed)
    for verdict in verdicts:
        if verdict.kind == "refused":
            assert verdict.why and "^" in verdict.text, verdict.text
    return sum(verdict.kind == "right" for verdict in verdicts)


def test_the_table_is_large_enough():
    named = {entry.name for entry in ENTRIES}
    assert len(named) >= 150
    assert len(of_packages("colorsys", "statistics", "numpy", "scipy")) >= 150


@pytest.mark.slow
@pytest.mark.parametrize(("every", "right"), [(48, RIGHT_BY_DAY), at_night(1, RIGHT)])
def test_functions_of_the_standard_library_numpy_and_scipy(every, right):
    pytest.importorskip("scipy")
    assert check(of_packages("colorsys", "statistics", "numpy", "scipy")[::every]) >= right


@pytest.mark.nightly
def test_functions_of_other_packages():
    check(of_packages("sklearn", "matplotlib", "mpl_toolkits"))


def test_functions_of_the_standard_library():
    assert check(of_packages("colorsys")) >= 5
    check(of_packages("statistics")[::3])  # the others at night, above


def test_the_parameters_of_a_normal_distribution():
    """Classes of ``statistics`` are written in Python: their objects are looked into as those of users are."""

    def f(distribution, x):
        return distribution.cdf(x) * distribution.pdf(x) + distribution.zscore(2.0 * x)

    def of(mean, deviation, x):
        return f(NormalDist(mean, deviation), x)

    distribution_bar, x_bar = srcgrad.grad(f, (0, 1))(NormalDist(0.4, 1.3), 0.7)
    expected = numeric(of, np.array([0.4, 1.3, 0.7]))
    np.testing.assert_allclose([distribution_bar._mu, distribution_bar._sigma, x_bar], expected, rtol=1e-7)


# --- found -----------------------------------------------------------------------------------------------------------
def numeric(function, point):
    steps = 1e-6 * np.eye(len(point))
    return [(function(*(point + step)) - function(*(point - step))) / 2e-6 for step in steps]


def test_numbers_unpacked_from_an_array_that_a_try_block_made():
    """Their adjoints were not added to the array's: it was not read afterwards."""

    def f(a, b, c):
        try:
            d = np.empty(2)
            d[0] = b
            d[1] = a
            p, q = d * c
            r = p * q
        except ArithmeticError:
            return 0.0
        return r

    point = np.array([0.3, 0.9, 1.2])
    np.testing.assert_allclose(srcgrad.grad(f, (0, 1, 2))(*point), numeric(f, point), rtol=1e-7)


def test_an_average_whose_weights_turn_out_to_be_none():
    """The transpose of None was asked for."""

    def f(x, weighted):
        w = None
        if weighted:
            w = x * x
        return np.average(x, weights=w)

    x = np.array([0.3, 0.7, 1.1])
    np.testing.assert_allclose(srcgrad.grad(f)(x, False), np.full(3, 1.0 / 3.0))
    expected = [np.imag(f(x + 1e-25j * unit, True)) / 1e-25 for unit in np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(f)(x, True), expected, rtol=1e-12)


def test_a_call_in_a_test_of_a_function_that_stores_and_is_not_read():
    """``may store`` was asked of functions that stay as they are written, without an end."""

    def f(x):
        with np.errstate(all="ignore"):
            if np.ndim(np.broadcast_shapes(x.shape, (3,))) > 5:
                return np.sum(x)
        return np.sum(x * x)

    try:
        np.testing.assert_allclose(srcgrad.grad(f)(np.ones(3)), 2.0 * np.ones(3))
    except UnsupportedSyntax as error:
        assert error.span is not None


def test_a_method_of_what_a_call_gives_is_asked_once():
    """Once a RecursionError of the compiler."""
    pytest.importorskip("scipy")
    (entry,) = (entry for entry in ENTRIES if entry.name == "scipy.stats:describe")
    assert judge(entry).kind == "refused"


class Context:
    """Settings that hold a part which holds itself by way of another, as those of mpmath do."""

    def __init__(self):
        self.digits, self.part = 3, Part()


class Part:
    def __init__(self):
        self.other = [self]


CONTEXT = Context()


def test_an_object_outside_whose_parts_hold_each_other():
    """Compiling went on without an end."""

    def f(x):
        return x * CONTEXT.digits

    assert srcgrad.grad(f)(2.0) == 3.0


def test_a_store_into_what_was_imported_inside_is_refused_at_its_place():
    def f(x):
        from tests.installed.test_installed import CONTEXT as context

        context.digits = 50
        return x * x

    with pytest.raises(UnsupportedSyntax, match="the attribute 'CONTEXT'") as refusal:
        srcgrad.grad(f)(2.0)
    assert "import CONTEXT as context" in str(refusal.value)


def test_the_dtype_of_as_many_arrays_as_there_are():
    """So the series of ``numpy.polynomial`` are made: the call describes what the star gives, and holds none of it."""

    def f(x):
        rows = [x[: k + 1] for k in range(len(x))]
        dtype = np.common_type(*rows)
        return sum(np.sum(np.array(row, copy=True, dtype=dtype) ** 2) for row in rows)

    x = np.array([0.5, -1.5, 2.0])
    np.testing.assert_allclose(srcgrad.grad(f)(x), 2.0 * x * np.array([3.0, 2.0, 1.0]))
