"""Programs that are kept do all that compiled ones do, and compute the same to the last bit in another process."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad
from srcgrad.api import compiling
from srcgrad.api.kept import Variant
from tests.cache.asked import in_a_process
from tests.cache.project import Project
from tests.corpus import CASES

#: What makes classes when it is compiled, which no other process has: these are compiled there again.
MADE_MEANWHILE = frozenset("named_tuples_made_inside object_chosen_by_a_test with_return_in".split())
NAMES = [case.name for case in CASES]
MODEL = """
import numpy as np

RATES = np.array([1.0, 2.0])


def check(x):
    if np.any(x > 100.0):
        raise ValueError("too large")
    return x


def loss(x, y):
    total = 0.0
    for rate in RATES:
        total = total + rate * np.sum(check(x) * y)
    return total


def lengths(x):
    return np.sum(x[:2] * np.ones(3))
"""
X, Y = np.array([0.5, 1.5]), np.array([2.0, 3.0])


def compare(names: list[str], folder: Any) -> None:
    first = in_a_process(names, folder)
    second = in_a_process(names, folder, PYTHONHASHSEED="7")
    assert [name for name in names if first[name][0] != second[name][0]] == []
    assert {name for name in names if second[name][1]} <= MADE_MEANWHILE
    assert all(first[name][1] for name in names)


def test_a_slice_of_the_corpus(tmp_path) -> None:
    compare(NAMES[5::60], tmp_path / "cache")


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(4))
def test_the_corpus(tmp_path, start: int) -> None:
    compare(NAMES[start::4], tmp_path / "cache")


def loaded(project: Project) -> tuple[Any, Any]:
    """The module and a gradient that was called once, with a program that was kept."""
    project.write(model=MODEL)
    assert project.asks(lambda m: grad(m.loss)(X, Y))[1]
    module = project.read()
    gradient = grad(module.loss)
    project.compiled.clear()
    gradient(X, Y)
    assert not project.compiled
    return module, gradient


def test_what_there_is_to_see(project: Project) -> None:
    module, gradient = loaded(project)
    another = copy.copy(gradient)
    assert gradient.source == another.source_for(X, Y) and not project.compiled
    assert "def grad_loss" in gradient.source or "def loss_fwd" in gradient.source
    places = {span.place for span in gradient.line_map.values()}
    assert any(place.endswith("model.py:15") for place in places)
    assert "np.sum" in str(gradient.explain())
    assert "loss" in gradient._repr_html_() and project.compiled  # its stages are compiled for it
    assert "loss" in str(gradient.profile(X, Y))


def test_what_fails_shows_the_users_lines(project: Project, monkeypatch) -> None:
    monkeypatch.setenv("SRCGRAD_TRACEBACK", "")
    module, gradient = loaded(project)
    with pytest.raises(ValueError, match="too large") as caught:
        gradient(X * 1000.0, Y)
    assert not project.compiled
    shown = "".join(traceback.format_exception(caught.value))
    assert 'raise ValueError("too large")' in shown and "model.py" in shown
    assert any("while computing model.py" in note for note in caught.value.__notes__)
    monkeypatch.setenv("SRCGRAD_TRACEBACK", "full")
    with pytest.raises(ValueError, match="too large") as caught:
        gradient(X * 1000.0, Y)
    shown = "".join(traceback.format_exception(caught.value))
    assert "<srcgrad model.loss:" in shown and "  # model.py:9" in shown  # the text of emitted lines is found


def test_what_is_pickled(project: Project) -> None:
    module, gradient = loaded(project)
    assert pickle.loads(pickle.dumps(gradient))(X, Y).tolist() == gradient(X, Y).tolist()
    project.asks(lambda m: srcgrad.vjp(m.loss, X, Y))
    module = project.read()
    project.compiled.clear()
    _, pullback = srcgrad.vjp(module.loss, X, Y)
    assert not project.compiled
    assert pickle.loads(pickle.dumps(pullback))(1.0)[0].tolist() == pullback(1.0)[0].tolist()


def test_derivatives_of_what_is_kept(project: Project) -> None:
    """The text of a program from the cache is differentiated like any other."""
    module, gradient = loaded(project)
    second = grad(lambda x: np.sum(gradient(x, Y) ** 2 * x))
    np.testing.assert_allclose(second(X), (3.0 * Y) ** 2)  # the rates are 1 and 2
    assert project.compiled


def test_which_program_asks_for_the_dimensions(project: Project) -> None:
    """What runs only for some values is checked by a kept program as well."""
    project.write(model=MODEL)
    with pytest.raises(ValueError):
        project.asks(lambda m: grad(m.lengths)(np.ones(2)))
    with pytest.raises(ValueError):
        project.asks(lambda m: grad(m.lengths)(np.ones(2)))
    assert not project.compiled


def test_debugging_keeps_nothing(project: Project) -> None:
    project.write(model=MODEL)
    for options in ({"debug": True}, {"finite": True}):
        with srcgrad.options(**options):
            assert project.asks(lambda m: grad(m.loss)(X, Y))[1]
            assert project.asks(lambda m: grad(m.loss)(X, Y))[1]
    assert not project.entries()


class Terminal:
    def __init__(self, is_terminal: bool) -> None:
        self.is_terminal, self.told = is_terminal, ""

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> None:
        self.told += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("is_terminal", "asked"), [(True, ""), (False, ""), (True, "off")])
def test_progress(project: Project, monkeypatch, is_terminal: bool, asked: str) -> None:
    import time

    terminal = Terminal(is_terminal)
    monkeypatch.setenv("SRCGRAD_CACHE", "off")
    monkeypatch.setenv("SRCGRAD_PROGRESS", asked)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(compiling.sys, "stderr", terminal)
    monkeypatch.setattr(compiling, "AFTER", 0.05)

    def slow(*_: Any) -> Any:
        with compiling.progress(compare):  # one line is enough
            time.sleep(0.3)
        return None

    project.write(model=MODEL)
    monkeypatch.setattr(compiling, "compiled", slow)
    loss = project.read().loss
    compiling.kept_or_compiled(grad(loss), loss, (X, Y), Variant("reverse"))
    shown = "srcgrad: compiling loss (model.py:13) ..."
    assert terminal.told == (f"{shown}\r\x1b[2K" if is_terminal and not asked else "")


def test_what_compiles_fast_says_nothing(monkeypatch) -> None:
    terminal = Terminal(True)
    monkeypatch.setattr(compiling.sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with compiling.progress(compare):
        pass
    assert terminal.told == ""
