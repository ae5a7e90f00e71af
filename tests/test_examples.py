"""What readers copy works: README's example, examples/, docstrings, and the benchmark's yardsticks."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from benchmarks.cases import cases
from benchmarks.compile_time import straight_line
from tests.parameters import for_each

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(found.name for found in pkgutil.walk_packages(srcgrad.__path__, "srcgrad."))
MODULES.remove("srcgrad.__main__")


def blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def test_readme_shows_the_example_and_the_code_generated_from_it(bless):
    example, generated = blocks(README)[:2]
    assert example.strip() in (ROOT / "examples" / "first.py").read_text(encoding="utf-8")
    assert len(example.strip().splitlines()) <= 10
    command = [sys.executable, "-m", "srcgrad", "show", "examples/first.py:f"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if bless:
        updated = README.replace(f"```python\n{generated}```", f"```python\n{shown}```", 1)
        (ROOT / "README.md").write_text(updated, encoding="utf-8")
    else:
        assert generated == shown


def test_the_other_programs_of_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "readme.py"
    program.write_text("\n\n".join([*blocks(README)[:1], *blocks(README)[2:]]), encoding="utf-8")
    runpy.run_path(str(program), run_name="readme")
    assert "tensor([-1., -1., -1.])" in capsys.readouterr().out


def test_readme_has_the_two_commands_each_on_one_line():
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv ")]
    assert [("srcgrad demo" in line, "pytest" in line) for line in commands] == [(True, False), (False, True)]


def test_the_files_that_contributing_names_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name.rstrip("/") for name in re.findall(r"`([a-z_]+/[\w/*.]*)`", text)} - {"found"}  # what a hunt writes
    assert len(named) > 30
    places = [ROOT, ROOT / "srcgrad"]
    assert [name for name in sorted(named) if not any([*place.glob(name)] for place in places)] == []


def test_the_lynx_and_hare_example_finds_the_optimum():
    result = runpy.run_path(str(ROOT / "examples" / "lynx_hare.py"))
    assert result["minimum"].value == pytest.approx(2.0187, abs=5e-5)


@for_each(MODULES)
def test_the_examples_in_docstrings_are_true(name):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        if example.examples:  # a run looks through every file that has been read, even for a docstring without any
            runner.run(example)
    assert runner.summarize().failed == 0


def directional(case, direction, step):
    """The central difference of the program along ``direction``, one array per differentiated argument."""
    values = []
    for sign in (1.0, -1.0):
        arguments = list(case.arguments)
        for number, part in direction.items():
            arguments[number] = arguments[number] + sign * step * part
        values.append(case.program(*arguments))
    return (values[0] - values[1]) / (2.0 * step)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_hand_written_adjoint_is_the_gradient(case):
    """Along random directions, each argument by itself."""
    rng = np.random.default_rng(5)
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    gradient = case.handwritten(*case.arguments)
    gradient = dict(zip(argnums, gradient if isinstance(case.argnums, tuple) else (gradient,), strict=True))
    for number in argnums:
        part = rng.normal(size=np.shape(case.arguments[number]))
        # Richardson's extrapolation leaves an error of the fourth order
        coarse, fine = (directional(case, {number: part}, step) for step in (2e-5, 1e-5))
        assert np.sum(gradient[number] * part) == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-6)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_compiled_gradient_is_the_hand_written_one(case):
    found = srcgrad.grad(case.program, case.argnums)(*case.arguments)
    expected = case.handwritten(*case.arguments)
    pairs = [(found, expected)] if isinstance(case.argnums, int) else zip(found, expected, strict=True)
    for left, right in pairs:
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)


def test_the_straight_line_program_has_as_many_statements_as_it_says():
    namespace: dict[str, object] = {}
    text = straight_line(160)
    exec(text, namespace)
    assert len(re.findall(r"^    v\d+ = ", text, flags=re.MULTILINE)) == 160
    assert np.isfinite(namespace["f"](0.5, 0.25))
