"""How often the rule table has changed since its own modules were read: programs compiled before are stale.

Enters: every addition to the table, by users or by srcgrad's own modules.  Leaves: a number that grows with the former.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_changes = 0
_reading = 0


def edition() -> int:
    """The number under which compiled programs are kept."""
    return _changes


def renew() -> None:
    """Note a change of the table, unless srcgrad's own rules are being read."""
    global _changes
    if not _reading:
        _changes += 1


@contextmanager
def reading() -> Iterator[None]:
    """Inside, what is added to the table makes nothing stale: nobody has asked for it before."""
    global _reading
    _reading += 1
    try:
        yield
    finally:
        _reading -= 1
