"""What a traceback shows of a failure: the user's lines, and nothing of what lies between them.

Enters: an exception at a door of the API.  Leaves: the same exception, its chain and its notes.  Its traceback has lost
srcgrad's own frames, and a frame of emitted text has become one at the line of the user's that the text is made from,
with the variables of the emitted frame.  ``SRCGRAD_TRACEBACK=full`` leaves tracebacks as they are.

The frames of the user's lines are made as Jinja's are (``jinja2.debug``): a frame cannot be changed, but code that is
compiled with the place of another text has a frame that is shown as that text.
"""

from __future__ import annotations

import ast
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, wraps
from types import CodeType, FrameType, TracebackType
from typing import ParamSpec, TypeVar

from srcgrad.errors import InternalError, Span

P = ParamSpec("P")
T = TypeVar("T")

_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_PYTHON = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")


def door(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the API: what it raises shows the user's frames.

    What has to be fast says the same by itself: ``except Exception as failure: hide_frames(failure); raise``.
    """

    @wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as failure:
            hide_frames(failure)
            raise  # which puts no frame of this function in front again

    return entered


def hide_frames(failure: BaseException) -> None:
    """Leave the user's frames in the traceback of ``failure``, and of what it was raised from."""
    if os.environ.get("SRCGRAD_TRACEBACK") == "full":
        return
    for one in _chain(failure):
        one.__traceback__ = _of_users(one.__traceback__)


def _chain(failure: BaseException) -> Iterator[BaseException]:
    """An exception and those that it was raised from or while; of our own faults not what they report."""
    pending: list[BaseException | None] = [failure]
    seen = set[int]()
    while pending:
        one = pending.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if not isinstance(one, InternalError):
            pending += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions


def _of_users(traceback: TracebackType | None) -> TracebackType | None:
    entries: list[TracebackType] = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    after: TracebackType | None = None
    is_below_ours = False  # whether the entry called one of ours
    for entry in reversed(entries):
        filename = entry.tb_frame.f_code.co_filename
        was_ours, is_below_ours = is_below_ours, False
        if filename.startswith(_OURS):
            is_below_ours = True
        elif was_ours and filename.startswith(_PYTHON) and "site-packages" not in filename:
            is_below_ours = True  # a decorator of the standard library's around a function of ours
        else:
            after = _with_place(entry, after)
    return after


def _with_place(entry: TracebackType, after: TracebackType | None) -> TracebackType | None:
    frame = entry.tb_frame
    spans: Mapping[int, Span] | None = frame.f_globals.get("__srcgrad_line_map__")
    if spans is None or not frame.f_code.co_filename.startswith("<srcgrad "):
        return TracebackType(after, frame, entry.tb_lasti, entry.tb_lineno)
    span = place_of(spans, entry.tb_lineno)
    if span is None:
        return after if after is not None else TracebackType(after, frame, entry.tb_lasti, entry.tb_lineno)
    while span is not None:
        at, instruction = _frame_at(span, frame)
        after, span = TracebackType(after, at, instruction, span.line), span.caller
    return after


def place_of(spans: Mapping[int, Span], line: int) -> Span | None:
    """The user's place of a line of emitted text: its own, or that of the nearest line above.

    Where a model of ours is written out, it is the next place behind it that is not ours: the statement with the call.
    """
    lines = sorted(spans)
    at = max(bisect_right(lines, line) - 1, 0)
    found = (spans[one] for one in lines[at:] if not spans[one].filename.startswith(_OURS))
    span = next(found, None)
    return span if span is not None and span.known else None


def _frame_at(span: Span, frame: FrameType) -> tuple[FrameType, int]:
    """A frame that stands at the place, with the variables of another one."""
    made: list[tuple[FrameType, int]] = []

    def note() -> None:
        caller = sys._getframe(1)
        made.append((caller, caller.f_lasti))

    exec(_code_at(span), frame.f_globals, {**frame.f_locals, _NOTE: note})
    made[0][0].f_locals.pop(_NOTE, None)
    return made[0]


_NOTE = "__srcgrad_note__"


@lru_cache(maxsize=256)
def _code_at(span: Span) -> CodeType:
    """Code that calls ``_NOTE`` at the place."""
    lines = span.text.split("\n")
    end = span.end_column if span.end_line > span.line or span.end_column > span.column else len(lines[0])
    place = {
        "lineno": span.line, "end_lineno": max(span.end_line, span.line),
        "col_offset": len(lines[0][: span.column].encode()), "end_col_offset": len(lines[-1][:end].encode()),
    }  # fmt: skip
    call = ast.Call(ast.Name(_NOTE, ast.Load(), **place), [], [], **place)
    code = compile(ast.Module([ast.Expr(call, **place)], []), span.filename, "exec", dont_inherit=True)
    return code.replace(co_name=span.function, co_qualname=span.function)
