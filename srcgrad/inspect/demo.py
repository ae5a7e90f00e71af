"""``srcgrad demo``: fit a predator-prey model to real counts with the compiled gradient of a plain Python function.

Enters: nothing but the terminal.  Leaves: a report, and a plot where matplotlib is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import srcgrad
from srcgrad.inspect.lynx_hare import PARAMETERS, PUBLISHED, START, pelts, squared_log_error
from srcgrad.inspect.report import Progress, adjoint_excerpt, duration, median_seconds, table

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended: the point, its value and gradient, and what it took."""

    x: Vector
    value: float
    gradient: Vector
    iterations: int
    evaluations: int


def bfgs(
    objective: Objective,
    x: Vector,
    *,
    tolerance: float = 1e-6,
    iterations: int = 200,
    report: Callable[[Minimum], None] = lambda minimum: None,
) -> Minimum:
    """Minimise ``objective`` (value and gradient) from ``x`` until no gradient entry exceeds ``tolerance``.

    The update is that of Nocedal & Wright, *Numerical Optimization*, 2nd ed., (6.17) and (6.20).
    """
    value, gradient = objective(x)
    if not math.isfinite(value):
        raise ValueError("the objective is not finite at the starting point")
    inverse = np.eye(x.size) / max(1.0, float(np.linalg.norm(gradient)))
    minimum = Minimum(x, value, gradient, 0, 1)
    while minimum.iterations < iterations and np.max(np.abs(minimum.gradient)) > tolerance:
        direction = -inverse @ minimum.gradient
        found = _line_search(objective, minimum, direction)
        if found is None:
            break
        s, y = found.x - minimum.x, found.gradient - minimum.gradient
        sy = float(s @ y)
        if minimum.iterations == 0:
            inverse = np.eye(x.size) * (sy / float(y @ y))
        left = np.eye(x.size) - np.outer(s, y) / sy
        inverse = left @ inverse @ left.T + np.outer(s, s) / sy
        minimum = found
        report(minimum)
    return minimum


def _line_search(objective: Objective, at: Minimum, direction: Vector, trials: int = 40) -> Minimum | None:
    """A step along ``direction`` with the weak Wolfe conditions, by doubling and bisection.

    Lewis & Overton, *Nonsmooth optimization via quasi-Newton methods*, Math. Program. 141 (2013), algorithm 2.6.
    """
    slope = float(at.gradient @ direction)
    low, high, step = 0.0, math.inf, 1.0
    for trial in range(1, trials + 1):
        x = at.x + step * direction
        try:
            value, gradient = objective(x)
        except (ValueError, OverflowError, ZeroDivisionError):  # the simulated populations exploded
            value, gradient = math.inf, at.gradient
        if not value <= at.value + 1e-4 * step * slope:
            high = step
        elif float(gradient @ direction) < 0.9 * slope:
            low = step
        else:
            return Minimum(x, value, gradient, at.iterations + 1, at.evaluations + trial)
        step = 2.0 * low if math.isinf(high) else (low + high) / 2.0
    return None


def trajectory(theta: Vector, years: int, steps: int = 20) -> Vector:
    """Hare and lynx at every step of ``years`` years, a row each: the fitted curve of the plot."""
    alpha, beta, gamma, delta, *start = np.exp(theta)

    def rates(state: Vector) -> Vector:
        u, v = state
        return np.array([(alpha - beta * v) * u, (delta * u - gamma) * v])

    dt = 1.0 / steps
    states = [np.array(start)]
    for _ in range(years * steps):
        y = states[-1]
        k1 = rates(y)
        k2 = rates(y + dt / 2 * k1)
        k3 = rates(y + dt / 2 * k2)
        k4 = rates(y + dt * k3)
        states.append(y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return np.array(states).T


def plot(theta: Vector, path: Path) -> None:
    """Draw counts and fitted curves into ``path``."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    years, hare, lynx = pelts()
    times = np.linspace(years[0], years[-1], 20 * (len(years) - 1) + 1)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for name, counted, curve, colour in zip(
        ("hare", "lynx"), (hare, lynx), trajectory(theta, len(years) - 1), ("tab:blue", "tab:orange"), strict=True
    ):
        axes.plot(years, counted, "o", color=colour, label=f"{name}, counted")
        axes.plot(times, curve, color=colour, label=f"{name}, fitted")
    axes.set(xlabel="year", ylabel="pelts (thousands)", title="Pelts of the Hudson's Bay Company and the fitted model")
    axes.set_xticks(years[::5])
    axes.legend()
    figure.savefig(path, dpi=120)


def main(plot_to: Path | None = Path("lynx_hare.png")) -> Minimum:
    """Run the demonstration and print what it finds; the plot goes to ``plot_to`` (None: no plot)."""
    years, hare, lynx = pelts()
    print(f"Lynx and hare pelts of the Hudson's Bay Company, {years[0]}-{years[-1]}: {len(years)} years.")
    print(f"The model is a plain Python function, {squared_log_error.__module__}.{squared_log_error.__name__}.\n")

    start = np.log(START)
    begin = perf_counter()
    value_and_gradient = srcgrad.value_and_grad(squared_log_error)
    source = value_and_gradient.source_for(start, hare, lynx)
    print(f"srcgrad turned it into {source.count(chr(10))} lines of Python in {duration(perf_counter() - begin)}:\n")
    print(adjoint_excerpt(source), end="\n\n")

    progress = Progress()

    def show(minimum: Minimum) -> None:
        norm = float(np.max(np.abs(minimum.gradient)))
        progress.show(f"fit: iteration {minimum.iterations:3d}   error {minimum.value:9.4f}   |gradient| {norm:8.1e}")

    begin = perf_counter()
    minimum = bfgs(lambda theta: value_and_gradient(theta, hare, lynx), start, report=show)
    seconds = perf_counter() - begin
    progress.close()
    print(f"Quasi-Newton fit: {minimum.evaluations} gradients in {duration(seconds)}, error {minimum.value:.4f}.\n")

    published = [*(f"{value:.3f}" for value in PUBLISHED), "", ""]
    columns = zip(PARAMETERS, START, np.exp(minimum.x).tolist(), published, strict=True)
    print(table(("parameter", "start", "fitted", "published"), columns, digits=3), end="\n\n")

    plain = median_seconds(lambda: squared_log_error(minimum.x, hare, lynx))
    derived = median_seconds(lambda: value_and_gradient(minimum.x, hare, lynx))
    rows = [
        ("the plain function", duration(plain), ""),
        ("value and gradient, compiled", duration(derived), f"{derived / plain:.1f} x"),
        ("forward differences would take", duration(plain * 7), "7.0 x"),
    ]
    print(table(("median time of one call", "", ""), rows))
    if plot_to is not None:
        if find_spec("matplotlib"):
            plot(minimum.x, plot_to)
            print(f"\nPlot saved to {plot_to}.")
        else:
            print("\nNo plot: matplotlib is not installed.")
    return minimum
