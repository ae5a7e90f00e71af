"""``python -m benchmarks.many_seeds``: Jacobians and gradients of examples, in gradients.

Each row is the median of one run against that of a gradient in the same run: of the sum of the 50 outputs, or of the
loss of a whole batch of 512 rows.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from srcgrad import grad, hessian, jacfwd, jacobian, vmap
from srcgrad.inspect.report import duration, table

OUTPUTS, ROWS = 50, 512
Run = Callable[[], Any]


def curve(p: Any, t: Any) -> Any:
    return p[0] * np.exp(-p[1] * t) + p[2] * np.sin(p[3] * t) + p[4] * t


def curve_sum(p: Any, t: Any) -> Any:
    return np.sum(curve(p, t))


def heat(u: Any, k: float) -> Any:
    u = u.copy()
    for _ in range(20):
        u[1:-1] = u[1:-1] + k * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def heat_sum(u: Any, k: float) -> Any:
    return np.sum(heat(u, k))


def network(x: Any, w: Any, v: Any) -> Any:
    return np.tanh(v @ np.tanh(w @ x))


def network_sum(x: Any, w: Any, v: Any) -> Any:
    return np.sum(network(x, w, v))


def loss(w: Any, b: Any, v: Any, c: Any, x: Any, y: Any) -> Any:
    z = np.tanh(x @ w + b) @ v + c
    return np.log(np.sum(np.exp(z))) - z[y]


def loss_of_batch(w: Any, b: Any, v: Any, c: Any, x: Any, y: Any) -> Any:
    z = np.tanh(x @ w + b) @ v + c
    return np.sum(np.log(np.sum(np.exp(z), axis=1)) - z[np.arange(len(y)), y])


def cases() -> list[tuple[str, Run, Run, float]]:
    """A name, what is measured, the gradient it is measured by, and how many of those it may take."""
    draw = np.random.default_rng(0)
    p, t = draw.random(5), np.linspace(0.0, 1.0, OUTPUTS)
    u, x = draw.random(OUTPUTS), draw.random(20)
    w, v = draw.standard_normal((30, 20)), draw.standard_normal((OUTPUTS, 30))
    layers = draw.standard_normal((20, 16)), draw.random(16), draw.standard_normal((16, 10)), draw.random(10)
    rows, labels = draw.standard_normal((ROWS, 20)), draw.integers(0, 10, ROWS)
    by_curve, by_heat, by_network = grad(curve_sum), grad(heat_sum), grad(network_sum)
    of_curve, of_heat, of_network = jacobian(curve), jacobian(heat), jacobian(network)
    forward, second = jacfwd(curve), hessian(curve_sum)
    every = (0, 1, 2, 3)
    of_batch, of_rows = grad(loss_of_batch, every), vmap(grad(loss, every), (None,) * 4 + (0, 0))
    return [
        ("Jacobian, curve, 50 outputs", lambda: of_curve(p, t), lambda: by_curve(p, t), 8.0),
        ("Jacobian, heat, 50 outputs", lambda: of_heat(u, 0.1), lambda: by_heat(u, 0.1), 8.0),
        ("Jacobian, network, 50 outputs", lambda: of_network(x, w, v), lambda: by_network(x, w, v), 8.0),
        ("forward Jacobian, curve", lambda: forward(p, t), lambda: by_curve(p, t), 8.0),
        ("Hessian, curve, 5 parameters", lambda: second(p, t), lambda: by_curve(p, t), 12.0),
        (
            "gradients of 512 rows", lambda: of_rows(*layers, rows, labels), lambda: of_batch(*layers, rows, labels),
            6.0,
        ),
    ]  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Print the table; with ``--check``, status 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_seeds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="rounds per row (default: 30)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 where a bound is broken")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, medians of {options.rounds} rounds\n")
    rows, broken = [], []
    for name, run, gradient, bound in cases():
        one, other = _medians(run, gradient, options.rounds)
        rows.append((name, duration(one), duration(other), f"{one / other:.2f}", f"{bound:.0f}"))
        if one / other > bound:
            broken.append(f"{name}: {one / other:.2f} gradients, more than {bound:.0f}")
    print(table(("", "time", "gradient", "ratio", "bound"), rows))
    if broken:
        print("\nBounds broken:", *broken, sep="\n  ")
    return 1 if broken and options.check else 0


def _medians(run: Run, gradient: Run, rounds: int) -> tuple[float, float]:
    times: tuple[list[float], list[float]] = [], []
    for contender in (run, gradient):
        contender()
    gc.disable()
    try:
        for _ in range(rounds):
            for contender, taken in zip((run, gradient), times, strict=True):
                start = perf_counter()
                contender()
                taken.append(perf_counter() - start)
    finally:
        gc.enable()
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    sys.exit(main())
