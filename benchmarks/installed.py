"""``python -m benchmarks.installed``: value and pullback of the functions of ``tests.installed``, in multiples of the
function itself.

Each function of an installed package is called with its arguments of the tests; ``srcgrad.vjp`` and one call of the
pullback, with ones in the place of the value, take turns with it.  The first call, which compiles, is not counted.
What is not installed or refused is left out; that gradients are right is the tests' business.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad
from benchmarks.__main__ import Times, measure
from srcgrad.inspect.report import duration, table
from tests.installed.entry import Entry
from tests.installed.judge import plain
from tests.installed.table import ENTRIES
from tests.oracle import is_inexact, rebuild

MEDIAN, TENTH = 6.0, 30.0
CLASSES = {"under 3 us": (0.0, 3e-6), "3 to 100 us": (3e-6, 1e-4), "over 100 us": (1e-4, np.inf)}


def main(argv: list[str] | None = None) -> int:
    """Print the table; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.installed", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="functions whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=5, help="rounds per function (default: 5)")
    parser.add_argument("--verbose", action="store_true", help="print a line for each function")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    parser.add_argument("--json", metavar="FILE", help="write the medians, in seconds, to FILE too")
    options = parser.parse_args(argv)

    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("numpy", "scipy"))
    print(f"Python {platform.python_version()}, {versions}, one thread, medians of {options.rounds} rounds\n")
    times: dict[str, Times] = {}
    without = []
    for entry in ENTRIES:
        if options.only not in entry.name:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            contenders = _contenders(entry)
            if contenders is None:
                without.append(entry.name)
                continue
            found = times[entry.name] = measure(contenders, options.rounds, batch_seconds=0.005)
        if options.verbose:
            ratio = found.ratio("gradient", "primal")
            print(f"{ratio:8.1f}  {duration(found['primal']):>8} {duration(found['gradient']):>8}  {entry.name}")
            sys.stdout.flush()

    rows = []
    ratios = {name: found.ratio("gradient", "primal") for name, found in times.items()}
    for title, (least, most) in {**CLASSES, "all": (0.0, np.inf)}.items():
        of_class = [ratios[name] for name, found in times.items() if least <= found["primal"] < most]
        if of_class:
            median, tenth = np.quantile(of_class, (0.5, 0.9))
            rows.append((title, len(of_class), f"{median:.1f}", f"{tenth:.1f}", f"{max(of_class):.0f}"))
    print(table(("time of the function", "functions", "median", "90th percentile", "worst"), rows))
    print(f"\ngradient over primal; {len(without)} functions are not installed or refused")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(times, file, indent=2)
    if not ratios:
        return 0
    median, tenth = np.quantile(list(ratios.values()), (0.5, 0.9))
    print(f"median {median:.1f} (bound {MEDIAN:g}), 90th percentile {tenth:.1f} (bound {TENTH:g})")
    return 1 if options.check and (median > MEDIAN or tenth > TENTH) else 0


def _contenders(entry: Entry) -> dict[str, Callable[[], Any]] | None:
    """The function, and its value with the pullback of ones; None where it is not installed or refused."""
    try:
        function = entry.function()
    except ImportError:
        return None

    def primal() -> Any:
        return function(*entry.arguments, **entry.keywords)

    def gradient() -> Any:
        value, pullback = srcgrad.vjp(function, *entry.arguments, argnums=entry.wrt, **entry.keywords)
        return pullback(seed)

    try:
        value, pullback = srcgrad.vjp(function, *entry.arguments, argnums=entry.wrt, **entry.keywords)
        seed = rebuild(plain(value), _one)
        pullback(seed)
        gradient()
    except Exception:
        return None
    return {"primal": primal, "gradient": gradient}


def _one(leaf: Any) -> Any:
    """Ones of the kind of a leaf; None where it has no derivative."""
    if not is_inexact(leaf):
        return None
    return np.ones_like(leaf) if isinstance(leaf, np.ndarray) else type(leaf)(1.0)


if __name__ == "__main__":
    sys.exit(main())
