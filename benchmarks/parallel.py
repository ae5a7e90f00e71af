"""``python -m benchmarks.parallel``: what sharding costs, and what two processes gain; ratios of one run.

*Gain*: a thousand shards of 5 ms, and of 1 ms, on two processes beside the same shards one after the other in the
client, with the wall clock; *of at most* is what two processes gain here with nothing to share, and *by work* what the
times of the processors make it on two cores that have nothing else to do.  *Overhead*: shards that compute nothing, per
shard, on every executor: in groups, as shards that the client sends travel, and one by one, as blocks that Dask holds
and shards with a time limit do.  *Step*: what a call costs by the size of its parameters.  The rounds of a row take
turns, and the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

import srcgrad
from srcgrad.inspect.report import duration, table
from srcgrad.parallel import report, value_and_grad
from srcgrad.parallel.structure import added

SHARDS = 1000
GAINS = {"gain, 5 ms": 1.7, "gain, 1 ms": 1.4}
OVERHEADS = {"Dask, in groups": 2e-3, "Dask, one by one": 2e-3}
PARAMETERS = np.linspace(0.1, 0.9, 64)


def repeated(w: Any, shard: Any) -> Any:
    """A loss whose time grows with the shard."""
    x, count = shard
    s = x
    for _ in range(count):
        s = np.tanh(s * w + x)
    return np.sum(s)


def nothing(w: Any, shard: Any) -> Any:
    """A loss that takes no time."""
    return np.sum(w) * shard


def shards_of(seconds: float) -> list[tuple[Any, int]]:
    """A thousand shards, each of which takes so long in the client."""
    gradient = srcgrad.value_and_grad(repeated)
    x = np.linspace(-1.0, 1.0, 64)
    count = 50
    gradient(PARAMETERS, (x, count))
    one = median(timed(lambda: gradient(PARAMETERS, (x, count))) for _ in range(20)) / count
    return [(x, max(1, round(seconds / one)))] * SHARDS


def serial(shards: list[Any]) -> Callable[[], Any]:
    """The same sum, one shard after the other in the client."""
    gradient = srcgrad.value_and_grad(repeated)

    def run() -> Any:
        total = gradient(PARAMETERS, shards[0])
        for shard in shards[1:]:
            total = added(total, gradient(PARAMETERS, shard))
        return total

    return run


def timed(call: Callable[[], Any]) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool whose processes have started."""
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        value_and_grad(nothing, executor=pool)(PARAMETERS, [1.0] * 100)
        yield pool


@contextmanager
def dask(count: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with LocalCluster(count, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        value_and_grad(nothing, executor=client)(PARAMETERS, [1.0] * 100)
        yield client


def gain(pool: ProcessPoolExecutor, seconds: float, rounds: int) -> dict[str, float]:
    """Serial and parallel seconds of a thousand shards."""
    shards = shards_of(seconds)
    alone, together = serial(shards), value_and_grad(repeated, executor=pool)
    together(PARAMETERS, shards[:50])
    times = []
    for _ in range(rounds):
        begin = process_time()
        one, middle, workers = timed(alone), process_time(), processor_seconds(pool)
        two = timed(lambda: together(PARAMETERS, shards))
        times.append((one, two, middle - begin, process_time() - middle + processor_seconds(pool) - workers))
    one, two, alone_busy, busy = (median(column) for column in zip(*times, strict=True))
    ratio = median(row[0] / row[1] for row in times)  # side by side: the speed of a machine drifts between rounds
    return {"serial": one, "parallel": two, "ratio": ratio, "limit": limit(), "work": 2.0 * alone_busy / busy}


def processor_seconds(pool: Any) -> float:
    """What the processes of a pool have used of their processors so far (Linux's /proc)."""
    ticks = 0
    for process in pool._processes:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            ticks += sum(map(int, file.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def limit() -> float:
    """What two processes gain here where nothing is shared: less than 2 where the cores have other work."""
    context = multiprocessing.get_context("spawn")
    alone = median(timed(spin) for _ in range(3))
    with context.Pool(2) as pool:
        pool.map(abs, range(2))
        together = median(timed(lambda: pool.starmap(spin, [()] * 2, 1)) for _ in range(3))
    return 2.0 * alone / together


def spin() -> None:
    for _ in range(4_000_000):
        pass


def overhead(executor: Any, rounds: int, shards: list[Any] | None = None, **chosen: Any) -> dict[str, float]:
    """Seconds for each of a thousand shards that compute nothing: by the clock, of the client's processor (of a local
    cluster's scheduler too), and how many tasks a shard makes."""
    g = value_and_grad(nothing, executor=executor, **chosen)
    shards = shards or [1.0] * SHARDS
    g(PARAMETERS, shards)
    times = []
    for _ in range(rounds):
        begin = process_time()
        times.append((timed(lambda: g(PARAMETERS, shards)), process_time() - begin))
    clock, processor = (median(column) / SHARDS for column in zip(*times, strict=True))
    return {"clock": clock, "processor": processor, "tasks": report().tasks / SHARDS}


def held(client: Any, rounds: int) -> dict[str, float]:
    """The same of shards that are on the cluster."""
    return overhead(client, rounds, client.scatter([float(number) for number in range(SHARDS)], hash=False))


def step(executor: Any, size: int, rounds: int) -> float:
    """Seconds of a call of 16 shards with so many parameters."""
    g = value_and_grad(nothing, executor=executor)
    w, shards = np.ones(size), [1.0] * 16
    g(w, shards)
    return median(timed(lambda: g(w, shards)) for _ in range(rounds))


def measured(rounds: int) -> dict[str, Any]:
    """All rows."""
    found: dict[str, Any] = {"overhead": {}, "step": {}, "gain": {}}
    with processes(2) as pool:
        for milliseconds in (5, 1):
            found["gain"][f"gain, {milliseconds} ms"] = gain(pool, milliseconds / 1000.0, rounds)
        found["overhead"]["processes, in groups"] = overhead(pool, rounds)
        found["overhead"]["processes, one by one"] = overhead(pool, rounds, timeout=60.0)
        for size in (1_000, 100_000, 1_000_000):
            found["step"][f"processes, {size:,}"] = step(pool, size, rounds)
    found["overhead"]["threads, in groups"] = overhead(None, rounds)
    with dask(2) as client:
        found["overhead"]["Dask, in groups"] = overhead(client, rounds)
        found["overhead"]["Dask, one by one"] = held(client, rounds)
        for size in (1_000, 100_000, 1_000_000):
            found["step"][f"Dask, {size:,}"] = step(client, size, rounds)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parallel", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="fail where a bound is not kept")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    chosen = parser.parse_args(arguments)
    found = measured(chosen.rounds)
    if chosen.json:
        print(json.dumps(found, indent=2))
    else:
        show(found)
    broken = [name for name, bound in GAINS.items() if found["gain"][name]["ratio"] < bound]
    broken += [name for name, bound in OVERHEADS.items() if found["overhead"][name]["clock"] > bound]
    if broken:
        print(f"not kept: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken and chosen.check else 0


def show(found: dict[str, Any]) -> None:
    print(f"{SHARDS} shards, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    rows = []
    for name, one in found["gain"].items():
        ratios = [f"{one[key]:.2f}" for key in ("ratio", "limit", "work")]
        rows.append([name, duration(one["serial"]), duration(one["parallel"]), *ratios])
    print(table(["two processes", "serial", "parallel", "gain", "of at most", "by work"], rows), "\n")
    rows = [
        [name, duration(one["clock"]), duration(one["processor"]), f"{one['tasks']:.3f}"]
        for name, one in found["overhead"].items()
    ]
    print(table(["overhead per shard", "clock", "client's processor", "tasks"], rows), "\n")
    print(table(["call, parameters", "time"], [[name, duration(one)] for name, one in found["step"].items()]))


if __name__ == "__main__":
    sys.exit(main())
