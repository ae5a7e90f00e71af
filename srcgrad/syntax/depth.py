"""Trees deeper than Python's recursion limit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_DEEP = 100_000
_DEEP_IN_COMPILING = 5_000  # where some frames do take C stack
T = TypeVar("T")
P = ParamSpec("P")


def unless_too_deep(call: Callable[[], T], deep: int = _DEEP) -> T:
    """Run ``call``; where thousands of nested terms exceed Python's recursion limit, raise it for one retry.

    Pure Python frames take no C stack from 3.11 on, so the limit protects nothing here.
    """
    try:
        return call()
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, deep))
        try:
            return call()
        finally:
            sys.setrecursionlimit(limit)


def deep_enough(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the compiler, once more with a higher limit where callees and branches in ``try`` nest too deep."""

    @wraps(function)
    def twice(*args: P.args, **kwargs: P.kwargs) -> T:
        return unless_too_deep(lambda: function(*args, **kwargs), _DEEP_IN_COMPILING)

    return twice
