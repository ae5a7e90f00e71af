"""The corpus through every mode, against numbers: complex step where the program allows it, else differences."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from srcgrad import MissingRule, UnsupportedSyntax
from srcgrad.api.sizes import dimensions_of
from tests import derivatives, oracle
from tests.corpus import CASES, OF_DATA, REFUSED_CASES, REFUSED_TWICE, THEMES
from tests.corpus import FIRST as FIRST_POINTS
from tests.corpus.example import Case, Function
from tests.parameters import cases, some_by_day

FORWARD = [case for case in CASES if not case.keywords]
SCALAR = [case for case in FORWARD if case.order >= 2]
# The second and later points of one function reuse what was compiled for the first; plain and generic programs are
# judged at the first point only, where they differ from the optimised ones by text and not by path.
FIRST = [case for case in FIRST_POINTS if not case.keywords]
FIRST_OF_DATA = [case for case in OF_DATA if not case.keywords]


@cache
def reference(name: str) -> oracle.Measured:
    """The Jacobian of a case by numbers, once."""
    case = _named(name)
    return oracle.jacobian(case.function, case.arguments, case.argnums, keywords=case.keywords, analytic=case.analytic)


@cache
def _named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


@cache  # it is asked of the whole corpus where files of tests are read
def scalar_result(case: Case) -> bool:
    value = case.function(*derivatives.fresh(case.arguments), **case.keywords)
    return oracle.is_inexact(value) and np.shape(value) == ()


def holds_arrays(case: Case) -> bool:
    return bool(dimensions_of(case.arguments))


def close(got, like, expected: np.ndarray, case: Case, error: float, what: str) -> None:
    """Structure, shape, dtype, then numbers."""
    numbers = derivatives.numbers_like(got, like)
    oracle.assert_close(numbers, expected, tolerance=case.tolerance, error=error, what=f"{case}: {what}")


# --- the corpus itself -----------------------------------------------------------------------------------------------
def test_the_corpus_is_large():
    functions: dict[Function, Case] = {case.function: case for case in CASES}
    assert len(functions) >= 300
    assert {case.theme for case in CASES} == set(THEMES)


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day([case for case in CASES if case.analytic], 3))
def test_analytic_examples_are_analytic(case, capsys):
    """Complex step and differences agree, so the mark is right and no branch point is near."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        numeric = oracle.jacobian(case.function, case.arguments, case.argnums, keywords=case.keywords)
        exact = reference(case.name)
    scale = max(1.0, float(np.max(np.abs(exact.value), initial=0.0)))
    assert np.max(np.abs(numeric.value - exact.value), initial=0.0) < 1e-6 * scale


@pytest.mark.parametrize("case", REFUSED_CASES)
def test_what_is_refused(case):
    value = case.function(*derivatives.fresh(case.arguments), **case.keywords)
    with pytest.raises((UnsupportedSyntax, MissingRule), match=r"\^"):
        derivatives.reverse(case, oracle.seed_like(value, 1))
    with pytest.raises((UnsupportedSyntax, MissingRule), match=r"\^"):
        derivatives.forward(case, derivatives.fresh(case.arguments))


# --- order 1 ---------------------------------------------------------------------------------------------------------
def check_reverse(case: Case, options: str) -> None:
    value = case.function(*derivatives.fresh(case.arguments), **case.keywords)
    seed = oracle.seed_like(value, 1)
    before = derivatives.fresh(case.arguments)
    measured = reference(case.name)
    with derivatives.settings(options):
        got, cotangents = derivatives.reverse(case, seed)
    np.testing.assert_array_equal(oracle.ravel(got), oracle.ravel(value), err_msg="the value changed")
    np.testing.assert_array_equal(oracle.ravel(before), oracle.ravel(case.arguments), err_msg="an argument changed")
    expected = oracle.ravel(seed) @ measured.value
    close(cotangents, derivatives.chosen(case), expected, case, measured.error, f"reverse, {options}")


def check_forward(case: Case, options: str) -> None:
    value = case.function(*derivatives.fresh(case.arguments))
    tangents = oracle.seed_like(derivatives.chosen(case), 2)
    measured = reference(case.name)
    with derivatives.settings(options):
        got, tangent = derivatives.forward(case, tangents)
    np.testing.assert_array_equal(oracle.ravel(got), oracle.ravel(value), err_msg="the value changed")
    expected = measured.value @ oracle.ravel(tangents)
    numbers = [leaf for leaf, like in zip(oracle.leaves(tangent), oracle.leaves(value)) if oracle.is_inexact(like)]
    oracle.assert_close(
        numbers, expected, tolerance=case.tolerance, error=measured.error, what=f"{case}: forward, {options}"
    )


@pytest.mark.parametrize("case", cases(CASES))
@pytest.mark.costly(66, first=1)
def test_reverse(case):
    check_reverse(case, "optimised")


@pytest.mark.parametrize("case", some_by_day(FORWARD, 3))
def test_forward(case):
    check_forward(case, "optimised")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(CASES, 12))
def test_reverse_not_optimised(case):
    check_reverse(case, "plain")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(FORWARD, 12))
def test_forward_not_optimised(case):
    check_forward(case, "plain")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(FIRST_OF_DATA, 6))
@pytest.mark.costly(10, first=1)
def test_reverse_without_facts(case):
    check_reverse(case, "generic")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(FIRST_OF_DATA, 9))
def test_forward_without_facts(case):
    check_forward(case, "generic")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day([case for case in FIRST if holds_arrays(case)], 6))
def test_reverse_without_sizes(case):
    check_reverse(case, "sizeless")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day([case for case in FIRST if holds_arrays(case)], 6))
def test_forward_without_sizes(case):
    check_forward(case, "sizeless")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day([case for case in CASES if scalar_result(case)], 9))
@pytest.mark.costly(6)
def test_joint_gradient(case):
    """``value_and_grad`` emits one function where it can; ``vjp`` emits a pair."""
    measured = reference(case.name)
    with derivatives.settings("optimised"):
        value, gradient = derivatives.joint(case)
    np.testing.assert_array_equal(value, case.function(*derivatives.fresh(case.arguments), **case.keywords))
    close(gradient, derivatives.chosen(case), measured.value[0], case, measured.error, "value_and_grad")


# --- order 2 ---------------------------------------------------------------------------------------------------------
TWICE = [case for case in SCALAR if scalar_result(case) and case.function.__name__ not in REFUSED_TWICE]


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(TWICE, 15))
@pytest.mark.costly(3, first=2)
def test_hessian_vector_product(case):
    """``hvp`` against the numeric derivative of the gradient."""
    like = derivatives.chosen(case)
    direction = oracle.seed_like(like, 3)
    point = oracle.ravel(like)
    measured = oracle.differences(derivatives.gradient_at(case), point, oracle.ravel(direction))
    with derivatives.settings("optimised"):
        product = derivatives.hessian_vector(case, direction)
    close(product, like, measured.value, case, measured.error, "hvp")


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(TWICE, 60))
@pytest.mark.costly(2)
def test_second_order_agrees(case):
    """Reverse over reverse, forward over reverse, reverse over forward: the same numbers to 1e-9."""
    like = derivatives.chosen(case)
    direction = oracle.seed_like(like, 3)
    results = {}
    with derivatives.settings("optimised"):
        for name, way in derivatives.SECOND_ORDER.items():
            results[name] = oracle.ravel(derivatives.numbers_like(way(case, direction), like))
    (first, expected), *others = results.items()
    for name, got in others:
        oracle.assert_close([got], expected, tolerance=1e-9, what=f"{case}: {name} against {first}")
