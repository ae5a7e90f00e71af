"""Programs in which values share spellings, or a branch that never runs binds another type: right, or refused."""

from __future__ import annotations

import pytest

from srcgrad.fuzz.agreement import judge
from srcgrad.fuzz.choices import RandomChoices
from srcgrad.fuzz.grammar import WHOLE, program
from srcgrad.fuzz.plans import Check, Plan
from srcgrad.fuzz.spellings import respelled

PLAN = Plan((Check("joint"), Check("forward"), Check("joint", ("specialise",))))


def _judged(number: int) -> bool:
    """Whether the program was respelled; its derivative agrees with numbers, or is refused."""
    text = program(RandomChoices(number), WHOLE, 9).text
    made = respelled(text, RandomChoices(number))
    outcome = judge(made, PLAN)
    assert not outcome.is_finding, f"{outcome}\n{made}"
    return made != text


def test_shared_spellings_change_no_derivative() -> None:
    assert sum(map(_judged, range(12))) >= 6


@pytest.mark.nightly
def test_many_shared_spellings_change_no_derivative() -> None:
    assert sum(map(_judged, range(12, 1200))) >= 600
