"""Exceptions that the compiler did not mean to raise, at its doors.

Enters: a function of the compiler.  Leaves: the same function; what it raises is a refusal, or an ``InternalError``
that carries the statement that was being compiled, with the exception as its cause.  The place is read off the frames
of the traceback, as a debugger would, so that no pass has to keep it.  Under the checks of ``spec.py``, with which the
tests run, the exception passes as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from srcgrad.errors import InternalError, Span, SrcgradError, UnsupportedSyntax
from srcgrad.frontend.source import Source
from srcgrad.programs import present_options

T = TypeVar("T")
P = ParamSpec("P")


def reported(door: Callable[P, T]) -> Callable[P, T]:
    """A door of the compiler that raises nothing but what srcgrad raises on purpose."""

    @wraps(door)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return door(*args, **kwargs)
        except SrcgradError:
            raise
        except RecursionError as error:
            refusal = _too_deep(error)
        except Exception as error:
            if present_options().check:
                raise
            raise _fault(error) from error
        raise refusal  # outside of ``except``: thousands of frames are no context of it

    return guarded


def _too_deep(error: RecursionError) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        "calls are nested too deep here, or without end, for them to be compiled",
        next(iter(_places(error)), None), code="E0208",
        hint="give what is called here a derivative rule with srcgrad.rule, or write it as a loop",
    )


def _fault(error: Exception) -> InternalError:
    places = _places(error)
    return InternalError(
        f"{type(error).__name__}: {error}",
        places[-1] if places else None,
        label="while this was compiled",
        hint="this is a fault of srcgrad, not of your program; please report it with the exception above",
    )


def _places(error: Exception) -> list[Span]:
    """The places in the user's text that the frames of a traceback are at work on, the outermost first: of statements,
    or where there is none of functions."""
    statements: list[Span] = []
    functions: list[Span] = []
    traceback = error.__traceback__
    while traceback is not None:
        for value in filter(_is_own, list(traceback.tb_frame.f_locals.values())):
            of_function = isinstance(value, Source) or hasattr(value, "parameters")
            span = value if isinstance(value, Span) else getattr(value, "span", None)
            if isinstance(value, Source):
                span = value.span()
            if isinstance(span, Span) and getattr(span, "line", None):  # one may be half made
                (functions if of_function else statements).append(span)
        traceback = traceback.tb_next
    return statements or functions


def _is_own(value: object) -> bool:
    """Whether an object is of a class of srcgrad's: those of a user may do anything when they are looked at."""
    return type(value).__module__.partition(".")[0] == "srcgrad"
