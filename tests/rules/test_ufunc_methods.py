"""The methods of ufuncs through the compiler: axes that are the first by default, keywords, outer of every ufunc."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import MissingRule
from srcgrad.rules.table import is_constant, lookup, refusal
from srcgrad.rules.ufunc_methods import Outer
from tests.parameters import at_night
from tests.rules.orders import check_orders, twice_at_night
from tests.rules.programs import program
from tests.rules.quotients import check

rng = np.random.default_rng(54)
x = rng.uniform(0.3, 0.9, (2, 3))
nan, inf = math.nan, math.inf
SOME = "where=np.array([[True, False, True], [False, True, True]])"
UFUNCS = sorted({u.__name__ for u in vars(np).values() if isinstance(u, np.ufunc)} & set(dir(np)))

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


# --- reductions ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "order"), twice_at_night("add multiply maximum minimum fmax fmin logaddexp logaddexp2 hypot".split(), 3)
)
@pytest.mark.costly(2)
def test_reductions(name: str, order: int) -> None:
    forms = ["x", "x, 1", "x, axis=None", "x, axis=(0, 1), keepdims=True", f"x, 1, None, None, True, 0.7, {SOME[6:]}"]
    forms += ["x, initial=0.5", f"x, axis=-1, initial=0.4, {SOME}"]
    check_orders(program(" + ".join(f"np.sum(np.tanh(np.{name}.reduce({form})))" for form in forms)), x, order)


@pytest.mark.parametrize(
    ("name", "order"), twice_at_night("add multiply maximum minimum fmax fmin logaddexp".split(), 3)
)
@pytest.mark.costly(2)
def test_accumulations(name: str, order: int) -> None:
    forms = ["x", "x, 1", "x, axis=-1", "x[0]"] + (["x, 0, np.float64"] if name != "logaddexp" else [])
    check_orders(program(" + ".join(f"np.sum(np.tanh(np.{name}.accumulate({form})))" for form in forms)), x, order)


@pytest.mark.parametrize("name", ["add", "maximum", "minimum"])
@pytest.mark.costly(1, first=2)
def test_segments(name: str) -> None:
    forms = ["x, [0, 2], 1", "x, [1], axis=0", "x[0], np.array([0, 1])"]
    forms += ["x[0], [0, 2, 0, 1]", "x, [2, 0], 1, np.float64"] if name == "add" else []
    check_orders(program(" + ".join(f"np.sum(np.{name}.reduceat({form}) ** 3)" for form in forms)), x, 2)


def test_overlapping_segments_of_an_extremum_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="overlapping segments"):
        srcgrad.grad(program("np.sum(np.maximum.reduceat(x, [0, 2, 1]))"))(x[0])


@pytest.mark.parametrize(("name", "value"), [("add", 1.0), ("multiply", 1.3), ("maximum", 0.1), ("logaddexp", 0.4)])
def test_initial_values_vary_too(name: str, value: float) -> None:
    check(program(f"np.sum(np.{name}.reduce(x, 1, initial=t) ** 2)", "x", "t"), x, np.array(value))


@pytest.mark.parametrize(
    ("call", "at", "expected"),
    [
        ("np.maximum.reduce(x)", [3.0, 1, 3], [0.5, 0, 0.5]),
        ("np.fmax.reduce(x)", [nan, 1, 1], [0, 0.5, 0.5]),
        ("np.multiply.reduce(x)", [2.0, 0, 3], [0, 6, 0]),
        ("np.sum(np.multiply.accumulate(x))", [2.0, 0, 3], [1, 8, 0]),
        ("np.hypot.reduce(x)", [0.0, 0], [0, 0]),
        ("np.logaddexp.reduce(x)", [-inf, 0, 0], [0, 0.5, 0.5]),
        ("np.logaddexp.reduce(x)", [-inf, -inf], [0.5, 0.5]),
        ("np.logaddexp.reduce(x)", [inf, 0], [1, 0]),
        ("np.logaddexp2.reduce(x)", [2000.0, 0], [1, 0]),
        ("np.sum(np.logaddexp.accumulate(x))", [0.0, -inf, 0], [2.5, 0, 0.5]),
        ("np.sum(np.maximum.accumulate(x))", [1.0, 1, 3, 3, 2], [1, 1, 1, 2, 0]),
        ("np.sum(np.minimum.accumulate(x))", [1.0, nan, 0, nan], [1, 2, 0, 1]),
        ("np.sum(np.maximum.reduceat(x, [0, 2]))", [2.0, 2, 1], [0.5, 0.5, 1]),
        ("np.add.reduce(x, dtype=np.int64) * 1.0", [2.5, 1.2], [0, 0]),
    ],
)
def test_kinks(call: str, at: Any, expected: Any) -> None:
    np.testing.assert_allclose(srcgrad.grad(program(call))(np.array(at)), expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("np.sum(np.maximum.reduce(x, axis=1, dtype=np.float32))", [[0, 1, 0], [0, 0, 1]]),
        ("np.sum(np.minimum.reduce(x, axis=1, dtype='float32', where=x > 0.15, initial=9.0))", [[1, 0, 0], [1, 0, 0]]),
        ("np.sum(np.fmax.reduce(x, dtype=np.float32))", [[1, 1, 0], [0, 0, 1]]),
        ("np.sum(np.maximum.accumulate(x, axis=1, dtype=np.float32))", [[1, 2, 0], [1, 1, 1]]),
        ("np.sum(np.maximum.reduceat(x, [0, 2], axis=1, dtype=np.float32))", [[0, 1, 1], [0, 1, 1]]),
    ],
)
def test_extrema_in_a_less_precise_dtype_are_found(call: str, expected: Any) -> None:
    """The elements had been compared as they were, none equalled its rounding, and gradients were zero in silence."""
    at = np.array([[0.3, 0.4, 0.1], [0.2, 0.25, 0.7]])
    np.testing.assert_array_equal(srcgrad.grad(program(call))(at), expected)
    np.testing.assert_allclose(srcgrad.jvp(program(call), (at,), (at,))[1], np.sum(at * expected), rtol=1e-6)


def test_a_product_of_real_numbers_from_a_complex_one() -> None:
    """The cotangent had been made real before the complex slope."""
    for call in ("np.multiply.reduce(x, axis=1, dtype=complex, initial=z)", "np.prod(x, 1, complex, initial=z)"):
        check(program(f"np.sum(np.abs({call} - 1j))", "x", "z"), x, np.array(0.7 + 0.4j))


def test_running_results_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    a = np.array([1.0, 1, 3, 3, 2, -inf])
    weights = np.arange(1.0, 7.0)
    for ours, theirs in (("maximum", "cummax"), ("minimum", "cummin"), ("logaddexp", "logcumsumexp")):
        t = torch.tensor(a, requires_grad=True)
        found = getattr(t, theirs)(0)
        (torch.tensor(weights) * (found if theirs == "logcumsumexp" else found.values)).sum().backward()
        f = program(f"np.sum(np.{ours}.accumulate(x) * w)", "x", "w")
        np.testing.assert_allclose(srcgrad.grad(f)(a, weights), t.grad.numpy(), err_msg=ours)


# --- every pair ------------------------------------------------------------------------------------------------------
OUTER = [name for name in UFUNCS if isinstance(lookup(getattr(getattr(np, name), "outer", None)), Outer)]


def test_outer_of_every_ufunc_with_a_rule_has_one() -> None:
    for name in UFUNCS:
        ufunc = getattr(np, name)
        found = lookup(ufunc)
        if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None and found is not None:
            assert (name in OUTER) == bool(found.differentiable), name


@pytest.mark.parametrize("name", ["multiply", "divide", "power", "float_power", "arctan2", "logaddexp", "subtract"])
@pytest.mark.costly(2, first=1)
def test_outer_at_the_second_order(name: str) -> None:
    check(program(f"np.sum(np.tanh(np.{name}.outer(x, y)))", "x", "y"), x, rng.uniform(0.3, 0.9, 2))
    check_orders(program(f"np.sum(np.{name}.outer(x, 1.3) * np.{name}.outer(0.7, x))"), x, 2)


def test_outer_of_the_others() -> None:
    for name in sorted(set(OUTER) - {"ldexp"}):
        f = program(f"np.sum(np.{name}.outer(x, y) ** 2)", "x", "y")
        check(f, np.array([0.31, 0.77]), np.array([[1.13, 1.52]]), second=False)
    assert srcgrad.grad(program("np.sum(np.ldexp.outer(x, np.array([1, 2])))"))(np.ones(2)).tolist() == [6, 6]


def test_extrema_of_segments_go_to_nan_as_those_of_arrays_do() -> None:
    at = np.array([1.0, np.nan, 2.0, 5.0])
    assert srcgrad.grad(program("np.sum(np.maximum.reduceat(x, [0, 2]))"))(at).tolist() == [0, 1, 0, 1]
    assert srcgrad.grad(program("np.sum(np.minimum.reduceat(x, [0]))"))(at).tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("every", [4, at_night(1)])
def test_outer_where_one_operand_moves(every: int) -> None:
    """The tangent has the shape of the result whichever of the two moves, and whatever else is known of the other.

    The rule is made in one way of all ufuncs: by day some of them are asked.
    """
    for name in sorted(set(OUTER) - {"ldexp"})[::every]:
        for a, b in ((np.ones((2, 3)), np.array([2, 4])), (np.array(0.3), np.array([2, 4])), (np.ones(2), np.array(2))):
            for expression, value in ((f"np.{name}.outer(x, y)", a), (f"np.{name}.outer(y, x)", a)):
                f = program(expression, "x", "y")
                made, tangent = srcgrad.jvp(f, (value, b), (np.ones_like(value), None))
                assert np.shape(tangent) == np.shape(made), expression
                (gradient,) = srcgrad.vjp(f, value, b, argnums=0)[1](np.ones_like(made))
                assert np.sum(tangent) == pytest.approx(np.sum(gradient)), expression


def test_outer_of_mixed_kinds() -> None:
    y = rng.standard_normal(2) + 1j * rng.standard_normal(2)
    check(program("np.sum(np.abs(np.multiply.outer(x, y)) ** 2 + np.divide.outer(x, y).real)", "x", "y"), x, y)
    found = srcgrad.grad(program("np.sum(np.multiply.outer(x, y))", "x", "y"), (0, 1))(np.float32([1, 2]), np.ones(3))
    assert [g.dtype for g in found] == [np.float32, np.float64]


# --- the lists -------------------------------------------------------------------------------------------------------
def test_every_method_is_in_one_list() -> None:
    for name in UFUNCS:
        ufunc = getattr(np, name)
        assert refusal(ufunc.at) is not None
        if ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None:
            for method in (ufunc.reduce, ufunc.accumulate, ufunc.reduceat, ufunc.outer):
                lists = (lookup(method) is not None, is_constant(method), refusal(method) is not None)
                assert sum(lists) == 1, (name, method.__name__)
    assert is_constant(np.less.outer) and is_constant(np.logical_and.reduce)


def test_a_refusal_says_what_to_write() -> None:
    with pytest.raises(MissingRule, match=r"np.subtract.reduce") as refused:
        srcgrad.grad(program("np.subtract.reduce(x)"))(x[0])
    assert "np.sum(x[1:], axis=0)" in str(refused.value)
