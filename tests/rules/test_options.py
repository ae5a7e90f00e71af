"""Options of the whole table, given as what equals them: 1 or 1.0 for True, True or 1.0 for 1.

The formula is chosen by literals, so that one that is admitted by equality and compared by type would take another.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.rules.formula import constant, literal
from srcgrad.rules.template import Rule, UnsupportedCall
from srcgrad.runtime.refusals import RefusedMode
from tests.rules.samples import SAMPLES, Call
from tests.rules.test_rules import FUNCTIONS, RULES, agree_with_numbers_and_each_other, bound, case_id, slices
from tests.rules.trees import leaves, vector

#: What equals an option and is of another type.
EQUALS: dict[Any, tuple[Any, ...]] = {
    (bool, False): (0, 0.0),
    (bool, True): (1, 1.0),
    (int, 0): (False, 0.0),
    (int, 1): (True, 1.0),
    (int, -1): (-1.0,),
    (int, 2): (2.0,),
}
#: Options that have a formula each, and others that the general formula reads by themselves.
CHOSEN = [(rule, f) for rule, f in FUNCTIONS if rule.allowed or rule._variants or rule._tangent_variants]


def by_literal(rule: Rule, p: str) -> bool:
    """Whether a parameter is compared with literals, or has an integer or truth value where it is not given."""
    conditions = [conditions for _, conditions, _ in (*rule._variants, *rule._tangent_variants)]
    usual = literal(rule.defaults[p])[1] if p in rule.defaults else None
    compared = any(p in c and not callable(c[p]) for c in conditions)
    return compared or p in rule.allowed or p.startswith("axis") or isinstance(usual, int)


def others(value: Any) -> tuple[Any, ...]:
    return EQUALS.get((type(value), value), ()) if isinstance(value, bool | int) else ()


def written_otherwise(sample: Call) -> Iterator[Call]:
    """The call with each of its options in each other spelling."""
    for position, value in enumerate(sample.args):
        for other in others(value):
            yield Call((*sample.args[:position], other, *sample.args[position + 1 :]), sample.kwargs)
    for name, value in sample.kwargs.items():
        for other in others(value):
            yield Call(sample.args, {**sample.kwargs, name: other})


@pytest.mark.parametrize("case", CHOSEN, ids=case_id)
def test_an_option_is_what_it_equals_or_refused(case: tuple[Rule, Callable[..., Any]]) -> None:
    rule, function = case
    rng = np.random.default_rng(1)
    for sample in SAMPLES[function]:
        for other in written_otherwise(sample):
            try:
                call = bound(rule, function, other, floats=True)
            except UnsupportedCall:
                continue
            varied = bound(rule, function, sample, floats=True).values
            changed = [p for p in call.values if type(call.values[p]) is not type(varied[p])]
            if not all(by_literal(rule, p) and p not in rule.differentiable for p in changed):
                continue  # another dtype, or what NumPy asks for an index
            try:
                with warnings.catch_warnings(action="ignore"):
                    plain = function(*other.args, **other.kwargs)
            except (TypeError, ValueError):
                continue  # as it does where it is not differentiated
            y = call.evaluate(call.values)
            np.testing.assert_allclose(vector(y), vector(plain)[: vector(y).size])  # a flag may be returned
            if call.wanted and leaves(y):
                with contextlib.suppress(RefusedMode):
                    agree_with_numbers_and_each_other(call, y, slices(call, alone=False, known=True), rng, directions=1)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.allowed], ids=lambda rule: str(rule.name))
def test_an_allowed_option_is_bound_as_the_literal_that_it_equals(rule: Rule) -> None:
    function = rule.functions[0]
    needed = {p: gast.Name("x", gast.Load(), None, None) for p in rule.parameters if p not in rule.defaults}
    for p, allowed in rule.allowed.items():
        for value in allowed:
            for other in others(value):
                chosen = [one for one in allowed if type(one) is type(other) and one == other] or [value]
                made = literal(rule.bind(function, [], {**needed, p: constant(other)})[p])[1]
                assert type(made) is type(chosen[0]) and made == other
