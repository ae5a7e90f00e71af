"""Random programs that only bind names, under hypothesis, and those that once failed.

Profiles: ``ci`` (the default, 10 programs, the same each time), ``dev``, and ``nightly``:
``pytest tests/test_generated.py --hypothesis-profile=nightly`` (5,000 programs); ``srcgrad fuzz`` hunts faster,
without hypothesis, and with stores, views, containers, objects and closures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from srcgrad.fuzz import FUNCTIONAL, Check, Outcome, Plan, RandomChoices, judge, program
from srcgrad.fuzz.hunt import Finding, regression
from tests.parameters import at_night

T = TypeVar("T")
MODES = ("joint", "pair", "forward")


class DrawnChoices:
    """Decisions that hypothesis draws, and shrinks towards the simplest outcome (``srcgrad.fuzz.Choices``)."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def chance(self, percent: int) -> bool:
        return int(self.draw(st.integers(0, 99))) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.draw(st.integers(0, len(options) - 1)))]


@st.composite
def programs(draw: Any) -> str:
    """The text of a random program; its decisions shrink towards few and short statements."""
    return program(DrawnChoices(draw), FUNCTIONAL, longest=12).text


def judged(number: int, plan: Plan) -> str:
    """Nothing, or the regression test that the program of this number has to become."""
    text = program(RandomChoices(number), FUNCTIONAL, longest=12).text
    outcome = judge(text, plan)
    return "" if is_right(outcome) or outcome.kind == "unsuitable" else found(number, text, outcome, plan)


def is_right(outcome: Outcome) -> bool:
    """Whether every mode agrees with numbers; programs that only bind names are refused in none."""
    return outcome.kind == "agrees" and not outcome.refusals


def found(number: int, text: str, outcome: Outcome, plan: Plan) -> str:
    return regression(Finding(number, outcome, plan, text, text))


# --- the compiler ----------------------------------------------------------------------------------------------------
@pytest.mark.slow
@given(programs())
def test_random_program(text):
    plan = Plan(tuple(map(Check, MODES)))
    outcome = judge(text, plan)
    assume(outcome.kind != "unsuitable")
    if not is_right(outcome):
        note(found(0, text, outcome, plan))
    assert is_right(outcome), f"{outcome} {outcome.refusals}"


@pytest.mark.slow
@pytest.mark.parametrize("count", [5, at_night(20)])
@pytest.mark.parametrize("option", ["optimise", "specialise"])
@pytest.mark.costly(1)
def test_random_programs_without_help(option, count):
    """Without the optimizer, and without anything known about the arguments."""
    plan = Plan(tuple(Check(mode, (option,)) for mode in MODES))
    for number in range(70_000, 70_000 + count):
        assert not judged(number, plan)


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, at_night(15)])
def test_random_programs_at_second_order(count):
    plan = Plan((Check("second"), Check("reverse over reverse")))
    for number in range(80_000, 80_000 + count):
        assert not judged(number, plan)


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, at_night(40)])
def test_random_programs_over_a_batch(count):
    plan = Plan((Check("batched"), Check("one sweep")))
    for number in range(90_000, 90_000 + count):
        assert not judged(number, plan)


@pytest.mark.slow
def test_programs_run_eagerly():
    """Against numbers: the compiler has no part in either."""
    told = 0
    for number in range(10_000, 10_080):
        text = program(RandomChoices(number), FUNCTIONAL, longest=12).text
        outcome = judge(text, Plan((Check("eager"),)))
        assert outcome.kind in ("agrees", "unsuitable"), f"{outcome}\n{text}"
        told += outcome.kind == "agrees" and not outcome.left_out
    assert told > 60


# --- programs that once failed ---------------------------------------------------------------------------------------


def test_a_closure_called_for_its_value_only(ask):
    ask("""
    def f(a, b, x, y, m):
        h = lambda r: r * b
        if h(a) > 0.1:
            return a * x
        return b * x
    """)


def test_a_closure_that_ignores_its_argument(ask):
    ask("""
    def f(a, b, x, y, m):
        h = lambda r: y[1]
        u = h(b)
        return u * a
    """)


def test_the_smaller_of_two_scalars_scales_a_vector(ask):
    ask("""
    def f(a, b, x, y, m):
        s = min(a, b) * x
        return s
    """)


def test_the_smaller_of_two_scalars_is_broadcast(ask):
    ask("""
    def g0(c0, r1):
        return (np.sum(r1), c0)

    def f(a, b, x, y, m):
        q, y = g0(y, y)
        p = m.reshape(4) - min(q, a)
        return np.sum(p)
    """)


def test_a_return_out_of_an_endless_loop_twice_differentiated(ask):
    ask.twice("""
    def f(a, b, x, y, m):
        while True:
            return np.sum(y) ** 2
    """)


def test_a_recorded_branch_before_a_return_in_a_loop(ask):
    ask("""
    def f(a, b, x, y, m):
        k = np.zeros(4)
        count = 0
        while True:
            if count % 2 == 0:
                m = np.tanh(m + np.outer(k[:2], y[2:]))
            return np.sum(x) + np.sum(k) + np.sum(m)
    """)


def test_a_branch_of_the_second_pass_then_a_return(ask):
    ask.twice("""
    def f(a, b, x, y, m):
        count = 0
        while count < 3:
            count += 1
            if count % 2 == 1:
                b, a = a, np.tanh(a)
                if b * b > b:
                    s = np.tanh(np.array([a, np.tanh(a), 0.6 * b, 0.6 * a]))
                    return np.sum(y) + np.sum(m) + np.sum(s)
            else:
                y = y * (x * x)
        return b + np.sum(y)
    """)


def test_a_name_bound_under_a_flag_twice_differentiated(ask):
    ask.twice("""
    def f(a, b, x, y, m):
        u = np.tanh(np.sin(x))
        count = 0
        while True:
            count += 1
            if count > 2:
                break
            flag = a < x[0] and b < 0.5
            if flag:
                only = np.cumsum(u) + m.reshape(4)
            if flag:
                x = np.sin(x * only)
        return np.sum(x) + np.sum(m) + np.sum(u)
    """)


def test_an_early_return_in_one_branch_twice_differentiated(ask):
    ask.twice("""
    def f(a, b, x, y, m):
        p = 0.9
        if p - b > p and a < 2:
            a *= min(b, a)
        else:
            x = x * (x + y)
            if not -b > a:
                return np.sum(y) + np.sum(m) + p
        return x @ x
    """)
