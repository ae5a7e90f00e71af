"""Every program here is refused, and the refusal reads exactly as the text file beside it.

``NN_name.py`` holds a function ``f``; ``NN_name.txt`` what Python prints last.  ``pytest tests/refusals --bless``
writes the texts again.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import scipy.special  # noqa: F401 (its rules are loaded with it: no reason depends on what ran before)

import srcgrad
from srcgrad.errors import SrcgradError

HERE = Path(__file__).parent
PROGRAMS = sorted(HERE.glob("[0-9]*.py"))


def refuse(function: Callable[..., object]) -> str:
    """What Python prints of the exception that the compiler raises for ``function``; empty if it raises none."""
    try:
        _compile(function)
    except SrcgradError as error:
        return f"{type(error).__name__}: {error}\n"
    return ""


def _compile(function: Callable[..., object]) -> None:
    srcgrad.grad(function).source


def _load(path: Path) -> ModuleType:
    """The program, under its bare file name, so that the text does not depend on where the tests are."""
    text = path.read_text(encoding="utf-8")
    linecache.cache[path.name] = (len(text), None, text.splitlines(keepends=True), path.name)
    module = ModuleType(path.stem)
    exec(compile(text, path.name, "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_refusal(path: Path, request: pytest.FixtureRequest) -> None:
    text = refuse(_load(path).f)
    assert text, f"{path.name} is not refused"
    expected = path.with_suffix(".txt")
    if request.config.getoption("--bless", default=False):
        expected.write_text(text, encoding="utf-8")
    assert expected.exists(), f"{expected.name} is missing; pytest --bless writes it:\n{text}"
    assert text == expected.read_text(encoding="utf-8")


def test_every_text_has_its_program() -> None:
    assert {path.stem for path in HERE.glob("[0-9]*.txt")} == {path.stem for path in PROGRAMS}


def test_every_refusal_shows_the_line_and_a_hint() -> None:
    for path in HERE.glob("[0-9]*.txt"):
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^  {re.escape(path.stem)}\.py:\d+, in \S", text, re.MULTILINE), path.name
        assert re.search(r"^ +\| *(… *)?\^+", text, re.MULTILINE), path.name
        assert "\n  hint: " in text, path.name
        assert max(map(len, text.splitlines())) <= 125, path.name


def test_what_is_admitted_is_not_refused() -> None:
    def admitted(x):  # type: ignore[no-untyped-def]
        return x * x

    assert refuse(admitted) == ""
