"""The samples of the rule table, called on followed values: what the table gives is what eager gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import runtime
from srcgrad.eager import plain
from srcgrad.eager.plain_values import applied
from srcgrad.rules.template import Rule
from tests.eager.agreement import same
from tests.parameters import at_night
from tests.rules.samples import SAMPLES
from tests.rules.test_rules import FUNCTIONS, Bound, bound, case_id
from tests.rules.trees import leaves, random_like, vector

pytestmark = pytest.mark.slow
#: Without what asks whether two operands are one object: followed values are others, and no program calls it.
CALLED = [case for case in FUNCTIONS if case[1] is not runtime.like_own]


def program_of(call: Bound, function: Callable[..., Any]) -> Callable[..., Any]:
    """The call as a function of its wanted arguments, ready to run on followed values."""

    def run(*wanted: Any) -> Any:
        values = call.values | dict(zip(call.wanted, wanted, strict=True))
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p in (*call.rule.parameters, *call.rule.options):
            if p not in values or (p in call.rule.options and p not in call.keywords):
                continue
            if p == call.rule.variadic:
                args += values[p]
            elif p in call.keywords:
                kwargs[call.keywords[p]] = values[p]
            else:
                args.append(values[p])
        np.random.seed(7)  # the draws of ``Bound.evaluate``
        return applied(function, tuple(args), {**kwargs, **call.ignored})

    return run


@pytest.mark.parametrize(
    ("case", "samples"),
    [
        *(pytest.param(case, "some", id=f"{case_id(case)}-some", marks=pytest.mark.sampled) for case in CALLED[::3]),
        *(at_night(case, "every", id=f"{case_id(case)}-every") for case in CALLED),
    ],
)
def test_eager_gives_what_the_table_says(
    case: tuple[Rule, Callable[..., Any]], samples: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By day every third function, at the first sample of each form of call."""
    rule, function = case
    seen: set[frozenset[str]] = set()
    # The programs here call ``applied`` themselves: their names are theirs.
    monkeypatch.setattr(plain.Names, "translated", lambda self, value: value)
    rng = np.random.default_rng(1)
    for sample in SAMPLES[function]:
        call = bound(rule, function, sample)
        if samples == "some" and frozenset(call.values) in seen:
            continue
        seen.add(frozenset(call.values))
        y = call.evaluate(call.values)
        if not call.wanted or not leaves(y):
            continue
        y_bar = random_like(y, rng)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = rule.compile_adjoint(call.wanted, call.expressions)(*call.arguments(), y, y_bar)
            given = [call.values[p] for p in call.wanted]
            cotangents = plain.Run(program_of(call, function), given, range(len(given)))(y_bar)
        for p, mine, other in zip(call.wanted, cotangents, expected, strict=True):
            one, two = vector(mine), vector(other)
            if two.size or not one.size:
                apart = np.where(same(one, two), 0.0, np.abs(one - two) / np.maximum(1.0, np.abs(two)))
                assert np.all(apart <= 1e-12), f"{sample}: {p}"
