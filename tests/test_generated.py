"""Random programs under hypothesis, and those that once failed.

Profiles: ``ci`` (the default, 200 programs, the same each time), ``dev``, and ``nightly``:
``pytest tests/test_generated.py --hypothesis-profile=nightly`` (5,000 programs); ``srcgrad fuzz`` hunts faster,
without hypothesis, and with stores, views, containers, objects and closures.
"""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from tests import oracle
from tests.generator import DrawnChoices, RandomChoices, Unsuitable, judge, program, regression, shrink
from tests.generator.agreement import EVERY, POINT, load, truth


@st.composite
def programs(draw: Any) -> str:
    """The text of a random program; its decisions shrink towards few and short statements."""
    return program(DrawnChoices(draw))


def agree(text: str, modes: tuple[str, ...] = ("reverse", "pair", "forward", "second")) -> None:
    """A regression test: the compiler agrees with numbers on the program."""
    verdict = judge(textwrap.dedent(text).lstrip(), modes, ("optimised", "plain", "generic"))
    assert verdict is None, str(verdict)


# --- the generator itself --------------------------------------------------------------------------------------------
def test_complex_step_agrees_with_differences():
    """The judge's truth, judged."""
    checked = 0
    for seed in range(40):
        text = program(RandomChoices(seed))
        try:
            exact = truth(text, POINT).jacobian
        except Unsuitable:
            continue
        with np.errstate(all="ignore"):
            try:
                numeric = oracle.jacobian(load(text), POINT, EVERY)
            except NameError:  # a neighbour takes another path
                continue
        scale = max(1.0, float(np.max(np.abs(exact))))
        if numeric.error < 1e-6 * scale:
            assert np.max(np.abs(numeric.value - exact)) < 1e-5 * scale, text
            checked += 1
    assert checked > 20


def test_programs_are_varied():
    """Most programs are suitable, and every construct is met often."""
    suitable, texts = 0, []
    for seed in range(200):
        texts.append(program(RandomChoices(seed)))
        try:
            truth(texts[-1], POINT)
            suitable += 1
        except Unsuitable:
            pass
    assert suitable > 180
    for construct in (ast.Break, ast.Continue, ast.While, ast.For, ast.IfExp, ast.Lambda, ast.Tuple, ast.Subscript):
        met = sum(any(isinstance(node, construct) for node in ast.walk(ast.parse(text))) for text in texts)
        assert met > 20, construct


def test_the_shrinker_finds_the_culprit():
    """Of a long program the statements that the predicate needs are left."""
    text = next(t for t in map(program, map(RandomChoices, range(100))) if "break" in t and "np.tanh" in t)

    def fails(candidate: str) -> bool:
        nodes = list(ast.walk(ast.parse(candidate)))
        return any(isinstance(node, ast.Break) for node in nodes) and "np.tanh" in candidate

    small = shrink(text, fails)
    assert fails(small)
    assert len(small.splitlines()) <= 8 < len(text.splitlines())


# --- the compiler ----------------------------------------------------------------------------------------------------
@given(programs())
def test_random_program(text):
    try:
        verdict = judge(text)
    except Unsuitable:
        assume(False)
    if verdict is not None:
        note(regression(text, verdict, "random_program"))
    assert verdict is None, str(verdict)


@pytest.mark.parametrize("setting", ["plain", "generic"])
def test_random_programs_without_help(setting):
    """Without the optimizer, and without anything known about the arguments."""
    for seed in range(70_000, 70_040):
        text = program(RandomChoices(seed))
        try:
            verdict = judge(text, ("reverse", "pair", "forward"), (setting,))
        except Unsuitable:
            continue
        assert verdict is None, regression(text, verdict, f"program_{seed}")


def test_random_programs_at_second_order():
    for seed in range(80_000, 80_030):
        text = program(RandomChoices(seed))
        try:
            verdict = judge(text, ("second",))
        except Unsuitable:
            continue
        assert verdict is None, regression(text, verdict, f"program_{seed}")


# --- programs that once failed ---------------------------------------------------------------------------------------


def test_a_closure_called_for_its_value_only():
    agree("""
    def f(a, b, x, y, m):
        h = lambda r: r * b
        if h(a) > 0.1:
            return a * x
        return b * x
    """)


def test_a_closure_that_ignores_its_argument():
    agree("""
    def f(a, b, x, y, m):
        h = lambda r: y[1]
        u = h(b)
        return u * a
    """)


def test_the_smaller_of_two_scalars_scales_a_vector():
    agree("""
    def f(a, b, x, y, m):
        s = min(a, b) * x
        return s
    """)


def test_the_smaller_of_two_scalars_is_broadcast():
    agree("""
    import numpy as np

    def g0(c0, r1):
        return (np.sum(r1), c0)

    def f(a, b, x, y, m):
        q, y = g0(y, y)
        p = m.reshape(4) - min(q, a)
        return np.sum(p)
    """)


def test_a_return_out_of_an_endless_loop_twice_differentiated():
    agree("""
    import numpy as np

    def f(a, b, x, y, m):
        while True:
            return np.sum(y) ** 2
    """)


def test_a_recorded_branch_before_a_return_in_a_loop():
    agree("""
    import numpy as np

    def f(a, b, x, y, m):
        k = np.zeros(4)
        count = 0
        while True:
            if count % 2 == 0:
                m = np.tanh(m + np.outer(k[:2], y[2:]))
            return np.sum(x) + np.sum(k) + np.sum(m)
    """)


def test_a_branch_of_the_second_pass_then_a_return():
    agree("""
    import numpy as np

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


def test_a_name_bound_under_a_flag_twice_differentiated():
    agree("""
    import numpy as np

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


def test_an_early_return_in_one_branch_twice_differentiated():
    agree("""
    import numpy as np

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
