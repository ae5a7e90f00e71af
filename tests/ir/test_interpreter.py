"""The IR means what Python means: programs run by the interpreter give the same values, to the last bit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tests.directed.running  # noqa: F401  (the directed programs are recorded when their modules are imported)
from srcgrad.frontend.lowering import lowered
from tests.corpus import CASES
from tests.corpus.example import Case
from tests.directed.program import collected
from tests.evaluation_order import FORMS, STATES, patterns, program
from tests.hunted import random_program
from tests.ir.language import PROGRAMS as LANGUAGE
from tests.ir.running import assert_same, by_interpreter, checked, differentiates, functions_of, interpreting, outcome
from tests.parameters import for_each

PROGRAMS = [*CASES, *collected()]


def runnable(every: int = 1, first: int = 0) -> Iterator[Case]:
    """One of so many programs; found when the test runs, since what they call is looked through."""
    for case in PROGRAMS[first::every]:
        if not differentiates(functions_of(case.function, case.arguments, case.keywords)):
            yield case


@for_each(runnable(12))
def test_programs(case: Case) -> None:
    """Corpus and directed programs, with all functions and methods that they call."""
    _runs(case)


@pytest.mark.nightly
@for_each(runnable())
def test_all_programs(case: Case) -> None:
    _runs(case)


def _runs(case: Case) -> None:
    expected = outcome(case.function, case.arguments, case.keywords)
    with interpreting(functions_of(case.function, case.arguments, case.keywords)):
        assert_same(outcome(case.function, case.arguments, case.keywords), expected)


ORDERED = [(form, state, pattern) for form in FORMS for state in STATES for pattern in patterns(form)]


def _ordered(name: tuple[str, str, str]) -> None:
    try:
        made = program(*name)
    except SyntaxError:
        return
    given = (np.array([1.3, 0.7, 1.1]),)
    assert_same(outcome(by_interpreter(made.function), given, {}), outcome(made.function, given, {}))


@for_each(ORDERED[::96])
def test_order_of_evaluation(name: tuple[str, str, str]) -> None:
    """Forms of statements whose operands change what the others read; some raise, in both."""
    _ordered(name)


@pytest.mark.nightly
@for_each(ORDERED)
def test_order_of_evaluation_in_every_form(name: tuple[str, str, str]) -> None:
    _ordered(name)


def _random_program(number: int) -> None:
    with random_program(number) as (function, given):
        expected = outcome(function, given, {})
        with interpreting(functions_of(function, given)):
            assert_same(outcome(function, given, {}), expected)


@for_each(range(20))
def test_random_programs(number: int) -> None:
    """Programs of the hunt, those that raise included."""
    _random_program(number)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 20_000, 1000))
def test_many_random_programs(first: int) -> None:
    for number in range(first, first + 1000):
        _random_program(number)


def _is_python(case: Case) -> None:
    ast.parse(str(checked(case.function)))


@for_each(PROGRAMS[::8])
def test_text(case: Case) -> None:
    """The text of a function is Python."""
    _is_python(case)


@pytest.mark.nightly
@for_each(PROGRAMS)
def test_every_text(case: Case) -> None:
    _is_python(case)


@for_each(LANGUAGE, name=lambda entry: f"{entry[0].__name__}{entry[1]}")
def test_the_language(entry: tuple[FunctionType, tuple[object, ...]]) -> None:
    """One part of the language each; what raises, raises the same."""
    function, arguments = entry
    expected = outcome(function, arguments, {})
    assert_same(outcome(by_interpreter(function), arguments, {}), expected)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if x == 0: return x\n" + "".join(f"    elif x == {k}: pass\n" for k in range(300)),
        f"def f(x):\n    return {' + '.join(['x'] * 1500)}\n",
        f"def f(x):\n    return {' and '.join(['x'] * 500)}\n",
    ],
    ids=["elif", "sum", "and"],
)
@pytest.mark.costly(1, first=1)
def test_programs_deeper_than_the_recursion_limit(text: str, tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(text, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "deep.py"), "exec"), space)
    assert str(lowered(space["f"])).startswith("def f(x):\n")
