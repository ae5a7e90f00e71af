"""The eager machine on every directed program, against numbers: the compiler has no part in it."""

from __future__ import annotations

import pytest

from srcgrad import ArgumentError
from tests.directed import running
from tests.parameters import some_by_day


@pytest.mark.parametrize("program", running.PROGRAMS, ids=lambda program: f"{program.theme}-{program.name}")
def test_eager(program):
    reason = program.without.get("eager")
    if reason is None:
        running.run_eager(program)
        return
    with pytest.raises((ArgumentError, TypeError, NotImplementedError), match=reason):
        running.run_eager(program)


FOLLOWED = [program for program in running.PROGRAMS if "eager" not in program.without]
TWICE = [program for program in FOLLOWED if program.order >= 2 and running.has_a_gradient(program)]


@pytest.mark.slow
@pytest.mark.parametrize("program", some_by_day(TWICE, 12))
@pytest.mark.costly(7)
def test_eager_twice(program):
    reason = program.without.get("eager twice")
    if reason is None:
        running.run_eager_twice(program)
        return
    with pytest.raises(NotImplementedError, match=reason):
        running.run_eager_twice(program)


def test_there_are_enough():
    assert len({program.function for program in running.PROGRAMS}) >= 150
