"""The whole corpus run eagerly: every program's value, and its cotangents beside the compiled ones."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from srcgrad import ArgumentError, UnresolvedName, UnsupportedSyntax
from srcgrad.eager import plain
from tests import derivatives, oracle
from tests.corpus import CASES, FIRST
from tests.eager.agreement import assert_same_cotangents, assert_same_value
from tests.parameters import some_by_day
from tests.test_corpus import scalar_result

#: What the eager machine refuses: derivatives inside of a program, class patterns, imports, sums with nested lists.
NOT_FOLLOWED = frozenset(
    """
    choose_grad confusion confusion2 grad_default grad_in_loop_closure if_grad_test import_inside inner_argnums
    meta names_of_what_a_nested_gradient_is_written_with nested_grad_global nested_grad_local
    nested_grad_made nested_hess nested_hvp nested_in_loop nested_jac nested_jvp nested_vag nested_vjp pinn
    store_of_lists vag_tuple
    """.split()
)
REFUSALS = (ArgumentError, NotImplementedError, TypeError, UnresolvedName, UnsupportedSyntax)


def parameters():
    """Every third function at every run; the others, and further points, at night."""
    for k, case in enumerate(CASES):
        by_day = case in FIRST and (k % 3 == 0 or case.name in NOT_FOLLOWED)
        yield pytest.param(case, id=f"{case.theme}-{case.name}", marks=() if by_day else pytest.mark.nightly)


@pytest.mark.slow
@pytest.mark.parametrize("case", list(parameters()))
@pytest.mark.costly(22)
def test_eager_and_compiled_agree(case):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value = case.function(*derivatives.fresh(case.arguments), **case.keywords)
        seed = oracle.seed_like(value, 1)
        arguments = derivatives.fresh(case.arguments)
        if case.name in NOT_FOLLOWED:
            with pytest.raises(REFUSALS):
                plain.vjp(case.function, *arguments, argnums=case.argnums, kwargs=case.keywords)[1](seed)
            return
        got, pullback = plain.vjp(case.function, *arguments, argnums=case.argnums, kwargs=case.keywords)
        cotangents = pullback(seed)
        _, expected = derivatives.reverse(case, seed)
    assert_same_value(got, value, case)
    np.testing.assert_array_equal(oracle.ravel(arguments), oracle.ravel(case.arguments), err_msg="an argument changed")
    assert_same_cotangents(cotangents, expected, derivatives.chosen(case), case)


TWICE = [
    case
    for case in FIRST
    if case.order >= 2 and not case.keywords and scalar_result(case) and case.name not in NOT_FOLLOWED
]


@pytest.mark.slow
@pytest.mark.parametrize("case", some_by_day(TWICE, 90))
@pytest.mark.costly(2)
def test_second_derivatives_agree(case):
    """Both passes of the eager machine recorded, beside the compiled Hessian along a direction."""
    like = derivatives.chosen(case)
    direction = oracle.seed_like(like, 3)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        change = plain.Run(case.function, derivatives.fresh(case.arguments), case.argnums).second(direction)
        expected = oracle.ravel(derivatives.numbers_like(derivatives.hessian_vector(case, direction), like))
    got = oracle.ravel(derivatives.numbers_like(change, like))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
