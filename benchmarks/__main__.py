"""``python -m benchmarks``: one run, medians, one thread; the contenders of a row take turns in every round."""

from __future__ import annotations

import argparse
import gc
import json
import platform
import statistics
import sys
import warnings
from collections.abc import Callable, Mapping
from operator import truediv
from time import perf_counter
from typing import Any

import numpy as np

import srcgrad
from benchmarks.cases import Case, cases
from benchmarks.compile_time import compile_seconds, import_seconds
from benchmarks.peers import PEERS
from srcgrad.inspect.report import duration, table

STATEMENTS = {160: 0.5, 640: 2.5}
IMPORT_BOUND = 0.1


def main(argv: list[str] | None = None) -> int:
    """Print the tables; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=25, help="rounds per row (default: 25)")
    parser.add_argument("--no-peers", action="store_true", help="leave autograd, tangent-ad and torch out")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    parser.add_argument("--json", metavar="FILE", help="write the medians, in seconds, to FILE too")
    options = parser.parse_args(argv)

    numpy_version = f"NumPy {np.__version__}"
    print(f"Python {platform.python_version()}, {numpy_version}, one thread, medians of {options.rounds} rounds\n")
    broken: list[str] = []
    medians: dict[str, dict[str, float]] = {}
    notes: list[str] = []
    rows = []
    for case in cases():
        if options.only not in case.name:
            continue
        contenders, missing = contenders_of(case, {} if options.no_peers else PEERS)
        notes += [note for note in missing if note not in notes]
        times = medians[case.name] = measure(contenders, options.rounds)
        ratio = times.ratio("compiled", "hand-written")
        text = times.ratio("text", "hand-written") if "text" in times else None
        if ratio > case.bound:
            broken.append(f"{case.name}: {ratio:.2f} times hand-written, more than {case.bound}")
        columns = ("primal", "hand-written", "compiled")
        cells = [duration(times[name]) for name in columns]
        cells += ["-" if text is None else f"{text:.2f}", f"{ratio:.2f}", f"{case.bound:.2f}"]
        cells += [duration(times[name]) if name in times else "-" for name in PEERS]
        rows.append((case.name, *cells))
        print(f"  measured {case.name}", file=sys.stderr)
    titles = ("gradient of", "primal", "hand-written", "compiled", "text / hand", "/ hand", "bound", *PEERS)
    print(table(titles, rows), end="\n\n")
    for note in notes:
        print(note)

    if not options.only:
        rows = []
        for statements, bound in STATEMENTS.items():
            rows.append((f"compile {statements} statements", compile_seconds(statements), bound))
        rows.append(("import srcgrad after numpy", import_seconds(), IMPORT_BOUND))
        print(table(("", "measured", "bound"), [(name, duration(s), duration(bound)) for name, s, bound in rows]))
        broken += [f"{name}: {duration(s)}, more than {duration(bound)}" for name, s, bound in rows if s > bound]
        medians["other"] = {name: s for name, s, _ in rows}

    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(medians, file, indent=2)
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


def contenders_of(
    case: Case, peers: Mapping[str, Callable[[Case], Any]]
) -> tuple[dict[str, Callable[[], Any]], list[str]]:
    """The calls to time, each checked against the hand-written adjoint; and why some peers are missing."""
    compiled = srcgrad.grad(case.program, case.argnums)
    contenders: dict[str, Callable[[], Any]] = {
        "primal": lambda: case.program(*case.arguments),
        "hand-written": lambda: case.handwritten(*case.arguments),
        "compiled": lambda: compiled(*case.arguments),
    }
    expected = _arrays(contenders["hand-written"]())
    _assert_close(_arrays(contenders["compiled"]()), expected, f"compiled, {case.name}")
    emitted = compiled.ran
    if emitted is not None and emitted.backward is None:  # the emitted function alone, without the door
        values = compiled.arguments(compiled.bind(case.arguments, {}))
        contenders["text"] = lambda: emitted.entry(*values)
    missing = []
    for name, peer in peers.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call = peer(case)
                found = _arrays(call())
        except ImportError as error:
            missing.append(f"{name} is not installed ({error}).")
        except Exception as error:
            missing.append(f"{name} refuses {case.name}: {type(error).__name__}.")
        else:
            if _close(found, expected):
                contenders[name] = call
            else:
                missing.append(f"{name} gives a wrong gradient of {case.name}.")
    return contenders, missing


def _arrays(gradient: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in gradient] if isinstance(gradient, tuple | list) else [np.asarray(gradient)]


def _close(found: list[np.ndarray], expected: list[np.ndarray]) -> bool:
    pairs = list(zip(found, expected, strict=True))
    return all(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-7, atol=1e-9) for a, b in pairs)


def _assert_close(found: list[np.ndarray], expected: list[np.ndarray], name: str) -> None:
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-9, err_msg=name)


class Times(dict[str, float]):
    """The median time of a call of each contender, in seconds."""

    def __init__(self, rounds: Mapping[str, list[float]]) -> None:
        super().__init__({name: statistics.median(times) for name, times in rounds.items()})
        self.rounds = rounds

    def ratio(self, name: str, other: str) -> float:
        """How many times as long one takes as the other: the median over the rounds, since a machine's speed drifts."""
        return statistics.median(map(truediv, self.rounds[name], self.rounds[other]))


def measure(
    contenders: Mapping[str, Callable[[], Any]],
    rounds: int,
    batch_seconds: float = 0.02,
    clock: Callable[[], float] = perf_counter,
) -> Times:
    """Calls of each, all contenders taking turns in every round; what takes more than a second sits out after the
    third."""
    batches = {}
    for name, call in contenders.items():
        begin = clock()
        call()
        batches[name] = max(1, int(batch_seconds / max(clock() - begin, 1e-9)))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    gc.collect()
    gc.freeze()  # so that a collection between batches leaves the processor's cache alone
    for number in range(rounds):
        for name, call in contenders.items():
            if number > 2 and times[name][0] > 1.0:
                continue
            gc.collect()
            gc.disable()
            begin = clock()
            for _ in range(batches[name]):
                call()
            times[name].append((clock() - begin) / batches[name])
            gc.enable()
    gc.unfreeze()
    return Times(times)


if __name__ == "__main__":
    sys.exit(main())
