"""The programs of ``srcgrad fuzz``, its judge, its shrinker and its command."""

from __future__ import annotations

import ast

import pytest

from srcgrad.fuzz import Check, Plan, RandomChoices, judge, program, shrink
from srcgrad.fuzz.grammar import FUNCTIONAL
from srcgrad.fuzz.hunt import Hunt, examine
from srcgrad.fuzz.numbers import Unsuitable, binds_twice, is_smooth, truth
from srcgrad.inspect.cli import main


def test_most_programs_run_and_are_tame():
    suitable = 0
    for seed in range(100):
        try:
            truth(program(RandomChoices(seed)).text)
            suitable += 1
        except Unsuitable:
            pass
    assert suitable > 92


def test_complex_step_agrees_with_differences():
    checked = 0
    for seed in range(60):
        text = program(RandomChoices(seed)).text
        try:
            found = truth(text)
        except Unsuitable:
            continue
        checked += found.exact and is_smooth(text, found)
    assert checked > 50


def test_the_complex_program_takes_the_same_path():
    """Two sums, equal but for rounding, were compared: the other branch was taken, and its derivative for the truth."""
    text = """
import numpy as np

def f(x):
    if np.iscomplexobj(x):
        return 0.5 + 0.0 * np.sum(x)
    return np.sum(x)
"""
    with pytest.raises(Unsuitable, match="takes another path"):
        truth(text)


def test_what_the_eager_library_refuses_may_be_caught():
    """A return in a last block takes the place of what was raised."""
    text = """
import numpy as np

def f(x, y):
    try:
        rows = np.outer(y, y)
        rows[:, 3] = rows[2]
        x[0] += 0.5
    finally:
        return np.sum(x)
"""
    assert not judge(text, Plan((Check("eager"),), None)).is_finding


def test_a_tuple_of_targets_that_names_one_variable_twice_is_known():
    assert binds_twice("def f(b):\n    b, b = (b, 2)") and not binds_twice("def f(a, b):\n    a, b = b, a")


def test_every_construct_is_met():
    """Each kind of store, view and container comes in some hundred programs."""
    met = {construct for seed in range(1600) for construct in program(RandomChoices(seed)).constructs}
    assert {"overlapping store", "masked store", "duplicate store", "fancy store", "out=", "copyto", "add.at"} <= met
    assert {"negative step view", "view or copy", "0-d view", "view of a view", "loop over rows"} <= met
    assert {"append", "item replaced", "dict.update", "item of a deque", "field replaced", "named tuple"} <= met
    assert {"closure that stores", "one argument given twice", "return out of a loop", "try", "recursion"} <= met
    assert {"place that a container holds", "iterator with a name", "set of places", "mask that is stored into"} <= met
    assert {"object outside of the function", "copy of a container of objects", "context manager of one's own"} <= met
    assert len(met) > 140


def test_functional_programs_store_nothing():
    for seed in range(100):
        tree = ast.parse(program(RandomChoices(seed), FUNCTIONAL).text)
        assert not any(isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)
                       for node in ast.walk(tree))  # fmt: skip


def test_functional_programs_are_varied():
    """Most say something, and every construct is met often."""
    texts = [program(RandomChoices(seed), FUNCTIONAL, longest=12).text for seed in range(100)]
    assert sum(judge(text, Plan(())).kind == "agrees" for text in texts) > 90
    for construct in (ast.Break, ast.Continue, ast.While, ast.For, ast.IfExp, ast.Lambda, ast.Tuple, ast.Subscript):
        met = sum(any(isinstance(node, construct) for node in ast.walk(ast.parse(text))) for text in texts)
        assert met > 10, construct


def test_a_wrong_derivative_is_told(monkeypatch):
    """A judge that never complains would be no judge: double every cotangent."""
    from srcgrad.fuzz import modes

    honest = modes.vjp

    def wrong(f, *args, **kwargs):
        value, pullback = honest(f, *args, **kwargs)
        return value, lambda seed: tuple(2.0 * part for part in pullback(seed))

    monkeypatch.setattr(modes, "vjp", wrong)
    text = "def f(a, b, x, y, m):\n    x[1] = a\n    return a * b\n"
    outcome = judge(text, Plan((Check("pair"),), (0, 1)))
    assert outcome.kind == "mismatch" and "wrong derivative" in outcome.detail


def test_what_is_refused_when_it_runs_is_no_finding():
    text = "import numpy as np\n\ndef f(a, b, x, y, m):\n    q = np.outer(y, y)\n"
    text += "    q.reshape(-1)[3:7] = q.reshape(-1)[0:10:3]\n    return a * q[0, 0]\n"
    outcome = judge(text, Plan((Check("pair"), Check("run again"))))
    assert outcome.kind == "refused" and [code for _, code, _ in outcome.refusals] == ["E0702"] * 2


def test_the_shrinker_keeps_what_the_fault_needs():
    text = next(t for t in (program(RandomChoices(k)).text for k in range(300)) if ".sort()" in t and "for " in t)
    small = shrink(text, lambda candidate: ".sort()" in candidate)
    assert ".sort()" in small and len(small.splitlines()) < 6


def test_the_shrinker_keeps_a_loop_and_what_leaves_it():
    texts = (program(RandomChoices(k), FUNCTIONAL, longest=12).text for k in range(100))
    text = next(t for t in texts if "break" in t and "np.tanh" in t)

    def fails(candidate: str) -> bool:
        nodes = list(ast.walk(ast.parse(candidate)))
        return any(isinstance(node, ast.Break) for node in nodes) and "np.tanh" in candidate

    small = shrink(text, fails)
    assert fails(small)
    assert len(small.splitlines()) <= 8 < len(text.splitlines())


@pytest.mark.parametrize("number", range(12))
@pytest.mark.costly(2, first=1)
def test_a_short_hunt_finds_nothing(number):
    judged = examine(Hunt(seconds=0.0), number)
    assert not judged.outcome.is_finding, f"{judged.outcome}\n{judged.text}"


def test_the_command(capsys):
    assert main(["fuzz", "--minutes", "1", "--jobs", "1", "--count", "3", "--seed", "3"]) == 0
    printed = capsys.readouterr().out
    assert "3 programs in" in printed and "coverage" in printed and "no findings" in printed
    assert main(["fuzz", "--jobs", "1", "--count", "1", "--seed", "3", "--modes", "forward,reverse over reverse"]) == 0
    with pytest.raises(SystemExit, match="--modes takes joint"):
        main(["fuzz", "--modes", "backward"])
    assert main(["fuzz", "--print", "3"]) == 0
    assert "def f(a, b, x, y, m" in capsys.readouterr().out
