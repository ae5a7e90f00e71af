"""``python -m benchmarks.scale_simulation``: a call on 10 to 10,000 workers, simulated with costs that were measured.

A discrete-event simulation (Law, *Simulation Modeling and Analysis*, ch. 1) of the two ways in which shards run.
*Pool*: the client sends every task, reads every result and adds it.  *Dask*: the scheduler hands tasks out and hears of
their end; workers combine eight results at a time, which they fetch from each other.

What it assumes: all shards take the same time, give or take a tenth; no worker fails; a message takes its latency and
its bytes over the bandwidth; the client and the scheduler do one thing at a time; in a pool the client sends the
parameters to each worker, under Dask each worker passes them on to two; the data are where they are used; shards are
grouped, and as many tasks are in flight, as ``srcgrad.parallel`` does it.  ``Costs`` were measured on one machine by
``python -m benchmarks.parallel``; latency and bandwidth are those of a plain data centre.
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from srcgrad.inspect.report import duration, table
from srcgrad.parallel.scheduling import WORTH, WORTH_EACH


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes a second."""

    client_task: float = 4.0e-4  # the client sends a task and takes its result, without the bytes
    scheduler_task: float = 1.0e-3  # Dask's scheduler, and its client, hand out a task and hear of its end
    worker_task: float = 2.0e-4  # a worker reads a task and writes its outcome
    add: float = 1.0e-9  # for each byte of two results that are added
    copy: float = 2.0e-9  # for each byte that is pickled or read
    latency: float = 1.0e-4
    bandwidth: float = 1.25e9  # 10 Gbit/s


@dataclass(frozen=True)
class Job:
    """A call: shards of so many seconds, parameters of so many bytes, on so many workers."""

    shards: int
    seconds: float
    size: int
    workers: int
    seed: int = 1

    def group(self) -> int:
        """How many shards travel together, as ``srcgrad.parallel.scheduling.Groups`` chooses."""
        worth = max(WORTH, WORTH_EACH * self.workers)
        wanted = min(worth / self.seconds, self.shards / (4 * self.workers))
        return 1 << max(0, int(wanted).bit_length() - 1)

    def durations(self) -> Iterator[float]:
        """Seconds of each group."""
        chance, group = random.Random(self.seed), self.group()
        for first in range(0, self.shards, group):
            count = min(group, self.shards - first)
            yield count * self.seconds * chance.uniform(0.9, 1.1)


def sent_parameters(job: Job, costs: Costs) -> float:
    """Seconds until every worker has the parameters: each that has them passes them to two others."""
    levels = math.ceil(math.log2(job.workers + 1))
    return levels * (costs.latency + 2 * job.size / costs.bandwidth) + job.size * costs.copy


def served(job: Job, costs: Costs, begin: float, in_flight: int, send: float, take: float) -> tuple[float, list[float]]:
    """Tasks through one server, which sends each and takes each result: when it is done, and when workers were."""
    server = begin
    free = [begin] * min(job.workers, job.shards)
    arrivals: list[float] = []
    ends: list[float] = []
    for seconds in job.durations():
        if len(arrivals) >= in_flight:
            server = max(server, heapq.heappop(arrivals)) + take
        server += send
        end = max(server + costs.latency, heapq.heappop(free)) + costs.worker_task + seconds
        heapq.heappush(free, end)
        heapq.heappush(arrivals, end + costs.latency)
        ends.append(end)
    while arrivals:
        server = max(server, heapq.heappop(arrivals)) + take
    return server, ends


def on_pool(job: Job, costs: Costs) -> tuple[float, float]:
    """The time of a call, and how long the client was busy."""
    parameters = min(job.workers, job.shards) * job.size * (1.0 / costs.bandwidth + costs.copy)
    take = costs.client_task / 2 + job.size * (1.0 / costs.bandwidth + costs.copy + costs.add)
    total, ends = served(job, costs, parameters, 2 * job.workers + 1, costs.client_task / 2, take)
    return total, parameters + len(ends) * (costs.client_task / 2 + take)


def on_dask(job: Job, costs: Costs) -> tuple[float, float]:
    """The time of a call, and how long the scheduler was busy; of eight tasks' results one more task makes one."""
    task = costs.scheduler_task * 8 / 7
    parameters = sent_parameters(job, costs)
    total, level = served(job, costs, parameters, 4 * job.workers + 4, task / 2, task / 2)
    busy = len(level) * task
    moved = costs.latency + job.size * (1.0 / costs.bandwidth + costs.copy + costs.add)
    while len(level) > 1:
        groups = [level[first : first + 8] for first in range(0, len(level), 8)]
        level = [max(group) + costs.worker_task + costs.latency + (len(group) - 1) * moved for group in groups]
    return max(level[0], total) + moved, busy


def rows(job: Job, costs: Costs) -> Iterator[list[str]]:
    """One row for each number of workers."""
    alone = job.shards * job.seconds
    for workers in (1, 2, 10, 100, 1000, 10_000):
        row = [f"{workers:,}", duration(alone / workers)]
        for run in (on_pool, on_dask):
            total, busy = run(replace(job, workers=workers), costs)
            row += [duration(total), f"{alone / total / workers:.0%}", f"{min(1.0, busy / total):.0%}"]
        yield row


JOBS = {
    "100,000 shards of 20 ms, 1,000 parameters": Job(100_000, 0.02, 8_000, 1),
    "100,000 shards of 20 ms, 1,000,000 parameters": Job(100_000, 0.02, 8_000_000, 1),
    "10,000 shards of 1 s, 1,000 parameters": Job(10_000, 1.0, 8_000, 1),
    "10,000 shards of 1 s, 1,000,000 parameters": Job(10_000, 1.0, 8_000_000, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale_simulation", description=__doc__)
    for name, value in vars(Costs()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    costs = Costs(**vars(parser.parse_args()))
    header = ["workers", "ideal", "pool", "efficiency", "client busy", "Dask", "efficiency", "scheduler busy"]
    for name, job in JOBS.items():
        print(f"{name}\n{table(header, rows(job, costs))}\n")


if __name__ == "__main__":
    main()
