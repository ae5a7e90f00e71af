"""``python -m benchmarks.gradbench``: answers GradBench's messages; with ``--table``, gradients over primals.

A message has an ``id`` and a ``kind``: ``start``, ``define`` (a module, which is a program), ``evaluate`` (one of its
functions, with an input) or ``analysis`` (what the other side thinks of an output).  Each line is answered by one with
the same ``id``; ``end`` and the end of input stop the tool.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.__main__ import contenders_of, measure
from benchmarks.cases import Case
from benchmarks.gradbench.in_jax import with_scans
from benchmarks.gradbench.served import Timed
from benchmarks.peers import with_autograd, with_torch
from srcgrad.inspect.report import duration, table

Peer = Callable[[Case], Callable[[], Any]]
PEERS: dict[str, Peer] = {"jax": with_scans, "torch": with_torch, "autograd": with_autograd}
PROGRAMS = ("hello", "lse", "llsq", "ode", "lstm", "det", "gmm", "kmeans", "ba", "ht", "particle", "saddle")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gradbench", description=__doc__)
    parser.add_argument("--table", action="store_true", help="measure the programs instead")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=9, help="rounds per program (default: 9)")
    parser.add_argument("--no-peers", action="store_true", help="leave jax, torch and autograd out")
    parser.add_argument("--json", metavar="FILE", help="write the medians, in seconds, to FILE too")
    options = parser.parse_args(argv)
    if options.table:
        measured = show_table(options.only, options.rounds, {} if options.no_peers else PEERS)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(measured, file, indent=2)
        return 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["kind"] == "end":
            break
        print(json.dumps({"id": message["id"], **answer(message)}), flush=True)
    return 0


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """What is said to one message; whatever goes wrong is an answer too."""
    try:
        match message["kind"]:
            case "start":
                return {"tool": "srcgrad", "config": {"python": platform.python_version(), "numpy": np.__version__}}
            case "define":
                module(message["module"])
                return {"success": True}
            case "evaluate":
                served = module(message["module"]).FUNCTIONS[message["function"]]
                return {"success": True, **served.run(message["input"])}
    except Exception as error:
        return {"success": False, "error": "".join(traceback.format_exception(error))}
    return {}


def module(name: str) -> ModuleType:
    """The module of a program; raises KeyError where there is none."""
    if name not in PROGRAMS:
        raise KeyError(f"{name} is none of {', '.join(PROGRAMS)}")
    return import_module(f"benchmarks.gradbench.{name}")


def show_table(only: str, rounds: int, peers: Mapping[str, Peer]) -> dict[str, dict[str, float]]:
    """Print derivative over primal for each program, and what gradients of the same text take with other libraries."""
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, one thread, medians of {rounds} rounds\n")
    measured: dict[str, dict[str, float]] = {}
    rows, notes = [], []
    for name in PROGRAMS:
        if only not in name:
            continue
        contenders, missing = contenders_of_program(name, peers)
        notes += missing
        times = measured[name] = measure(contenders, rounds)
        ratio = f"{times.ratio('derivative', 'primal'):.1f}"
        cells = [duration(times[library]) if library in times else "-" for library in peers]
        rows.append((name, duration(times["primal"]), duration(times["derivative"]), ratio, *cells))
        print(f"  measured {name}", file=sys.stderr)
    print(table(("program", "primal", "derivative", "/ primal", *peers), rows), end="\n\n")
    print(*dict.fromkeys(notes), sep="\n")
    return measured


def contenders_of_program(name: str, peers: Mapping[str, Peer]) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """Calls at the sample of a program; peers are checked against srcgrad, and left out with a note why."""
    program = module(name)
    timed: Timed = program.TIMED
    arguments = program.arguments(program.sample())
    if timed.program is None:
        calls, missing = {}, [f"The derivative that {name} asks for is no gradient: other libraries are not timed."]
        timed.derivative(*arguments)
    else:
        case = Case(name, timed.program, timed.derivative, arguments, timed.argnums)
        calls, missing = contenders_of(case, peers)
    kept = {library: call for library, call in calls.items() if library in peers}
    own = {"primal": partial(timed.primal, *arguments), "derivative": partial(timed.derivative, *arguments)}
    return own | kept, missing


if __name__ == "__main__":
    sys.exit(main())
