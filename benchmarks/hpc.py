"""``python -m benchmarks.hpc``: gradients of twenty kernels of scientific computing, beside adjoints written by hand.

One run, medians, one thread; the contenders of a kernel take turns in every round.  Compile time is what the first call
takes beyond the later ones, once the rules are loaded.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from time import perf_counter

import numpy as np

import srcgrad
from benchmarks import hpc_kernels as kernels
from benchmarks.__main__ import contenders_of, measure
from benchmarks.cases import Case
from benchmarks.peers import with_jax
from srcgrad.inspect.report import duration, table

MEDIAN, WORST = 1.15, 1.4


def main(argv: list[str] | None = None) -> int:
    """Print the table; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hpc", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels whose name contains TEXT")
    parser.add_argument("--rounds", type=int, default=15, help="rounds per kernel (default: 15)")
    parser.add_argument("--no-peers", action="store_true", help="leave jax out")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    parser.add_argument("--json", metavar="FILE", help="write the medians, in seconds, to FILE too")
    options = parser.parse_args(argv)

    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}, one thread, medians of {options.rounds} rounds\n")
    rows, notes, ratios = [], [], {}
    medians: dict[str, dict[str, float]] = {}
    srcgrad.grad(np.sum)(np.ones(2))  # loads the rules
    for case in hpc_cases():
        if options.only not in case.name:
            continue
        begin = perf_counter()
        srcgrad.grad(case.program, case.argnums)(*case.arguments)
        first = perf_counter() - begin
        contenders, missing = contenders_of(case, {} if options.no_peers else {"jax": with_jax})
        notes += missing
        times = medians[case.name] = measure(contenders, options.rounds)
        times["compile"] = max(first - times["compiled"], 0.0)
        ratios[case.name] = times.ratio("compiled", "hand-written")
        rows.append(
            (
                case.name,
                *(duration(times[name]) for name in ("primal", "hand-written", "compiled")),
                f"{ratios[case.name]:.2f}",
                f"{times.ratio('compiled', 'primal'):.1f}",
                duration(times["compile"]),
                duration(times["jax"]) if "jax" in times else "-",
            )
        )
        print(f"  measured {case.name}", file=sys.stderr)
    header = ("kernel", "primal", "hand-written", "compiled", "/ hand", "/ primal", "compile", "jax, jitted")
    print(table(header, rows), end="\n\n")
    for note in dict.fromkeys(notes):
        print(note)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(medians, file, indent=2)
    if not ratios:
        return 0
    worst = max(ratios, key=lambda name: ratios[name])
    median = statistics.median(ratios.values())
    print(f"times hand-written: median {median:.2f} (bound {MEDIAN}),", end=" ")
    print(f"worst {ratios[worst]:.2f} (bound {WORST}): {worst}")
    return 1 if options.check and (median > MEDIAN or ratios[worst] > WORST) else 0


def hpc_cases(small: bool = False) -> list[Case]:
    """The kernels with their arguments, the same numbers on every run; ``small`` ones for tests."""
    rng = np.random.default_rng(2022)

    def size(large: int, little: int) -> int:
        return little if small else large

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    cases = []

    def add(name: str, *arguments: object, argnums: int | tuple[int, ...] = 0) -> None:
        program, handwritten = getattr(kernels, name), getattr(kernels, f"{name}_bar")
        cases.append(Case(name, program, handwritten, arguments, argnums))

    n, steps = size(4000, 9), size(200, 3)
    add("jacobi_1d", normal(n), normal(n), steps, argnums=(0, 1))
    n, steps = size(120, 7), size(50, 3)
    add("jacobi_2d", normal(n, n), normal(n, n), steps, argnums=(0, 1))
    n, steps = size(30, 5), size(30, 3)
    add("heat_3d", normal(n, n, n), 0.1, steps, argnums=(0, 1))
    n, steps = size(60, 6), size(5, 2)
    add("seidel_2d", normal(n, n), steps)
    n, steps = size(120, 6), size(40, 3)
    add("fdtd_2d", normal(n, n), normal(n, n), normal(n, n), normal(steps), argnums=(0, 1, 2, 3))
    n, steps = size(80, 6), size(10, 2)
    add("adi", normal(n, n), 0.7, steps, argnums=(0, 1))
    n, steps, iterations = size(61, 6), size(10, 2), size(20, 3)
    spacing = 2.0 / (n - 1)
    constants = (0.1, 1.0, 0.001, spacing, spacing, steps, iterations)
    add("cavity_flow", 0.1 * normal(n, n), 0.1 * normal(n, n), *constants, argnums=(0, 1, 2))

    n = size(100, 6)
    root = normal(n, n)
    add("cholesky", root @ root.T + n * np.eye(n), normal(n, n))
    n = size(200, 6)
    x = np.sort(rng.uniform(-3.0, 3.0, n))
    add("gaussian_process", x, np.sin(x) + 0.1 * normal(n), -0.5, -3.0, argnums=(0, 2, 3))
    n = size(80, 6)
    add("lu", normal(n, n) + n * np.eye(n), normal(n, n))
    n = size(1000, 6)
    add("triangular_solve", np.tril(normal(n, n)) / n + 2.0 * np.eye(n), normal(n), argnums=(0, 1))
    n = size(800, 6)
    add("durbin", 0.5 ** np.arange(1.0, n + 1.0) + 0.001 * normal(n))
    n = size(60, 5)
    add("gram_schmidt", normal(n + 20, n), normal(n, n))
    n = size(500, 5)
    add("gemver", 1.5, 1.2, normal(n, n) / n, *(normal(n) / n for _ in range(6)), argnums=tuple(range(9)))

    n = size(150, 5)
    data = normal(2 * n, n)
    data[:, 1] *= 0.01  # as good as constant
    add("correlation", data, normal(n, n))
    n = size(150, 7)
    add("floyd_warshall", rng.uniform(1.0, 50.0, (n, n)), normal(n, n))
    n, width, channels = size(8, 2), size(28, 6), size(16, 3)
    add("convolution", normal(n, width, width, 3), normal(5, 5, 3, channels), normal(channels), argnums=(0, 1, 2))
    n, width, heads = size(128, 4), size(64, 6), size(4, 2)
    projections = (normal(heads, width, width // heads) / np.sqrt(width) for _ in range(3))
    add("attention", normal(n, width), *projections, argnums=(0, 1, 2, 3))
    n, bins = size(20_000, 60), size(100, 4)
    add("azimuthal_mean", normal(n), rng.uniform(0.0, 1.0, n), bins)
    n, steps = size(100, 4), size(10, 3)
    add("n_body", normal(3, n), 0.1 * normal(3, n), rng.uniform(0.5, 1.5, n), 0.01, 0.1, steps, argnums=(0, 1, 2))
    return cases


if __name__ == "__main__":
    sys.exit(main())
