"""A mark on generated trees: what their text does not say, and who reads that text again has to know.

``x_bar[i] += e`` adds to a buffer that one name holds.  Marked, other names may see the buffer: it is a shadow, or what
a user's program stores into.  The lines of the marked statements travel with the loaded functions.
"""

from __future__ import annotations

from typing import TypeVar

import gast

AnyStatement = TypeVar("AnyStatement", bound=gast.stmt)


def seen_elsewhere(statement: AnyStatement) -> AnyStatement:
    """The statement, marked."""
    statement.seen_elsewhere = True
    return statement


def is_seen_elsewhere(statement: gast.stmt) -> bool:
    return getattr(statement, "seen_elsewhere", False)
