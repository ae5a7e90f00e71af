"""Breakpoints in the file of a differentiated function stop when the forward sweep runs that line."""

from __future__ import annotations

import bdb
import inspect
import io
import pdb  # noqa: T100 (what is tested)
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests.observe import programs


def scaled(u, k):  # type: ignore[no-untyped-def]
    t = np.sin(u)
    return t * k


def rounds(x, n):  # type: ignore[no-untyped-def]
    s = x
    for i in range(n):
        u = scaled(s, 2.0)
        if i > 0:
            u = 3.0 * u
        s = u * x + s / 3.0
    return s


def quotient(x, y):  # type: ignore[no-untyped-def]
    z = x / y
    return z * z


def at(function: Callable[..., Any], text: str) -> int:
    """The line of the function that holds a text."""
    lines, first = inspect.getsourcelines(function)
    return next(first + k for k, line in enumerate(lines) if text in line)


class Debugger(bdb.Bdb):
    """Notes each stop."""

    def __init__(self) -> None:
        super().__init__()
        self.stops: list[tuple[str, int, dict[str, Any]]] = []

    def user_line(self, frame: FrameType) -> None:
        if self.break_here(frame):
            self.stops.append((frame.f_code.co_name, frame.f_lineno, dict(frame.f_locals)))
        self.set_continue()


def stops(call: Callable[[], Any], *lines: int, file: str = __file__) -> list[tuple[str, int, dict[str, Any]]]:
    debugger = Debugger()
    for line in lines:
        assert debugger.set_break(file, line) is None
    try:
        with srcgrad.options(debug=True):
            debugger.runcall(call)
    finally:
        debugger.clear_all_breaks()
    return debugger.stops


CALLS = {
    "grad": lambda: srcgrad.grad(rounds)(0.5, 2),
    "value_and_grad": lambda: srcgrad.value_and_grad(rounds)(0.5, 2),
    "vjp": lambda: srcgrad.vjp(rounds, 0.5, 2, argnums=0)[1](1.0),
    "jvp": lambda: srcgrad.jvp(rounds, (0.5, 2), (1.0, None)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_line_of_a_loop_a_branch_and_a_callee(call: Callable[[], Any]) -> None:
    found = stops(call, at(rounds, "3.0 * u"), at(scaled, "np.sin"))
    assert [(name, line) for name, line, _ in found] == [
        ("scaled", at(scaled, "np.sin")), ("scaled", at(scaled, "np.sin")), ("rounds", at(rounds, "3.0 * u")),
    ]  # fmt: skip
    assert found[0][2]["u"] == 0.5 and found[2][2]["i"] == 1


def test_lines_that_the_gradient_does_not_need() -> None:
    lines = at(quotient, "x / y"), at(quotient, "z * z")
    assert [line for _, line, _ in stops(lambda: srcgrad.grad(quotient)(1.0, 2.0), *lines)] == [*lines]


def elsewhere(v):  # type: ignore[no-untyped-def]
    return programs.helper(v) * 2.0


def test_a_callee_in_another_file() -> None:
    line = at(programs.helper, "np.sqrt")
    found = stops(lambda: srcgrad.grad(elsewhere)(3.0 * np.ones(2)), line, file=str(programs.__file__))
    assert [(name, line) for name, line, _ in found] == [("helper", line)]


@pytest.mark.parametrize("second", [srcgrad.hessian, lambda f: srcgrad.grad(srcgrad.grad(f))], ids=["over", "reverse"])
def test_derivatives_are_the_same(second: Callable[..., Any]) -> None:
    with srcgrad.options(debug=True):
        stopping = srcgrad.grad(rounds)(0.5, 2), second(rounds)(0.5, 2)
    np.testing.assert_allclose(stopping, (srcgrad.grad(rounds)(0.5, 2), second(rounds)(0.5, 2)), rtol=1e-12)


def test_pdb_breaks_at_a_function_and_prints_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCGRAD_TRACEBACK", raising=False)
    said = io.StringIO()
    asked = io.StringIO(f"break {__file__}:{at(rounds, 's = u * x')}\ncontinue\np u, i\nwhere\nclear 1\ncontinue\n")
    debugger = pdb.Pdb(stdin=asked, stdout=said, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    with srcgrad.options(debug=True):
        debugger.runcall(lambda: srcgrad.grad(rounds)(0.5, 2))
    text = said.getvalue()
    assert f"{__file__}({at(rounds, 's = u * x')})rounds()" in text
    assert "-> s = u * x + s / 3.0" in text and ", 0)" in text


def test_a_failure_has_its_note_and_its_line() -> None:
    with srcgrad.options(debug=True), pytest.raises(ZeroDivisionError) as caught:
        srcgrad.grad(quotient)(1.0, 0.0)
    assert any(note.startswith("while computing ") and "x / y" in note for note in caught.value.__notes__)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (__file__, at(quotient, "x / y"), "quotient")
