"""What the runtime raises where a derivative is refused: no exception of the program's own, so no ``except`` of the
program catches it, be it of the same kind (``runtime.attempts``).
"""

from __future__ import annotations


class Refused(Exception):
    """A derivative is refused."""


class RefusedType(Refused, TypeError):
    """What a value is has no derivative here."""


class RefusedValue(Refused, ValueError):
    """How values are shaped or shared has no derivative here."""


class RefusedMode(Refused, NotImplementedError):
    """What a function is asked for has no derivative that is known."""


class RefusedPath(Refused, RuntimeError):
    """Which way the program went is not known."""
