"""Shards on a Dask cluster: its own futures, its own placing of data, sums on the workers.

Enters: a ``Client`` and the shards, among them Dask's arrays, bags, delayed values and futures, whose blocks stay where
they are.  Leaves: the combined result.  What a step holds goes to the cluster once.  Results of shards stay on workers,
which combine them in groups; the blocks of the one tree (``tree``) come out the same for any grouping.  A worker that
dies is Dask's to replace: it runs again what was lost.
"""

from __future__ import annotations

import pickle
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from srcgrad.errors import SrcgradError
from srcgrad.parallel.dask_shards import as_futures, is_future
from srcgrad.parallel.errors import SendingError, ShardTimeout, WorkerLost, failure_of
from srcgrad.parallel.reporting import Report
from srcgrad.parallel.request import Request
from srcgrad.parallel.scheduling import GRACE, Groups, Limits
from srcgrad.parallel.shards import Shards, Source, is_held
from srcgrad.parallel.step import Outcome
from srcgrad.parallel.tree import Block, Forest
from srcgrad.parallel.work import (
    Payload,
    combine_outcomes,
    finish_outcomes,
    look_at,
    pass_on,
    run_shards,
)

#: How many results a worker combines at once.
FAN_IN = 8
#: Bytes up to which a step travels as a task, which Dask runs again where its result is lost; beyond it is scattered.
SCATTERED = 1 << 20


@dataclass
class DaskRun:
    """One call on a cluster."""

    client: Any
    request: Request
    source: Source
    limits: Limits
    report: Report
    advance: Callable[[int], object]
    what: str
    workers: int = 1
    done: int = 0
    first: tuple[float, int] | None = None  # when results first came, and of how many shards
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    remote: dict[int, tuple[Any, list[float] | None]] = field(default_factory=dict)  # what may have to run again
    leaves: dict[Any, tuple[Shards, float]] = field(default_factory=dict)
    levels: list[list[Any]] = field(default_factory=list)  # futures of outcomes, by how often they were combined
    payload: tuple[int, Any] | None = None
    named: Iterator[int] = field(default_factory=count)  # numbers of the tasks
    makes_blocks: bool = False  # some shards are delayed values
    groups: Groups = field(init=False)

    def __post_init__(self) -> None:
        self.groups = Groups(1, self.limits, self.source.count)

    # --- the loop ----------------------------------------------------------------------------------------------------
    def root(self) -> Block | None:
        """Run all shards; their combined result, None where there are none."""
        from distributed import as_completed

        self.workers = self.groups.workers = max(1, sum(self.client.nthreads().values()))
        completed = as_completed()  # type: ignore[no-untyped-call,unused-ignore]
        try:
            while self.fill(completed) or self.leaves:
                self.note(self.batch(completed))
            if not self.source.pulled:
                return None
            return self.whole(completed)
        finally:
            self.release()
            self.source.close()

    def release(self) -> None:
        """Give up all futures: the scheduler forgets what has not started.

        Not by ``Client.cancel``, which fails in the scheduler where a task is needed by another that no future stands
        for; and not by leaving it to the collector, since the frames of an exception would keep the futures.
        """
        futures = [*self.leaves, *(future for level in self.levels for future in level)]
        for future in futures if self.payload is None else [*futures, self.payload[1]]:
            future.release()
        self.leaves.clear()
        self.levels.clear()
        self.payload = None

    def fill(self, completed: Any) -> bool:
        """Submit as much as may be in flight, many tasks at once; whether anything was submitted."""
        begun: list[Shards] = []
        if self.limits.in_flight is None and self.limits.timeout is None and 2 * len(self.leaves) > self.window:
            return False
        while self.has_room(begun):
            shards = self.pull()
            if shards is None:
                break
            begun.append(shards)
        if begun:
            self.submit(begun, completed)
        return bool(begun)

    def has_room(self, begun: list[Shards]) -> bool:
        tasks = len(self.leaves) + len(begun)
        if self.limits.timeout is not None:
            return tasks < min(self.workers, self.limits.in_flight or self.workers)
        if self.limits.in_flight is None:
            return tasks < self.window
        flying = sum(len(shards.items) for shards in (*begun, *(shards for shards, _ in self.leaves.values())))
        return not tasks or flying + self.groups.size(self.source.pulled) <= self.limits.in_flight

    @property
    def window(self) -> int:
        """How many tasks are in flight: few while blocks are made for them, or while it is not known how long they
        take; else many, which costs the least."""
        return (4 if self.makes_blocks or self.groups.seconds is None else 32) * (self.workers + 1)

    def pull(self) -> Shards | None:
        """The next group of shards, or one block that Dask holds, which is not moved to another's worker."""
        shards = self.source.pull(self.groups.size(self.source.pulled))
        if shards is None:
            return None
        self.makes_blocks = self.makes_blocks or any(is_held(item) and not is_future(item) for item in shards.items)
        for number, item in enumerate(shards.items, shards.first):
            self.meet(number, item, None if shards.weights is None else shards.weights[number - shards.first])
        return shards

    def meet(self, number: int, item: Any, weight: float | None) -> None:
        """Compile for a shard; of the first that only a worker can see, a worker looks at it."""
        if not is_held(item) and not self.request.is_remote(item):
            self.request.meet(item)
            return
        self.remote[number] = item, None if weight is None else [weight]
        if self.request.compiles is not None and not self.request.version:
            arguments = self.sent(number, item), self.request.base.loads, number
            looked = self.client.submit(look_at, *arguments, key=self.key("srcgrad_look"))
            try:
                with self.report.timing("waiting"):
                    found = self.result(looked, [number])
            finally:
                looked.release()
            self.request.meet(found)

    # --- what is submitted -------------------------------------------------------------------------------------------
    def submit(self, groups: list[Shards], completed: Any) -> None:
        with self.report.timing("sending"):
            firsts = [shards.first for shards in groups]
            items = [[self.sent(n, item) for n, item in enumerate(shards.items, shards.first)] for shards in groups]
            weights = [shards.weights for shards in groups]
            leaves = self.tasks(run_shards, [self.key(self.what) for _ in firsts], firsts, items, weights)
            for leaf, shards in zip(leaves, groups, strict=True):
                self.leaves[leaf] = replace(shards, items=[None] * len(shards.items)), time.monotonic()
            completed.update(leaves)
            self.combine(leaves, 0)

    def tasks(self, function: Callable[..., Any], keys: list[str], *arguments: list[Any]) -> list[Any]:
        """Tasks of one function, handed to the scheduler in one message."""
        self.report.tasks += len(keys)
        made: list[Any] = self.client.map(function, [self.step()] * len(keys), *arguments, key=keys, pure=False)
        return made

    def sent(self, number: int, item: Any) -> Any:
        """A shard as a task has it: a future where Dask holds it, bytes otherwise."""
        if is_held(item):
            return as_futures(self.client, item)
        sealed = self.request.sealed_shard(number, item, by_value=True)
        self.report.sent += len(sealed)
        return sealed

    def step(self) -> Any:
        """The future of the programs and the step, made again where there are more programs."""
        if self.payload is None or self.payload[0] != self.request.version:
            programs, step = self.request.sealed(by_value=True)
            payload = Payload((programs.address, step.address), programs, step)
            size = len(programs) + len(step)
            self.report.sent += size
            if size > SCATTERED:
                future = self.client.scatter(payload, broadcast=True, hash=False)
            else:
                future = self.client.submit(pass_on, payload, key=self.key("srcgrad_step"))
            self.payload = self.request.version, future
        return self.payload[1]

    def combine(self, futures: list[Any], level: int) -> None:
        """Combine results on the workers as soon as there are enough of them."""
        if level == len(self.levels):
            self.levels.append([])
        waiting = self.levels[level] + futures
        whole = len(waiting) - len(waiting) % FAN_IN
        groups = [waiting[first : first + FAN_IN] for first in range(0, whole, FAN_IN)]
        self.levels[level] = waiting[whole:]
        if groups:
            keys = [self.key("srcgrad_sum") for _ in groups]
            self.combine(self.tasks(combine_outcomes, keys, groups), level + 1)

    def key(self, what: str) -> str:
        """The name of a new task: the dashboard groups by what stands before the first hyphen.

        No two tasks share a name, not even those of one shard that runs again: while the scheduler holds a result, it
        answers a second task of that name with it.
        """
        return f"{what}-{self.token}-{next(self.named)}"

    # --- what comes back ---------------------------------------------------------------------------------------------
    def batch(self, completed: Any) -> list[Any]:
        """The shards' futures that are done."""
        with self.report.timing("waiting"):
            if self.limits.timeout is None:
                done: list[Any] = completed.next_batch() if self.leaves else []
                return done
            while self.leaves:
                done = completed.next_batch(block=False)
                if done:
                    return done
                shards, since = min(self.leaves.values(), key=lambda leaf: leaf[1])
                if time.monotonic() - since > self.limits.timeout + GRACE:
                    raise ShardTimeout(
                        f"shard {shards.first} took longer than its time limit of {self.limits.timeout:g} s, "
                        "and does not stop",
                        hint="a call of a compiled function cannot be interrupted: restart its worker",
                        shard=shards.first,
                    )
                time.sleep(0.002)
        return []

    def note(self, done: list[Any]) -> None:
        """Take in what is done; the list is emptied, since the frame of an exception would keep its futures."""
        while done:
            future = done.pop(0)
            shards = self.leaves[future][0]
            if future.status in ("error", "cancelled"):
                self.result(future, [shards.first])  # raises
            del self.leaves[future]  # one that was lost with its worker since is run again by Dask
            self.done += len(shards.items)
            self.advance(len(shards.items))
        now = time.perf_counter()
        if self.first is None:
            self.first = now, self.done  # what came before is the time until the cluster has begun
        elif self.done > self.first[1]:
            self.groups.seconds = (now - self.first[0]) * self.workers / (self.done - self.first[1])

    def result(self, future: Any, shards: Sequence[int]) -> Any:
        """The result of a future, or the error that says what became of its shards."""
        from distributed import CancelledError, KilledWorker

        try:
            return future.result()
        except KilledWorker as killed:
            which = f"shard {shards[0]}" if len(shards) == 1 else "the sum"
            raise WorkerLost(
                f"workers died again and again while {which} ran, and Dask gave up: {killed}",
                hint="distributed.scheduler.allowed-failures says how often; a worker may have run out of memory",
            ) from killed
        except SrcgradError:
            raise
        except CancelledError as lost:
            raise WorkerLost(
                "the cluster lost the parameters of the call with its workers", hint="call it again"
            ) from lost
        except Exception as raised:  # of what Dask computes before a shard, a delayed value
            raise failure_of(shards[0], raised, {}).error() from raised

    def whole(self, completed: Any) -> Block:
        """The result of all shards: those of kinds that were not known are run once more."""
        forest = Forest(self.request.base.combine)
        for _ in range(2):
            outcome = self.finished()
            if outcome.whole is not None:
                self.report.shards = self.source.pulled
                return outcome.whole
            forest.take(outcome.blocks)
            if not outcome.unmet:
                break
            for _, specimen in outcome.unmet:
                self.request.meet(specimen)
            for number, _ in outcome.unmet:
                item, weights = self.remote[number]
                self.submit([Shards(number, [item], weights)], completed)
            self.report.again += len(outcome.unmet)
            while self.leaves:
                self.note(self.batch(completed))
        missing = forest.missing(self.source.pulled)
        if missing:
            raise SendingError(f"shard {missing[0]} is of another kind in a worker each time that it is loaded")
        self.report.shards = self.source.pulled
        return forest.root(self.source.pulled)

    def finished(self) -> Outcome:
        """What the cluster has combined so far, brought here."""
        group = [future for level in self.levels for future in level]
        (final,) = self.tasks(finish_outcomes, [self.key("srcgrad_sum")], [group], [self.source.pulled])
        self.levels = [[*group, final]]  # to be released with the others
        with self.report.timing("waiting"):
            data: bytes = self.result(final, range(self.source.pulled))
        self.levels = []
        outcome: Outcome = pickle.loads(data)
        self.report.received += len(data)
        self.report.meet(outcome.environments)
        self.report.computing += outcome.computing
        self.report.loading += outcome.loading
        return outcome
