"""Trees deeper than Python's recursion limit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

_DEEP = 100_000
T = TypeVar("T")


def unless_too_deep(call: Callable[[], T]) -> T:
    """Run ``call``; where thousands of nested terms exceed Python's recursion limit, raise it for one retry.

    Pure Python frames take no C stack from 3.11 on, so the limit protects nothing here.
    """
    try:
        return call()
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, _DEEP))
        try:
            return call()
        finally:
            sys.setrecursionlimit(limit)
