"""``python -m benchmarks.second_order``: Hessians and their products with vectors, in units of the gradient of one run.

A column of a Hessian, and a product with a vector, is the tangent of the gradient: by hand it costs some two and a half
gradients, since each product has three more (Griewank & Walther, ch. 4).  The Hessian of Runge-Kutta steps that are
stored into an array is measured over the number of steps, in which it has to be linear.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import thread_time
from typing import Any

import numpy as np

import srcgrad
from benchmarks.cases import cases
from benchmarks.programs import runge_kutta
from srcgrad.inspect.report import duration, table

HVP_BOUND = 4.0
COLUMN_BOUND = 2.5
HESSIAN_BOUND = 10.0  # gradients, of four parameters
STEPS = (50, 100, 200, 400)
_MOST = 40  # elements of an argument of which the Hessian is formed


def main(argv: list[str] | None = None) -> int:
    """Print the tables; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.second_order", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains TEXT")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row (default: 3)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    options = parser.parse_args(argv)
    broken: list[str] = []

    def checked(name: str, ratio: float, bound: float) -> str:
        if ratio > bound:
            broken.append(f"{name}: {ratio:.2f}, more than {bound}")
        return f"{ratio:.2f}"

    rows = []
    for case in cases():
        if options.only not in case.name or case.name.startswith("y[i + 1]") and not case.name.endswith(" 1000 steps"):
            continue
        calls = [
            partial(srcgrad.grad(case.program, case.argnums), *case.arguments),
            partial(srcgrad.hvp(case.program, case.argnums), *case.arguments, _direction(case)),
        ]
        size = 0 if isinstance(case.argnums, tuple) else np.size(case.arguments[case.argnums])
        if 0 < size <= _MOST:
            calls.append(partial(srcgrad.hessian(case.program, case.argnums), *case.arguments))
        first, *others = fastest(calls, options.seconds)
        cells = [duration(first), checked(f"product with a vector, {case.name}", others[0] / first, HVP_BOUND)]
        of_all = others[1] / first / size if len(others) > 1 else None
        cells.append("-" if of_all is None else checked(f"column of the Hessian, {case.name}", of_all, COLUMN_BOUND))
        rows.append((case.name, *cells))
        print(f"  measured {case.name}", file=sys.stderr)
    print(table(("", "gradient", "hvp / gradient", "Hessian / (n gradients)"), rows), end="\n\n")

    rows = []
    parameters, derivatives = np.array([1.0, 0.5, 0.3, 0.7]), (srcgrad.grad(runge_kutta), srcgrad.hessian(runge_kutta))
    for steps in STEPS if options.only in "Runge-Kutta in place" else ():
        calls = [partial(derivative, parameters, steps) for derivative in derivatives]
        first, whole = fastest(calls, options.seconds)
        name = f"Runge-Kutta in place, {steps} steps"
        ratio = checked(f"Hessian, {name}", whole / first, HESSIAN_BOUND)
        rows.append((name, duration(first), duration(whole), ratio))
    if rows:
        print(table(("4 parameters", "gradient", "Hessian", "Hessian / gradient"), rows))
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


def _direction(case: Any) -> Any:
    """One number for each element of the differentiated arguments."""
    rng = np.random.default_rng(7)
    places = case.argnums if isinstance(case.argnums, tuple) else (case.argnums,)
    values = (case.arguments[place] for place in places)
    parts = tuple(rng.normal(size=np.shape(value)) if np.ndim(value) else 1.0 for value in values)
    return parts if isinstance(case.argnums, tuple) else parts[0]


def fastest(calls: Sequence[Callable[[], Any]], seconds: float) -> list[float]:
    """The least time of a call of each, all taking turns, in processor time: what runs beside them does not count."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    begin = thread_time()
    gc.disable()
    while thread_time() - begin < seconds or len(times[0]) < 3:
        for call, found in zip(calls, times, strict=True):
            start = thread_time()
            call()
            found.append(thread_time() - start)
    gc.enable()
    return [min(found) for found in times]


if __name__ == "__main__":
    sys.exit(main())
