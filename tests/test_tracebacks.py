"""Tracebacks at the doors of the API show the user's frames, at the user's lines, and keep all else."""

from __future__ import annotations

import bdb
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import InternalError
from srcgrad.tracebacks import door, hide_frames


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCGRAD_TRACEBACK", raising=False)


def inner(w, i):  # type: ignore[no-untyped-def]
    half = 0.5 * w
    return half[i]


def outer(w, i):  # type: ignore[no-untyped-def]
    return inner(w, i) * w[0]


def callback(w):  # type: ignore[no-untyped-def]
    return srcgrad.grad(outer)(w, 7)[0]


def quotient(a, b):  # type: ignore[no-untyped-def]
    try:
        return a / b
    except ZeroDivisionError as error:
        raise ValueError("no quotient") from error


def generator(x):  # type: ignore[no-untyped-def]
    yield x


def frames(call: Callable[[], Any]) -> tuple[BaseException, list[traceback.FrameSummary]]:
    """What a call raises, and the frames below this one and the test."""
    try:
        call()
    except Exception as error:
        return error, list(traceback.extract_tb(error.__traceback__))[2:]
    raise AssertionError("nothing is raised")


@pytest.mark.parametrize(
    "call",
    [
        lambda: srcgrad.grad(outer)(np.ones(3), 7),
        lambda: srcgrad.value_and_grad(outer)(np.ones(3), 7),
        lambda: srcgrad.vjp(outer, np.ones(3), 7, argnums=0),
        lambda: srcgrad.jvp(outer, (np.ones(3), 7), (np.ones(3), None)),
        lambda: srcgrad.jacobian(outer)(np.ones(3), 7),
        lambda: srcgrad.hessian(outer)(np.ones(3), 7),
        lambda: srcgrad.hvp(outer)(np.ones(3), 7, np.ones(3)),
    ],
    ids=["grad", "value_and_grad", "vjp", "jvp", "jacobian", "hessian", "hvp"],
)
def test_the_lines_of_the_users_functions_stand_in_the_place_of_emitted_ones(call: Callable[[], Any]) -> None:
    error, below = frames(call)
    assert isinstance(error, IndexError)
    assert [(frame.filename, frame.name) for frame in below] == [(__file__, "outer"), (__file__, "inner")]
    assert [frame.line for frame in below] == ["return inner(w, i) * w[0]", "return half[i]"]
    assert any("`half[i]`" in note or "half[i]" in note for note in error.__notes__)


def test_a_derivative_inside_of_a_differentiated_function() -> None:
    _, below = frames(lambda: srcgrad.grad(callback)(np.ones(3)))
    assert [frame.name for frame in below] == ["callback", "outer", "inner"]


def test_the_columns_of_the_operation_are_known() -> None:
    _, below = frames(lambda: srcgrad.grad(outer)(np.ones(3), 7))
    assert below[-1].line is not None and below[-1].colno is not None
    assert "    return half[i]"[below[-1].colno : below[-1].end_colno].endswith("half[i]")


def test_a_debugger_finds_the_variables() -> None:
    error, _ = frames(lambda: srcgrad.grad(outer)(np.ones(3), 7))
    stack, at = bdb.Bdb().get_stack(None, error.__traceback__)
    frame, line = stack[at]
    assert (frame.f_code.co_filename, line) == (__file__, inner.__code__.co_firstlineno + 2)
    np.testing.assert_array_equal(frame.f_locals["half"], [0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    "call",
    [
        lambda: srcgrad.grad(generator)(1.0),
        lambda: srcgrad.grad(generator).source,
        lambda: srcgrad.grad(outer, "wieght"),
        lambda: srcgrad.grad(outer)(3, 0),
        lambda: srcgrad.grad(outer)(np.ones(3)),
        lambda: srcgrad.vjp(outer),
        lambda: srcgrad.jvp(outer, np.ones(3), np.ones(3)),
        lambda: srcgrad.vjp(outer, np.ones(3), 0, argnums=0)[1](np.ones(2)),
        lambda: srcgrad.hessian(np.ones(3)),
        lambda: srcgrad.check_grads(outer, np.ones(3), 7),
    ],
)  # fmt: skip
def test_a_refusal_ends_at_the_users_call(call: Callable[[], Any]) -> None:
    _, below = frames(call)
    assert {frame.filename for frame in below} <= {__file__}
    assert len(below) <= 2


def test_all_frames_are_shown_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCGRAD_TRACEBACK", "full")
    _, below = frames(lambda: srcgrad.grad(outer)(np.ones(3), 7))
    names = [frame.filename for frame in below]
    assert any(name.endswith("derivative.py") for name in names) and any(name.startswith("<srcgrad") for name in names)


def test_a_chain_of_exceptions_is_kept_and_cleaned() -> None:
    error, below = frames(lambda: srcgrad.grad(quotient)(1.0, 0.0))
    assert isinstance(error, ValueError) and isinstance(error.__cause__, ZeroDivisionError)
    assert [frame.name for frame in below] == ["quotient"]
    assert {frame.filename for frame in traceback.extract_tb(error.__cause__.__traceback__)} <= {__file__}


def test_a_fault_of_ours_shows_the_exception_it_reports_whole() -> None:
    @door
    def compiled() -> None:
        try:
            srcgrad.errors.Span.unknown().code.no_such_attribute  # type: ignore[attr-defined]
        except AttributeError as error:
            raise InternalError("a fault", stage="emit") from error

    error, _ = frames(compiled)
    assert error.__cause__ is not None and error.__cause__.__traceback__ is not None


def test_an_exception_that_was_never_raised() -> None:
    failure = ValueError()
    failure.__cause__ = failure
    hide_frames(failure)
    assert failure.__traceback__ is None


def test_what_is_raised_again_is_the_same_object() -> None:
    failure = KeyError("k")

    @door
    def fails() -> None:
        raise failure

    error, _ = frames(fails)
    assert error is failure and sys.exc_info() == (None, None, None)
