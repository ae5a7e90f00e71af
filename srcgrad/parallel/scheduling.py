"""Shards to workers and results back, on any executor of ``concurrent.futures``.

Shards that are neighbours travel together, in groups of a power of two of them that begin at a multiple of it: such a
group is a subtree of the one tree (``tree``), so that how shards are grouped changes no bit.  How large groups are
follows from how long shards take.  No more shards are pulled from an iterator than are in flight.

Every group is counted once: it is known by its first shard, and what has been counted is never submitted again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.parallel.errors import SendingError, ShardTimeout, WorkerLost
from srcgrad.parallel.executors import Lane
from srcgrad.parallel.reporting import Report
from srcgrad.parallel.request import Request
from srcgrad.parallel.shards import Shards, Source, is_held
from srcgrad.parallel.step import Outcome
from srcgrad.parallel.tree import Block, Forest

#: Seconds of work in one group: large beside the half millisecond that a task costs, small beside a person's patience.
WORTH = 0.03
#: The same for each worker, since the client, and Dask's scheduler, serve one after the other.
WORTH_EACH = 0.001
#: Bytes of one group.
LARGE = 1 << 24
#: Seconds that a worker may need besides a shard's time limit: to start, to import, to be interrupted.
GRACE = 30.0


@dataclass
class Limits:
    in_flight: int | None = None
    timeout: float | None = None


@dataclass
class Groups:
    """How many shards go together next."""

    workers: int
    limits: Limits
    count: int | None
    seconds: float | None = None  # of one shard, as measured

    def size(self, first: int) -> int:
        """A power of two that divides the number of the first shard."""
        if self.limits.timeout is not None or self.seconds is None:
            return 1
        wanted = max(WORTH, WORTH_EACH * self.workers) / max(self.seconds, 1e-7)
        if self.count is not None:
            wanted = min(wanted, self.count / (4 * self.workers))
        if self.limits.in_flight is not None:
            wanted = min(wanted, self.limits.in_flight / (2 * self.workers))
        size = 1 << max(0, int(wanted).bit_length() - 1)
        return min(size, first & -first) if first else size

    def learn(self, outcome: Outcome) -> None:
        shards = sum(block.end - block.first for block in outcome.blocks)
        if shards:
            one = (outcome.computing + outcome.loading) / shards
            self.seconds = one if self.seconds is None else 0.5 * (self.seconds + one)


@dataclass
class Run:
    """One call while it runs."""

    request: Request
    lane: Lane
    source: Source
    limits: Limits
    report: Report
    advance: Callable[[int], object]
    forest: Forest = field(init=False)
    groups: Groups = field(init=False)
    pending: dict[Future[Any], tuple[Shards, float]] = field(default_factory=dict)
    again: list[Shards] = field(default_factory=list)
    recompiled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.forest = Forest(self.request.base.combine)
        self.groups = Groups(self.lane.workers, self.limits, self.source.count)

    # --- the loop ----------------------------------------------------------------------------------------------------
    def root(self) -> Block | None:
        """Run all shards; their combined result, None where there are none."""
        try:
            while self.fill() or self.pending:
                self.take(self.finished())
        except BaseException:
            self.lane.stop(self.pending)
            raise
        finally:
            self.source.close()
        if not self.source.pulled:
            return None
        with self.report.timing("adding"):
            return self.forest.root(self.source.pulled)

    def fill(self) -> bool:
        """Submit as much as may be in flight; whether anything was submitted."""
        begun = False
        while self.has_room():
            shards = self.again.pop() if self.again else self.pull()
            if shards is None:
                break
            begun = True
            self.submit(shards)
        return begun

    def has_room(self) -> bool:
        workers = self.lane.workers
        if self.pending and self.request.compiles is not None and not self.request.version:
            return False  # what is loaded in a worker and is of no known kind is loaded twice: the first alone
        if self.limits.timeout is not None:
            return len(self.pending) < min(workers, self.limits.in_flight or workers)
        if self.limits.in_flight is None:
            return len(self.pending) < 2 * workers + 1
        flying = sum(len(shards.items) for shards, _ in self.pending.values())
        following = len(self.again[-1].items) if self.again else self.groups.size(self.source.pulled)
        return not self.pending or flying + following <= self.limits.in_flight

    def pull(self) -> Shards | None:
        """The next group of shards; None where there are no more."""
        shards = self.source.pull(self.groups.size(self.source.pulled))
        for item in () if shards is None else shards.items:
            if is_held(item):
                raise ArgumentError("shards are Dask's: only a Client of Dask can run them", hint="executor=client")
            if not self.request.is_remote(item):
                self.request.meet(item)
        return shards

    def submit(self, shards: Shards, *, whole: bool = False) -> None:
        self.report.tasks += 1
        with self.report.timing("sending"):
            try:
                future = self.lane.submit(shards, whole=whole)
            except BrokenExecutor as broken:
                self.again.append(shards)
                self.rebuild(broken)
                return
        self.pending[future] = shards, monotonic()

    def finished(self) -> list[Future[Any]]:
        """The tasks that are done, at least one."""
        timeout = None if self.limits.timeout is None else self.limits.timeout + GRACE
        while self.pending:
            oldest = min((since for _, since in self.pending.values()), default=0.0)
            patience = None if timeout is None else max(0.0, oldest + timeout - monotonic())
            with self.report.timing("waiting"):
                done, _ = wait(self.pending, patience, FIRST_COMPLETED)
            if done:
                return list(done)
            for future, (shards, since) in self.pending.items():
                if since == oldest and not future.running():  # others have kept the workers: it has not begun
                    self.pending[future] = shards, monotonic()
            if min(since for _, since in self.pending.values()) > oldest:
                continue
            late = min(shards.first for shards, since in self.pending.values() if since == oldest)
            self.lane.kill()
            raise ShardTimeout(
                f"shard {late} took longer than its time limit of {self.limits.timeout:g} s, and does not stop",
                hint="a call of a compiled function cannot be interrupted; its worker was ended if it is a process",
                shard=late,
            )
        return []

    def take(self, done: list[Future[Any]]) -> None:
        """Count what finished, and note what has to run again."""
        broken: BaseException | None = None
        for future in sorted(done, key=lambda one: self.pending[one][0].first):
            shards, _ = self.pending.pop(future)
            try:
                with self.report.timing("sending"):
                    outcome = self.lane.outcome(future)
            except (BrokenExecutor, CancelledError) as lost:
                broken = lost
                self.again.append(shards)
                continue
            self.count(outcome, shards)
        if broken is not None:
            self.rebuild(broken)

    # --- results -----------------------------------------------------------------------------------------------------
    def count(self, outcome: Outcome, shards: Shards) -> None:
        self.report.meet(outcome.environments)
        self.report.computing += outcome.computing
        self.report.loading += outcome.loading
        self.report.received += outcome.received
        if outcome.failure is not None:
            raise outcome.failure.error()
        if outcome.missing:
            self.submit(shards, whole=True)
            return
        self.groups.learn(outcome)
        with self.report.timing("adding"):
            ran = sum(block.end - block.first for block in outcome.blocks if self.forest.add(block))
        self.report.shards += ran
        self.advance(ran)
        for number, specimen in outcome.unmet:
            self.meet(number, specimen, shards)

    def meet(self, number: int, specimen: Any, shards: Shards) -> None:
        """Compile for a shard that a worker has met, and run it again."""
        if number in self.recompiled:
            raise SendingError(f"shard {number} is of another kind in a worker each time that it is loaded")
        self.recompiled.add(number)
        self.request.meet(specimen)
        place = number - shards.first
        weights = None if shards.weights is None else shards.weights[place : place + 1]
        self.again.append(Shards(number, shards.items[place : place + 1], weights))

    # --- faults ------------------------------------------------------------------------------------------------------
    def rebuild(self, broken: BaseException) -> None:
        """Take a new pool for the shards that are not counted; at most once in a call."""
        done, late = wait(self.pending, GRACE)
        finished: list[tuple[Outcome, Shards]] = []
        for future in list(self.pending):
            shards, _ = self.pending.pop(future)
            try:
                outcome = self.lane.outcome(future) if future in done else None
            except (BrokenExecutor, CancelledError):
                outcome = None
            if outcome is None:
                self.again.append(shards)
            else:
                finished.append((outcome, shards))
        lost = sorted(shards.first for shards in self.again)
        self.again.sort(key=lambda shards: -shards.first)
        if self.report.rebuilt or not self.lane.renew():
            raise self.lost(broken, lost) from broken
        self.report.rebuilt += 1
        self.report.again += sum(len(shards.items) for shards in self.again)
        for outcome, shards in finished:  # only now: what a worker lacked is submitted again
            self.count(outcome, shards)

    def lost(self, broken: BaseException, shards: list[int]) -> SrcgradError:
        which = f"shard {shards[0]}" if len(shards) == 1 else f"shards from {shards[0]} on"
        times = "twice in one call" if self.report.rebuilt else "and its executor cannot be started again"
        return WorkerLost(
            f"a worker died {times}, with {which} not done: {type(broken).__name__}: {broken}",
            hint="it may have run out of memory (smaller shards, in_flight=), or a compiled library may have crashed",
        )
