"""Where the time of a call went, and how far it is.

A ``Report`` is filled while a call runs; ``report()`` returns that of the last call.  Progress is tqdm's bar where tqdm
is installed, one line otherwise.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from srcgrad.errors import ArgumentError
from srcgrad.parallel.environment import Environment, differences
from srcgrad.parallel.errors import EnvironmentWarning


@dataclass
class Report:
    """One call.  Times are seconds: ``total`` on the client's clock; ``computing`` and ``loading`` summed over workers;
    ``waiting``, ``sending`` (pickling, reading what came back) and ``adding`` on the client.  ``sent`` and ``received``
    are bytes, 0 where shards ran in the client's own threads; of Dask they are the arguments of a call and the result,
    since blocks travel between its workers.  ``tasks`` counts groups of shards that were sent together, ``again`` the
    shards that were run once more, ``rebuilt`` the pools that were replaced, ``compiled`` the programs made."""

    shards: int = 0
    tasks: int = 0
    again: int = 0
    rebuilt: int = 0
    compiled: int = 0
    total: float = 0.0
    computing: float = 0.0
    loading: float = 0.0
    waiting: float = 0.0
    sending: float = 0.0
    adding: float = 0.0
    sent: int = 0
    received: int = 0
    environments: dict[str, Environment] = field(default_factory=dict)  # by worker

    def __str__(self) -> str:
        speed = self.shards / self.total if self.total else 0.0
        rows = [
            f"{self.shards} shards in {self.total:.3f} s, {speed:.1f} a second, in {len(self.environments)} processes",
            f"  workers  computing {self.computing:.3f} s, loading {self.loading:.3f} s",
            f"  client   waiting {self.waiting:.3f} s, sending {self.sending:.3f} s, adding {self.adding:.3f} s",
            f"  moved    {self.sent} bytes to workers, {self.received} back, in {self.tasks} tasks",
        ]
        if self.again or self.rebuilt:
            rows.append(f"  faults   {self.again} shards run again, {self.rebuilt} pools replaced")
        rows += [f"  on       {kind}" for kind in dict.fromkeys(self.environments.values())]
        return "\n".join(rows)

    @contextmanager
    def timing(self, what: str) -> Iterator[None]:
        """Add the seconds of a block to one of the times."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - begin)

    def meet(self, environments: frozenset[tuple[str, Environment]]) -> None:
        """Note the environments of workers; one that differs warns once."""
        new = [(name, kind) for name, kind in environments if self.environments.get(name) != kind]
        if not new:
            return
        before = differences(self.environments.values())
        self.environments.update(new)
        differing = differences(self.environments.values())
        if differing is not None and differing != before:
            warnings.warn(
                f"workers differ in {differing}: results may differ in their last bits from run to run",
                EnvironmentWarning,
                stacklevel=2,
            )


_last: list[Report] = []


def report() -> Report:
    """The report of the last call of this process; ``print`` it."""
    if not _last:
        raise ArgumentError("nothing has run in parallel yet")
    return _last[0]


@contextmanager
def reporting() -> Iterator[Report]:
    """A report that is the last one once the block is left, whose total is the time of the block."""
    made = Report()
    try:
        with made.timing("total"):
            yield made
    finally:
        _last[:] = [made]


@contextmanager
def progress(shown: bool, count: int | None, what: str) -> Iterator[Callable[[int], object]]:
    """A function that is told how many more shards are done."""
    if not shown:
        yield lambda more: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        line = _Line(count, what)
        try:
            yield line.update
        finally:
            line.close()
        return
    with tqdm(total=count, desc=what, unit="shard") as bar:
        made: Any = bar
        yield made.update


class _Line:
    """Progress without tqdm: one line on stderr."""

    def __init__(self, count: int | None, what: str) -> None:
        self._count, self._what = count, what
        self._done = 0
        self._begin = time.perf_counter()

    def update(self, more: int) -> None:
        self._done += more
        speed = self._done / max(time.perf_counter() - self._begin, 1e-9)
        of = "" if self._count is None else f"/{self._count}"
        sys.stderr.write(f"\r{self._what}: {self._done}{of} shards, {speed:.1f} shard/s")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")
