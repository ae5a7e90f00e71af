"""What the runtime raises where a derivative is refused: no exception of the program's own, so no ``except`` of the
program catches it, be it of the same kind (``runtime.attempts``).
"""

from __future__ import annotations

import re
from typing import Any

#: The place that begins a reason, ``model.py:12: ``.
_PLACE = re.compile(r"^(?:[^\s:]+|<[^>]*>):\d+: ")


class Refused(Exception):
    """A derivative is refused; what runs the emitted code says where in the user's text.

    It is no ``SrcgradError``: what is saved runs on the runtime alone.  Its code is explained by ``srcgrad why``.
    ``read``: values that emitted code computes before it refuses, for what they may raise.
    """

    def __init__(self, code: str, reason: str, hint: str | None = None, *read: object) -> None:
        super().__init__(code, reason, hint)
        self.code, self.reason, self.hint = code, reason, hint
        self.span: Any = None

    def place(self, span: Any) -> None:
        """Say where; a reason that begins with the place, for what runs without the compiler, does not say it twice."""
        self.span = span
        self.reason = _PLACE.sub("", self.reason)

    def __str__(self) -> str:
        if self.span is None:
            return f"{self.reason if self.hint is None else f'{self.reason}; {self.hint}'} [{self.code}]"
        from srcgrad.errors import render  # where there is a place, there is a compiler

        return render(self.reason, self.span, hint=self.hint, code=self.code)


class RefusedType(Refused, TypeError):
    """What a value is has no derivative here."""


class RefusedValue(Refused, ValueError):
    """How values are shaped or shared has no derivative here."""


class RefusedMode(Refused, NotImplementedError):
    """What a function is asked for has no derivative that is known."""


class RefusedPath(Refused, RuntimeError):
    """Which way the program went is not known."""
