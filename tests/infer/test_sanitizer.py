"""Facts cover every run: nothing that a program binds, holds or reaches is missing from what the analysis says."""

from __future__ import annotations

from types import FunctionType

import numpy as np
import pytest

from srcgrad.infer.interpreter import analysed
from tests.corpus.example import Case
from tests.evaluation_order import program
from tests.hunted import random_program
from tests.infer.sanitizer import unforeseen, unforeseen_of_kinds
from tests.ir.language import PROGRAMS as LANGUAGE
from tests.ir.running import checked
from tests.ir.test_interpreter import ORDERED, runnable
from tests.parameters import for_each


def _program(case: Case) -> None:
    assert unforeseen(case.function, case.arguments, case.keywords) == []


@for_each(runnable(24))
def test_programs(case: Case) -> None:
    """Corpus and directed programs, with the functions of their modules that they call."""
    _program(case)


@pytest.mark.nightly
@for_each(runnable())
def test_all_programs(case: Case) -> None:
    _program(case)


def _of_kinds(case: Case) -> None:
    assert unforeseen_of_kinds(case.function, case.arguments) == []


@for_each(case for case in runnable(90) if not case.keywords)
def test_other_arguments_of_the_same_kinds(case: Case) -> None:
    """What holds of every call that runs one program: other numbers, other lengths, arguments that are one another."""
    _of_kinds(case)


@pytest.mark.nightly
@for_each(case for case in runnable() if not case.keywords)
def test_all_other_arguments_of_the_same_kinds(case: Case) -> None:
    _of_kinds(case)


@for_each(LANGUAGE, name=lambda entry: f"{entry[0].__name__}{entry[1]}")
def test_the_language(entry: tuple[FunctionType, tuple[object, ...]]) -> None:
    assert unforeseen(*entry, {}) == []


@for_each(ORDERED[::240])
def test_order_of_evaluation(name: tuple[str, str, str]) -> None:
    _ordered(name)


@pytest.mark.nightly
@for_each(ORDERED)
def test_order_of_evaluation_in_every_form(name: tuple[str, str, str]) -> None:
    _ordered(name)


def _ordered(name: tuple[str, str, str]) -> None:
    try:
        made = program(*name)
    except SyntaxError:
        return
    assert unforeseen(made.function, (np.array([1.3, 0.7, 1.1]),), {}) == []


def unforeseen_at_random(number: int) -> list[str]:
    with random_program(number) as (function, given):
        return unforeseen(function, given, {})


@for_each(range(15))
def test_random_programs(number: int) -> None:
    assert unforeseen_at_random(number) == []


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 20_000, 1000))
def test_many_random_programs(first: int) -> None:
    for number in range(first, first + 1000):
        assert unforeseen_at_random(number) == [], number


HELD = [1.0]


def stores_into_what_may_be_the_global(x, q):
    q[0] = "text"
    return HELD[0]


def test_an_argument_may_be_what_a_global_holds() -> None:
    facts = analysed(stores_into_what_may_be_the_global, (1.0, [2.0]), {}, checked, by_kind=True)
    assert facts is not None
    (entry,) = facts.entry
    assert any("'text'" in str(value) or value.is_any for value in entry.values.values())
