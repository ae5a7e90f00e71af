"""``python -m benchmarks.eager``: the eager library beside torch, autograd and mygrad; medians, one thread.

Chains of a hundred operations say what one operation costs, forward and backward together, where arithmetic is little;
a training step of a small network says what is added to NumPy's own time where arithmetic is most of it.  The
contenders of a row take turns in every round, and their gradients are compared before anything is timed.  What is
measured is the time of the processor, so that other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np

import srcgrad.eager
from benchmarks.__main__ import measure
from benchmarks.eager_rows import ROWS
from benchmarks.eager_step import handwritten_step, step_with, weights
from srcgrad.inspect.report import duration, table

OPERATIONS = 100
BOUNDS = {"torch": 1.0, "autograd": 0.45, "mygrad": 0.45}
STEP_BOUND = 1.25
CHAINS = {
    f"{size_name}, {precision}": (size, dtype)
    for precision, dtype in (("single", np.float32), ("double", np.float64))
    for size_name, size in (("numbers", 0), ("10 elements", 10), ("1,000 elements", 1000))
}
Call = Callable[[], Any]


def chain(sin: Callable[[Any], Any], x: Any, w: Any) -> Any:
    """A hundred operations, each on the result of the one before."""
    y = x
    for _ in range(OPERATIONS // 4):
        y = sin((y * w + x) - 0.5)
    return y


def start(size: int, dtype: Any) -> tuple[Any, Any]:
    """Where a chain begins: numbers for size 0."""
    if not size:
        return dtype(0.5), dtype(1.01)
    return np.linspace(0.1, 0.9, size, dtype=dtype), np.linspace(0.99, 1.01, size, dtype=dtype)


def with_srcgrad(size: int, dtype: Any) -> Call:
    """This library's eager tensors."""
    return _as_torch(srcgrad.eager, size, dtype)


def with_torch(size: int, dtype: Any) -> Call:
    """PyTorch on one thread."""
    import torch

    torch.set_num_threads(1)
    return _as_torch(torch, size, dtype)


def _as_torch(torch: ModuleType, size: int, dtype: Any) -> Call:
    x, w = (torch.tensor(value).requires_grad_() for value in start(size, dtype))

    def call() -> Any:
        x.grad = w.grad = None
        y = chain(torch.sin, x, w)
        (y.sum() if size else y).backward()
        return x.grad.numpy(), w.grad.numpy()

    return call


def with_autograd(size: int, dtype: Any) -> Call:
    """HIPS autograd: a tape of NumPy calls."""
    import autograd
    import autograd.numpy as arrays

    def program(x: Any, w: Any) -> Any:
        y = chain(arrays.sin, x, w)
        return arrays.sum(y) if size else y

    gradient = autograd.grad(program, (0, 1))
    x, w = start(size, dtype)
    return lambda: gradient(x, w)


def with_mygrad(size: int, dtype: Any) -> Call:
    """MyGrad as it comes: NumPy's names on tensors of its own."""
    import mygrad

    x, w = map(mygrad.tensor, start(size, dtype))

    def call() -> Any:
        y = chain(mygrad.sin, x, w)
        (y.sum() if size else y).backward()
        return x.grad, w.grad

    return call


CONTENDERS: Mapping[str, Callable[[int, Any], Call]] = {
    "eager": with_srcgrad,
    "torch": with_torch,
    "autograd": with_autograd,
    "mygrad": with_mygrad,
}


def main(argv: list[str] | None = None) -> int:
    """Print the tables; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eager", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=25, help="rounds per row (default: 25)")
    parser.add_argument("--no-peers", action="store_true", help="leave torch, autograd and mygrad out")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    parser.add_argument("--json", metavar="FILE", help="write the medians, in seconds, to FILE too")
    options = parser.parse_args(argv)
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}, one thread, medians of {options.rounds} rounds of processor time\n")
    broken: list[str] = []
    medians: dict[str, dict[str, float]] = {}
    notes: dict[str, None] = {}
    for rows in (_chains, _programs, _steps):
        rows(options, broken, medians, notes)
    for note in notes:
        print(note)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(medians, file, indent=2)
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


def _chains(
    options: argparse.Namespace, broken: list[str], medians: dict[str, dict[str, float]], notes: dict[str, None]
) -> None:
    """Chains of operations, per operation."""
    rows = []
    for of, (size, dtype) in CHAINS.items():
        name = f"chain of {of}"
        if options.only not in name:
            continue
        contenders: dict[str, Call] = {}
        expected: Any = None
        for library, make in CONTENDERS.items():
            if options.no_peers and library != "eager":
                continue
            try:
                call = make(size, dtype)
            except ImportError as error:
                notes[f"{library} is not installed ({error})."] = None
                continue
            found = [np.asarray(part) for part in call()]
            expected = found if expected is None else expected
            for left, right in zip(found, expected, strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-3, err_msg=f"{library}, {name}")
            contenders[library] = call
        times = measure(contenders, options.rounds, clock=process_time)
        medians[name] = each = {library: seconds / OPERATIONS for library, seconds in times.items()}
        cells = [duration(each[library]) if library in each else "-" for library in CONTENDERS]
        for library, bound in BOUNDS.items():
            ratio = times.ratio("eager", library) if library in times else None
            cells.append("-" if ratio is None else f"{ratio:.2f}")
            if ratio is not None and ratio > bound:
                broken.append(f"{name}: {ratio:.2f} times {library}, more than {bound}")
        rows.append((name, *cells))
        print(f"  measured {name}", file=sys.stderr)
    if rows:
        ratios = [f"/ {library}" for library in BOUNDS]
        print(table(("forward and backward, each operation", *CONTENDERS, *ratios), rows), end="\n\n")


def _programs(
    options: argparse.Namespace, broken: list[str], medians: dict[str, dict[str, float]], notes: dict[str, None]
) -> None:
    """Small programs beside torch: a pooling, parts, picks, derivatives of derivatives, a recurrence, reductions."""
    rows = []
    for name, (make, bound) in ROWS.items():
        if options.only not in name:
            continue
        contenders = {"eager": make(srcgrad.eager)}
        if not options.no_peers:
            try:
                import torch
            except ImportError as error:
                notes[f"torch is not installed ({error})."] = None
            else:
                torch.set_num_threads(1)
                contenders["torch"] = make(torch)
                for ours, theirs in zip(contenders["eager"](), contenders["torch"](), strict=True):
                    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-3, atol=1e-4, err_msg=name)
        times = medians[name] = measure(contenders, options.rounds, clock=process_time)
        cells = [duration(times["eager"]), "-", "-", f"{bound}"]
        if "torch" in times:
            ratio = times.ratio("eager", "torch")
            cells[1:3] = duration(times["torch"]), f"{ratio:.2f}"
            if ratio > bound:
                broken.append(f"{name}: {ratio:.2f} times torch, more than {bound}")
        rows.append((name, *cells))
        print(f"  measured {name}", file=sys.stderr)
    if rows:
        print(table(("forward and backward", "eager", "torch", "/ torch", "bound"), rows), end="\n\n")


def _steps(
    options: argparse.Namespace, broken: list[str], medians: dict[str, dict[str, float]], notes: dict[str, None]
) -> None:
    """A training step of a network."""
    name = "MLP 784-128-10, batch 64"
    if options.only not in name:
        return
    contenders = {"hand-written": handwritten_step(weights()), "eager": step_with(srcgrad.eager, weights())}
    if not options.no_peers:
        try:
            import torch
        except ImportError as error:
            notes[f"torch is not installed ({error})."] = None
        else:
            torch.set_num_threads(1)
            contenders["torch"] = step_with(torch, weights())
    losses = {library: [float(step()) for _ in range(5)] for library, step in contenders.items()}
    for library in losses:
        np.testing.assert_allclose(losses[library], losses["hand-written"], rtol=1e-5, err_msg=library)
    times = medians[name] = measure(contenders, options.rounds, clock=process_time)
    ratio = times["eager"] / times["hand-written"]
    if ratio > STEP_BOUND:
        broken.append(f"{name}: {ratio:.2f} times hand-written, more than {STEP_BOUND}")
    cells = [duration(times[library]) if library in times else "-" for library in ("hand-written", "eager", "torch")]
    print(table(("training step", "hand-written", "eager", "torch", "/ hand"), [(name, *cells, f"{ratio:.2f}")]))


if __name__ == "__main__":
    sys.exit(main())
