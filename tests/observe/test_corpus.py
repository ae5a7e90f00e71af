"""Programs of the corpus that are watched compute what they compute unwatched, to the last bit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

import srcgrad
from tests.corpus import CASES
from tests.corpus.example import Case

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CHUNK = 40
MAKES_A_NAN = {"nan_in_the_untaken_side_of_where"}  # which its result does not hold


def outcome(case: Case, run):
    with np.errstate(all="ignore"):
        return pickle.dumps(run(*copy.deepcopy(case.arguments), **copy.deepcopy(dict(case.keywords))))


def judge(cases: Sequence[Case]) -> None:
    for case in cases:
        try:
            with srcgrad.options(optimise=False):  # as they are while they are watched, an operation a statement
                plain = outcome(case, srcgrad.value_and_grad(case.function))
        except (srcgrad.SeedError, srcgrad.LanguageError):
            continue  # it returns no number, or is refused in this mode
        if case.name in MAKES_A_NAN:
            with srcgrad.debug_nans(), pytest.raises(srcgrad.NonFiniteError):
                outcome(case, srcgrad.value_and_grad(case.function))
            continue
        with srcgrad.debug_nans():
            assert outcome(case, srcgrad.value_and_grad(case.function)) == plain, case
        derivative = srcgrad.grad(case.function)
        profile = derivative.profile(*copy.deepcopy(case.arguments), **case.keywords)
        assert profile.total.forward + profile.total.reverse > 0.0, case
        assert derivative.annotate().html.startswith("<!doctype html>"), case


def test_some_programs() -> None:
    judge(CASES[7::40])


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, len(CASES), CHUNK))
def test_every_program(first: int) -> None:
    judge(CASES[first : first + CHUNK])
