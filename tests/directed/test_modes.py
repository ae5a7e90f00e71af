"""Every directed program in every mode of the compiler, against numbers: right, or refused as it should be."""

from __future__ import annotations

import re

import pytest

from srcgrad.errors import UnsupportedSyntax
from srcgrad.refusals import entries
from srcgrad.runtime.refusals import RefusedMode, RefusedType, RefusedValue
from tests.directed import running
from tests.directed.refusals import REFUSED

MODES = {
    "reverse": lambda program: running.run_reverse(program, sink=True),
    "joint": running.run_joint,
    "beside": lambda program: running.run_reverse(program, sink=False),
    "generic": lambda program: running.run_reverse(program, sink=True, specialise=False),
    "forward": running.run_forward,
    "forward-generic": lambda program: running.run_forward(program, specialise=False),
    "forward-over-reverse": lambda program: running.run_second(program, "forward-over-reverse"),
    "forward-over-reverse-beside": lambda program: running.run_second(program, "forward-over-reverse", sink=False),
    "reverse-over-reverse": lambda program: running.run_second(program, "reverse-over-reverse"),
}
REFUSALS = (UnsupportedSyntax, RefusedMode, RefusedType, RefusedValue)
#: The themes of the design, run at every run both ways.
DESIGN = ("directed", "memory", "survive_stores", "worked_example")


def marks_of(number, program, mode):
    """The design at every run both ways, a quarter of it in the other modes of first order and an eighth at second;
    every other one of the other programs in reverse, or one of three of these forward; the rest at night."""
    is_design = program.theme in DESIGN
    if mode in ("reverse", "forward"):
        if is_design or number % 2 == 0 and (mode == "forward") == (number % 3 == 0):
            return []
        return [pytest.mark.nightly]
    every = 8 if "over" in mode else 4
    by_day = is_design and "beside" not in mode and number % every == 0
    return [pytest.mark.slow if by_day else pytest.mark.nightly]


def cases():
    for number, program in enumerate(running.PROGRAMS):
        gradient = running.has_a_gradient(program)
        for mode in MODES:
            if "over" in mode and program.order < 2 or not gradient and (mode == "joint" or "over" in mode):
                continue
            name = f"{program.theme}-{program.name}-{mode}"
            yield pytest.param(program, mode, id=name, marks=marks_of(number, program, mode))


def assert_placed(error):
    """A refusal has a code, and points at a line of the program, not of the compiler's own text."""
    assert error.code in entries(), error
    assert error.span is not None and "/tests/" in error.span.filename, f"{error.span and error.span.filename}: {error}"
    assert re.search(r"^ +\| *(… *)?\^+", str(error), re.MULTILINE), error


@pytest.mark.parametrize(("program", "mode"), list(cases()))
@pytest.mark.costly(72, first=1)
def test_mode(program, mode):
    name = program.function.__name__
    codes = REFUSED.get(name, "")
    try:
        MODES[mode](program)
    except REFUSALS as error:
        assert str(error.code) in codes, f"{name} is refused: {error}"
        assert_placed(error)


@pytest.mark.nightly
@pytest.mark.parametrize("name", REFUSED)
def test_refusal_is_true(name):
    (program,) = (program for program in running.PROGRAMS if program.function.__name__ == name)
    for mode in MODES:
        try:
            MODES[mode](program)
        except REFUSALS:
            return
    raise AssertionError(f"{name} is right in every mode: take it out of the table of refusals")


def test_every_refusal_is_of_a_program():
    names = {program.function.__name__ for program in running.PROGRAMS}
    assert {*REFUSED} <= names
