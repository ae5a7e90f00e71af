"""Programs from the cache or the compiler, and what is said meanwhile.

Enters: a derivative, the function to compile and the values of a call.  Leaves: the program for them.  The compiler is
loaded where nothing is kept.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from srcgrad.api.arguments import kinds_of
from srcgrad.api.kept import Slot, Variant, is_made_per_call
from srcgrad.api.requesting import request_of
from srcgrad.api.sizes import pattern_of
from srcgrad.errors import LanguageError, MissingRule, UnsupportedSyntax

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative
    from srcgrad.programs import Compiled

AFTER = 2.0  # seconds after which it is said that something is compiled


def made(
    derivative: Derivative, function: Callable[..., Any], values: tuple[Any, ...] | None, variant: Variant, slot: Slot
) -> Compiled:
    """A new program, under the present options; ``slot`` is all that decides it besides the function."""
    from srcgrad.api.moved import keep_template, moved
    from srcgrad.programs import present, present_options

    options = present_options()
    is_watched = (options.debug or options.finite) and not variant.shown  # so that each operation is a statement
    is_for_others = values is not None and not (is_watched or variant.shown or is_made_per_call(slot))
    if is_for_others:
        found = moved(function, slot, partial(request_of, derivative, function, values, variant))
        if found is not None:
            return found
    with present(replace(options, optimise=options.optimise and not is_watched)):
        new = kept_or_compiled(derivative, function, values, variant)
    if is_for_others:
        keep_template(function, slot, new)
    if options.finite and not variant.shown:
        from srcgrad.observe.nonfinite import finite_checked

        new = finite_checked(new)
    elif is_watched:
        from srcgrad.observe.breakpoints import stopping

        new = stopping(new)
    return new


def kept_or_compiled(
    derivative: Derivative, function: Callable[..., Any], values: tuple[Any, ...] | None, variant: Variant
) -> Compiled:
    """The program for arguments like ``values``: from the cache, or from the compiler."""
    from srcgrad.cache.kept import question
    from srcgrad.programs import present, present_options

    options = present_options()
    asked, what = None, derivative.asked()
    is_portable = what is not None and not (variant.shown or variant.carried or options.debug or options.finite)
    if values is not None and is_portable:
        constants = derivative.parameters.constants(values, options.varying)
        told = [(n, v) for n, v in zip(derivative.parameters.names, values, strict=False) if n in constants]
        sizes = pattern_of(values) if options.sizes and options.specialise else None
        decides = replace(options, check=False)  # a check changes no program
        asked = question((variant.mode, variant.is_flat, repr(decides), what, kinds_of(values), sizes, tuple(told)))

    def again() -> Compiled:
        from srcgrad.faults import reported

        with present(options), progress(derivative.primal):
            return reported(compiled)(derivative, function, values, variant)

    if asked is not None and (kept := asked.answer(again)) is not None:
        return kept
    new = again()
    if asked is not None:
        asked.keep(new)
    return new


def compiled(
    derivative: Derivative, function: Callable[..., Any], values: tuple[Any, ...] | None, variant: Variant
) -> Compiled:
    """What the compiler gives; of a derivative whose flat text is refused, which is longer, for the text as it stands.
    """
    try:
        return _compiled(derivative, function, values, variant)
    except (UnsupportedSyntax, MissingRule):
        standing = derivative.function(values, of_flat=False)
        if standing is function:
            raise
    return _compiled(derivative, standing, values, variant)


def _compiled(
    derivative: Derivative, function: Callable[..., Any], values: tuple[Any, ...] | None, variant: Variant
) -> Compiled:
    """For the rule that the function has, else for its text."""
    from srcgrad.frontend.applying import applying, is_right_as_text
    from srcgrad.pipeline import compile_request

    request = request_of(derivative, function, values, variant)
    absent = [n for n, v in zip(derivative.parameters.names, values or (), strict=False) if v is None]
    applied = applying(derivative.primal, absent)  # the rule that it has, before its text
    if applied is None:
        return compile_request(request)
    try:
        return compile_request(replace(request, callee=replace(request.callee, function=applied)))
    except (LanguageError, MissingRule) as refusal:
        if refusal.span is not None and refusal.span.filename == applied.__code__.co_filename:
            refusal.place(derivative.span or refusal.span)  # the text that applies a rule is ours
        if not is_right_as_text(derivative.primal):
            raise
        try:
            return compile_request(request)
        except (LanguageError, MissingRule):
            raise refusal from None


_running = threading.local()


@contextmanager
def progress(function: Callable[..., Any]) -> Iterator[None]:
    """Where compiling takes long, a line on the standard error says what is compiled; it goes when that is done.

    Not where the standard error is no terminal, and not with ``SRCGRAD_PROGRESS=off``.
    """
    if getattr(_running, "is_on", False) or not _is_seen():
        yield
        return
    line = _Line(f"srcgrad: compiling {_named(function)} ...")
    timer = threading.Timer(AFTER, line.show)
    timer.daemon = True
    _running.is_on = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.end()
        _running.is_on = False


class _Line:
    """A line of a terminal that is shown once, and not when what it says is over."""

    def __init__(self, text: str) -> None:
        self._text, self._is_shown, self._is_over = text, False, False
        self._lock = threading.Lock()

    def show(self) -> None:
        with self._lock:
            if not self._is_over:
                self._is_shown = True
                _say(self._text)

    def end(self) -> None:
        with self._lock:
            self._is_over = True
            if self._is_shown:
                _say("\r\x1b[2K")


def _say(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):  # it was closed
        pass


def _is_seen() -> bool:
    if os.environ.get("SRCGRAD_PROGRESS", "").lower() in ("off", "0"):
        return False
    try:
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return False


def _named(function: Any) -> str:
    """``step (model.py:12)``"""
    while not hasattr(function, "__code__") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code, name = getattr(function, "__code__", None), getattr(function, "__qualname__", "a function")
    name = name.rsplit("<locals>.", 1)[-1]
    return name if code is None else f"{name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
