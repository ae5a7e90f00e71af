"""Trees deeper than Python's recursion limit, and trees that threads make at once."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_DEEP = 100_000
_DEEP_IN_COMPILING = 5_000  # where some frames do take C stack
T = TypeVar("T")
P = ParamSpec("P")
#: CPython 3.11 counts the depth of the trees that ``ast.parse`` makes for all threads together: a SystemError is raised
#: where two make one at once.  Nothing is imported under this lock, which another thread may wait for in an import.
_making = threading.RLock()


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


def alone(function: Callable[P, T]) -> Callable[P, T]:
    """A function that makes trees of Python's own, for one thread at a time."""

    @wraps(function)
    def locked(*args: P.args, **kwargs: P.kwargs) -> T:
        with _making:
            return function(*args, **kwargs)

    return locked


def deep_enough(function: Callable[P, T]) -> Callable[P, T]:
    """A function of the compiler; once more with a higher limit where callees and branches in ``try`` nest too deep."""

    @wraps(function)
    def twice(*args: P.args, **kwargs: P.kwargs) -> T:
        return unless_too_deep(lambda: function(*args, **kwargs), _DEEP_IN_COMPILING)

    return twice


def _freed() -> None:
    """In a process that was forked off nobody is left who would release what another thread held."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_freed)
