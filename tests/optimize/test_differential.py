"""Random programs compute the same before and after optimisation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from srcgrad.optimize import optimize
from tests.optimize.programs import TEMPORARIES, Program
from tests.optimize.running import body, outcome, program


def check(text: str) -> None:
    original = program(text)
    assert outcome(original) == outcome(optimize(original, TEMPORARIES)), text


@settings(max_examples=max(60, settings().max_examples))  # of a millisecond each
@given(st.randoms(use_true_random=False))
def test_small_programs(source):
    check(Program(source, 8).text)


@pytest.mark.parametrize("seed", range(60))
def test_large_programs(seed):
    check(Program(random.Random(seed), 40).text)


@pytest.mark.parametrize("seed", [2398, 2562, 3095, 3109])
def test_a_copy_of_a_copy_below(seed):
    check(Program(random.Random(seed), 30).text)


def test_optimising_twice_changes_nothing_more():
    for seed in range(30):
        once = optimize(program(Program(random.Random(seed), 20).text), TEMPORARIES)
        assert body(optimize(once, TEMPORARIES)) == body(once), seed
