"""The executors of ``concurrent.futures``, and what is kept of their interface: threads, pools of processes, MPI.

Enters: an executor of the user's, or None.  Leaves: a ``Lane`` that runs shards on it.  Threads are given the objects
themselves; every other executor is given bytes, which are counted, and which name what cannot be pickled.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Protocol

from srcgrad.errors import ArgumentError
from srcgrad.parallel.environment import one_thread
from srcgrad.parallel.program import outside_of
from srcgrad.parallel.references import Sealed
from srcgrad.parallel.reporting import Report
from srcgrad.parallel.request import Request
from srcgrad.parallel.shards import Shards
from srcgrad.parallel.step import Outcome
from srcgrad.parallel.work import Payload, Prepared, Task, pickled_outcome, run, run_task

#: Bytes that are sent with every task: asking for them again costs more.
SMALL = 1 << 10
#: Addresses of which it is known how often they were sent.
REMEMBERED = 64


class Lane(Protocol):
    """How shards get to workers and results back."""

    workers: int

    def submit(self, shards: Shards, *, whole: bool = False) -> Future[Any]:
        """Start shards; ``whole``: with all that the worker may lack."""

    def outcome(self, future: Future[Any]) -> Outcome:
        """What a finished task gave; raises ``BrokenExecutor`` where its worker died."""

    def renew(self) -> bool:
        """Replace a broken pool by one of the same kind; False where that is not possible."""

    def stop(self, futures: Iterable[Future[Any]]) -> None:
        """Cancel what has not started, and stop what can be stopped between two shards."""

    def kill(self) -> None:
        """End the workers, of which one does not return."""

    def close(self) -> None:
        """The call is over."""


def is_client(executor: object) -> bool:
    """Whether an executor is a ``Client`` of Dask, asked without importing Dask."""
    kind = type(executor)
    return any(base.__module__.startswith("distributed.") and base.__name__ == "Client" for base in kind.__mro__)


@contextmanager
def lane_of(executor: object, request: Request, report: Report) -> Iterator[Lane]:
    """The lane of an executor, for one call."""
    lane = _lane(executor, request, report)
    try:
        yield lane
    finally:
        lane.close()


def _lane(executor: object, request: Request, report: Report) -> Lane:
    if executor is None or isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != _INTERPRETERS:
        return Threads(executor, request)
    if isinstance(executor, Executor):
        return Processes(executor, request, report)
    raise ArgumentError(
        f"executor is a {type(executor).__name__}",
        hint="None for threads, an executor of concurrent.futures, loky or mpi4py.futures, or a Client of Dask",
    )


_INTERPRETERS = "InterpreterPoolExecutor"  # a subclass of the threads' one that shares no objects


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: a pool of our own for one call, or the user's."""

    def __init__(self, executor: ThreadPoolExecutor | None, request: Request) -> None:
        self._request = request
        self._owned = ThreadPoolExecutor(processors()) if executor is None else None
        self._executor = executor or self._owned
        self.workers = workers_of(self._executor)
        self._stopped = threading.Event()
        self._prepared: tuple[int, Prepared] | None = None
        self._limit = one_thread()
        self._limit.__enter__()

    def submit(self, shards: Shards, *, whole: bool = False) -> Future[Any]:
        if self._prepared is None or self._prepared[0] != self._request.version:
            step = self._request.step(outside_of)
            self._prepared = self._request.version, Prepared(self._request.programs, step)
        context = copy_context()  # options that are set for a block hold in its threads too
        assert self._executor is not None
        return self._executor.submit(context.run, run, self._prepared[1], shards, _itself, self._stopped.is_set)

    def outcome(self, future: Future[Any]) -> Outcome:
        made: Outcome = future.result()
        return made

    def renew(self) -> bool:
        return False

    def stop(self, futures: Iterable[Future[Any]]) -> None:
        self._stopped.set()
        for future in futures:
            future.cancel()

    def kill(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        self._limit.__exit__(None, None, None)
        if self._owned is not None:
            self._owned.shutdown(wait=False, cancel_futures=True)


def _itself(item: Any) -> Any:
    return item


class Processes:
    """An executor whose workers share no memory with the client."""

    def __init__(self, executor: Executor, request: Request, report: Report) -> None:
        self._request = request
        self._report = report
        self._given = executor
        self._executor = _replaced(executor)
        self._by_value = type(executor).__module__.startswith("loky.")
        self.workers = workers_of(self._executor)
        self._version = -1
        self._parts: dict[str, Sealed] = {}  # the programs and the step by their addresses
        self._along = _sent.setdefault(self._executor, {})

    def submit(self, shards: Shards, *, whole: bool = False) -> Future[Any]:
        if self._version != self._request.version:
            self._pack()
        parts = {address: part for address, part in self._parts.items() if whole or self._goes_along(address, part)}
        programs, step = self._parts
        payload = Payload((programs, step), parts.get(programs), parts.get(step))
        items = [
            self._request.sealed_shard(number, item, self._by_value)
            for number, item in enumerate(shards.items, shards.first)
        ]
        self._report.sent += sum(map(len, (*items, *parts.values())))
        return self._executor.submit(run_task, Task(payload, replace(shards, items=items), self._by_value))

    def _pack(self) -> None:
        sealed = self._request.sealed(self._by_value)
        self._parts = {part.address: part for part in sealed}
        self._version = self._request.version

    def _goes_along(self, address: str, part: Sealed) -> bool:
        """Whether workers may lack what stands under an address: as many tasks took it along as there are workers.
        A worker that lacks it nevertheless asks for it."""
        times = self._along[address] = self._along.get(address, 0) + 1
        while len(self._along) > REMEMBERED:
            self._along.pop(next(iter(self._along)))
        return times <= self.workers or len(part) <= SMALL

    def outcome(self, future: Future[Any]) -> Outcome:
        return pickled_outcome(future.result())

    def renew(self) -> bool:
        made = _another(self._executor)
        if made is None:
            return False
        self._executor = made
        _replacements[self._given] = made
        weakref.finalize(self._given, made.shutdown, wait=False)
        self._along = _sent.setdefault(made, {})
        return True

    def stop(self, futures: Iterable[Future[Any]]) -> None:
        for future in futures:
            future.cancel()

    def kill(self) -> None:
        processes: Any = getattr(self._executor, "_processes", None) or {}
        for process in list(processes.values()):
            process.kill()

    def close(self) -> None:
        pass


#: How often what stands under an address was sent, by the executor.
_sent: weakref.WeakKeyDictionary[Executor, dict[str, int]] = weakref.WeakKeyDictionary()
#: Pools that were rebuilt, by the executor that the user holds, which stays broken.
_replacements: weakref.WeakKeyDictionary[Executor, Executor] = weakref.WeakKeyDictionary()


def _replaced(executor: Executor) -> Executor:
    """The executor itself, or the one that has taken its place since it broke."""
    return _replacements.get(executor, executor)


def _another(broken: Executor) -> Executor | None:
    """A pool like a broken one: its number of workers, how they start, and what they run first."""
    executor: Any = broken
    if isinstance(broken, ProcessPoolExecutor):
        return ProcessPoolExecutor(
            executor._max_workers,
            executor._mp_context,
            executor._initializer,
            executor._initargs,
            max_tasks_per_child=executor._max_tasks_per_child,
        )
    if type(executor).__module__.startswith("loky."):
        import loky

        made: Executor = loky.ProcessPoolExecutor(
            executor._max_workers,
            context=executor._context,
            timeout=executor._timeout,
            initializer=executor._initializer,
            initargs=executor._initargs,
            env=executor._env,
        )
        return made
    return None


def workers_of(executor: Any) -> int:
    """How many workers an executor has, as far as it tells."""
    for name in ("num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return processors()


