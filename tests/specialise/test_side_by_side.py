"""The normal form from the IR beside that of the front end: the same derivatives, and text that reads as well."""

from __future__ import annotations

import re

import pytest

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.known import PLAIN
from srcgrad.frontend.meeting import known_of_argument
from srcgrad.ir.normal_form import Callee
from srcgrad.runtime.refusals import Refused
from tests import test_corpus
from tests.corpus import FIRST
from tests.corpus.example import Case
from tests.directed import running
from tests.directed.refusals import REFUSED
from tests.directed.running import PROGRAMS
from tests.parameters import some_by_day
from tests.specialise.not_yet import NOT_YET
from tests.specialise.serving import is_served, serving, written

CASES = [case for case in FIRST if not case.keywords]
#: How many read as the front end writes them, but for the names of temporaries, and how many directed ones are written.
SAME, DIRECTED = 270, 375


@pytest.mark.parametrize("case", some_by_day(CASES, 12))
def test_derivatives(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is right in both directions, against numbers; the others are in the list of those to come."""
    found = written(case) is not None
    if found:
        with serving(case, monkeypatch.setattr):
            found = is_served(lambda: test_corpus.check_reverse(case, "optimised"))
            if found:
                test_corpus.check_forward(case, "optimised")
    assert found == (case.name not in NOT_YET)


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: f"{program.theme}-{program.name}")
def test_directed(program: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs about memory, stores and objects: right, or refused where the program runs."""
    if written(program) is None:
        pytest.skip("not written yet")
    with serving(program, monkeypatch.setattr):
        for run in (lambda: running.run_reverse(program, sink=True), lambda: running.run_forward(program)):
            try:
                if not is_served(run):
                    pytest.skip("a function that it calls is not written yet")
            except Refused:
                pass
            except UnsupportedSyntax as error:  # by a callee that stored before it raised
                assert any(reason in str(error) for reason in REFUSED.get(program.function.__name__, ()))


@pytest.mark.nightly
def test_how_many_are_served_and_how_they_read() -> None:
    forms = {case.name: (case, made) for case in CASES if (made := written(case)) is not None}
    same = [name for name, (case, made) in forms.items() if _spelled(str(made)) == _spelled(_before(case))]
    assert len(same) >= SAME
    assert sum(written(program) is not None for program in PROGRAMS) >= DIRECTED


def _before(case: Case) -> str:
    known = [(place, known_of_argument(value)) for place, value in enumerate(case.arguments)]
    decides = any(each != PLAIN for _, each in known)
    return str(normalize(Callee(case.function, classes=tuple(known) if decides else ())))


def _spelled(text: str) -> str:
    """A text with its temporaries numbered as they are met."""
    numbers: dict[str, str] = {}
    body = text.partition("\n")[2]
    return re.sub(r"\bt\d*\b", lambda found: numbers.setdefault(found[0], f"T{len(numbers)}"), body)
