"""A time limit on one shard, kept where the shard runs.

Only there is it known when a shard starts: executors queue what they are given.  The limit interrupts Python code, as
emitted programs are, between two instructions; a single call of a compiled function is not interrupted, and the client
does not wait for it (``scheduling``).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Expired(BaseException):
    """Raised in the thread of a shard whose time is over; no ``except Exception`` of the user's stops it."""


class Expired(Exception):
    """The time limit of a shard is over; not a ``TimeoutError``, which the user's own code may raise."""


def within(seconds: float | None, call: Callable[[], T]) -> T:
    """``call()``; ``Expired`` if it has not returned after so many seconds."""
    if seconds is None:
        return call()
    watch = _Watch(threading.get_ident())
    timer = threading.Timer(seconds, watch.expire)
    timer.daemon = True
    try:
        try:
            timer.start()
            result = call()
        finally:
            watch.stop()
            timer.cancel()
    except _Expired:
        raise Expired from None
    if watch.expired:
        raise Expired
    return result


class _Watch:
    def __init__(self, thread: int) -> None:
        self._thread = ctypes.c_ulong(thread)
        self._lock = threading.Lock()
        self._running = True
        self.expired = False

    def expire(self) -> None:
        with self._lock:
            if self._running:
                self.expired = True
                self._raise(ctypes.py_object(_Expired))

    def stop(self) -> None:
        """Nothing is raised from here on: an exception that is still due is taken back."""
        with self._lock:
            self._running = False
            if self.expired:
                self._raise(None)

    def _raise(self, kind: Any) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, kind)
