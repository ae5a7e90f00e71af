"""``python -m benchmarks.checkpointing``: loops of which few states are kept, beside the same loops all recorded.

Memory is the most that Python and NumPy use at once during a gradient (``tracemalloc``), time the median over the
rounds, in which both take turns.  How often passes are run, and how many states are kept at once, is counted where the
emitted function asks the schedule, and stands beside theory: with s snapshots, n passes are reversed from the first
state on when ``r n - C(s + r, r - 1)`` passes are run without a record, and no fewer will do, where
``C(s + r - 1, s) < n <= C(s + r, s)`` (Griewank & Walther, *Algorithm 799: revolve*, ACM TOMS 26, 2000).  The first run
goes on to the end of the loop, since its result is wanted.  Where the length is not known, nobody can tell where the
first snapshots belong: that costs up to one run of the loop more.
"""

from __future__ import annotations

import argparse
import gc
import platform
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np

import srcgrad
from benchmarks.__main__ import measure
from srcgrad import checkpointed
from srcgrad.inspect.report import duration, table

STEPS, SNAPSHOTS = 100_000, 20
MEMORY_BOUND, TIME_BOUND = 0.01, 4.0


# --- the loops -------------------------------------------------------------------------------------------------------
def scalar(x, n):
    """An iteration of one number."""
    s = 0.5
    for i in range(n):
        s = np.sin(s) * x[i % 3] + s
    return s


def scalar_kept(x, n, snapshots, recorded):
    s = 0.5
    for i in checkpointed(range(n), snapshots, recorded):
        s = np.sin(s) * x[i % 3] + s
    return s


def fisher(x, n):
    """Fisher's equation, stored into an array."""
    u = np.zeros(50)
    u[10:13] = x
    for _ in range(n):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + 0.001 * u[1:-1] * (1.0 - u[1:-1])
    return np.sum(u * u)


def fisher_kept(x, n, snapshots, recorded):
    u = np.zeros(50)
    u[10:13] = x
    for _ in checkpointed(range(n), snapshots, recorded):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + 0.001 * u[1:-1] * (1.0 - u[1:-1])
    return np.sum(u * u)


def pendulum(x, n):
    """A damped pendulum until a time has passed: how many steps that takes is not known before."""
    angle, speed, t, end = x[0], x[1], 0.0, 1e-3 * (n - 0.5)
    while t < end:
        speed = speed - 1e-3 * (np.sin(angle) + x[2] * speed)
        angle = angle + 1e-3 * speed
        t += 1e-3
    return angle * angle + speed * speed


def pendulum_kept(x, n, snapshots, recorded):
    angle, speed, t, end = x[0], x[1], 0.0, 1e-3 * (n - 0.5)
    while checkpointed(t < end, snapshots, recorded):
        speed = speed - 1e-3 * (np.sin(angle) + x[2] * speed)
        angle = angle + 1e-3 * speed
        t += 1e-3
    return angle * angle + speed * speed


@dataclass(frozen=True)
class Loop:
    """A loop, and the same of which few states are kept."""

    name: str
    recorded: Callable[..., Any]
    kept: Callable[..., Any]
    is_known: bool = True  # how many passes it has, before it runs


LOOPS = (
    Loop("a loop of numbers", scalar, scalar_kept),
    Loop("stores into an array", fisher, fisher_kept),
    Loop("a while loop", pendulum, pendulum_kept, is_known=False),
)
X = np.array([0.3, 0.2, 0.25])


# --- what is counted -------------------------------------------------------------------------------------------------
@dataclass
class Count:
    """The actions of the schedule in one gradient: passes run without a record, and states kept at once."""

    first_run: int = 0
    last_stretch: int = 0
    again: int = 0
    states: int = 0


def counted(derivative: Any, *arguments: Any) -> Count:
    """The count of one call, by looking on at the generators that the emitted module iterates over."""
    names = derivative.program(arguments).entry.__globals__
    first, later = names["stretches"], names["reversal"]
    found = Count()

    def stretches(kept: list[Any], passes: int | None, *numbers: Any) -> Iterator[tuple[int, int]]:
        for stretch in first(kept, passes, *numbers):
            yield stretch
            found.states = max(found.states, len(kept))

    def reversal(kept: list[Any], passes: int, *numbers: Any) -> Iterator[tuple[str, int, int]]:
        found.first_run, found.last_stretch = passes, passes - kept[-1][0]
        for action, begin, end in later(kept, passes, *numbers):
            found.again += end - begin if action == "advance" else 0
            yield action, begin, end
            found.states = max(found.states, len(kept))

    names["stretches"], names["reversal"] = stretches, reversal
    try:
        derivative(*arguments)
    finally:
        names["stretches"], names["reversal"] = first, later
    return found


def fewest(passes: int, snapshots: int) -> int:
    """The fewest passes that are run without a record, from the first state on: the formula above."""
    runs = 0
    while comb(snapshots + runs, snapshots) < passes:
        runs += 1
    return runs * passes - (comb(snapshots + runs, runs - 1) if runs else 0)


def peak(call: Callable[[], Any]) -> int:
    """The most bytes that were in use at once during a call, beyond those before it."""
    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- tables ----------------------------------------------------------------------------------------------------------
def main(argv: list[str] | None = None) -> int:
    """Print the tables; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpointing", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="loops whose name contains TEXT")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"passes of each loop (default: {STEPS:,})")
    parser.add_argument("--snapshots", type=int, default=SNAPSHOTS, help=f"default: {SNAPSHOTS}")
    parser.add_argument("--rounds", type=int, default=3, help="rounds per loop (default: 3)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    options = parser.parse_args(argv)
    loops = [loop for loop in LOOPS if options.only in loop.name]
    broken: list[str] = []

    def checked(name: str, number: float, bound: float, spelled: str) -> str:
        if number > bound:
            broken.append(f"{name}: {number:.4g}, more than {bound:.4g}")
        return spelled

    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}, one thread, medians of {options.rounds} rounds")
    print(f"{options.steps:,} passes, {options.snapshots} snapshots, as many passes recorded at once\n")
    rows = []
    for loop in loops:
        plain, kept = srcgrad.grad(loop.recorded), srcgrad.grad(loop.kept)
        calls = {
            "primal": partial(loop.recorded, X, options.steps),
            "recorded": partial(plain, X, options.steps),
            "kept": partial(kept, X, options.steps, options.snapshots, None),
        }
        np.testing.assert_allclose(calls["kept"](), calls["recorded"](), rtol=1e-12, err_msg=loop.name)
        times = measure(calls, options.rounds)
        memory = {name: peak(calls[name]) for name in ("recorded", "kept")}
        share, slower = memory["kept"] / memory["recorded"], times.ratio("kept", "recorded")
        rows.append(
            (
                loop.name,
                *(duration(times[name]) for name in calls),
                checked(f"time, {loop.name}", slower, TIME_BOUND, f"{slower:.2f}"),
                *(f"{memory[name] / 1e6:,.3f} MB" for name in memory),
                checked(f"memory, {loop.name}", share, MEMORY_BOUND, f"{share:.5f}"),
            )
        )
        print(f"  measured {loop.name}", file=sys.stderr)
    header = ("", "primal", "all recorded", "checkpointed", "ratio", "memory, recorded", "checkpointed", "ratio")
    print(table(header, rows), end="\n\n")

    rows = []
    for loop in loops:
        for recorded in (options.snapshots, 1):
            arguments = X, options.steps, options.snapshots, recorded
            found, blocks = counted(srcgrad.grad(loop.kept), *arguments), -(-options.steps // recorded)
            theory = recorded * fewest(blocks, options.snapshots)
            beyond = found.last_stretch if loop.is_known else found.first_run
            name = f"{loop.name}, {recorded} recorded at once"
            run = found.first_run + found.again
            rows.append(
                (
                    name,
                    checked(f"passes run, {name}", run, theory + beyond, f"{run:,}"),
                    f"{theory:,}",
                    f"{run - theory:,}",
                    checked(f"states, {name}", found.states, options.snapshots, str(found.states)),
                )
            )
    print(table(("passes run without a record", "counted", "theory", "beyond", "states at once"), rows))
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
