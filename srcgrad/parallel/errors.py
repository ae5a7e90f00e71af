"""What goes wrong between a client and its workers, each with the shard that it concerns.

Enters: an exception, caught where it was raised.  Leaves: a ``Failure`` that can be pickled whatever the exception
holds, and on the client the ``ShardError`` made of it, with the exception as its cause where that could be pickled.
"""

from __future__ import annotations

import linecache
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from srcgrad.errors import Span, SrcgradError, render
from srcgrad.language.folders import is_installed
from srcgrad.runtime.refusals import Refused


class ShardError(SrcgradError):
    """A shard failed; ``shard`` is its position, counted from 0, or None where it concerns several."""

    def __init__(
        self,
        reason: str,
        span: Span | None = None,
        *,
        code: str | None = None,
        label: str | None = None,
        hint: str | None = None,
        shard: int | None = None,
    ) -> None:
        super().__init__(reason, span, code=code, label=label, hint=hint)
        self.shard = shard

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its cause, which exceptions otherwise leave behind."""
        return _remade, (type(self), self.reason, dict(vars(self)), self.__cause__ and _pickled(self.__cause__))


def _remade(kind: type[ShardError], reason: str, state: dict[str, Any], cause: bytes | None) -> ShardError:
    error = kind(reason)
    vars(error).update(state)
    error.__cause__ = _read(cause)
    return error


class ShardTimeout(ShardError, TimeoutError):
    """A shard took longer than its time limit."""

    def __str__(self) -> str:  # OSError, of which TimeoutError is one, has a text of its own
        return render(self.reason, self.span, self.label, self.hint, self.code)


class SendingError(SrcgradError, TypeError):
    """Something cannot be sent to the workers, or a worker cannot read it."""


class WorkerLost(SrcgradError, RuntimeError):
    """Workers died more often than a run survives."""


class EnvironmentWarning(UserWarning):
    """Workers differ in what the last bits of a result depend on."""


@dataclass(frozen=True)
class Failure:
    """An exception as it is sent: its text, the user's line, the exception pickled, if that was possible, and the code
    of a refusal."""

    shard: int | None
    reason: str
    span: Span | None = None
    hint: str | None = None
    pickled: bytes | None = None
    kind: type[SrcgradError] = ShardError
    code: str | None = None

    def error(self) -> SrcgradError:
        """The exception to raise on the client."""
        if not issubclass(self.kind, ShardError):
            return self.kind(self.reason, self.span, code=self.code, hint=self.hint)
        error = self.kind(self.reason, self.span, code=self.code, hint=self.hint, shard=self.shard)
        error.__cause__ = _read(self.pickled)
        return error


def failure_of(shard: int, exception: BaseException, lines: Mapping[str, Mapping[int, Span]]) -> Failure:
    """What is sent of an exception raised by a shard; ``lines`` maps lines of emitted files to the user's."""
    if isinstance(exception, SrcgradError | Refused):
        text, span, hint, code = exception.reason, exception.span, exception.hint, exception.code
    else:
        text, span, hint, code = _text(exception), None, None, None
    reason = f"shard {shard} raised {type(exception).__name__}: {text}" if text else (
        f"shard {shard} raised {type(exception).__name__}"
    )
    place = span or place_of(exception.__traceback__, lines)
    return Failure(shard, reason, place, hint, _pickled(exception), code=code)


def _text(exception: BaseException) -> str:
    try:
        return str(exception)
    except Exception as raised:  # of a class of the user's
        return f"(its text raises {type(raised).__name__})"


def _read(pickled: bytes | None) -> BaseException | None:
    try:
        cause = None if pickled is None else pickle.loads(pickled)
    except Exception:  # its class may refuse its own arguments, or be none of the client's: its text is left of it
        return None
    return cause if isinstance(cause, BaseException) else None


def _pickled(exception: BaseException) -> bytes | None:
    try:
        pickled = pickle.dumps(exception)
        pickle.loads(pickled)
    except Exception:  # whatever its class does when it is pickled: it arrives as text
        return None
    return pickled


def place_of(traceback: TracebackType | None, lines: Mapping[str, Mapping[int, Span]]) -> Span | None:
    """The innermost line of the user's that a traceback passes through, in emitted code that of its origin."""
    found: Span | None = None
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        if code.co_filename in lines:
            found = lines[code.co_filename].get(line, found)
        elif not code.co_filename.startswith("<") and not is_installed(code.co_filename):
            text = linecache.getline(code.co_filename, line).rstrip("\n")
            start = len(text) - len(text.lstrip())
            found = Span(code.co_filename, code.co_qualname, line, start, line, len(text), text)
        traceback = traceback.tb_next
    return found

