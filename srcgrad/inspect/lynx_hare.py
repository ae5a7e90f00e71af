"""Lynx and hare: a plain Python model of the Hudson's Bay pelt counts, as a user would write it.

Nothing here knows about derivatives.  ``squared_log_error`` simulates the Lotka-Volterra equations with the classical
Runge-Kutta method (Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, II.1) and says how far the
simulated populations are from the counted ones; ``srcgrad demo`` fits its parameters with its compiled gradient.

>>> years, hare, lynx = pelts()
>>> len(years), hare[0], lynx[0]
(21, 30.0, 4.0)
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from importlib import resources

PARAMETERS = ("alpha", "beta", "gamma", "delta", "hare in 1900", "lynx in 1900")

# Carpenter (2018), "Predator-prey population dynamics: the Lotka-Volterra model in Stan".
PUBLISHED = (0.55, 0.028, 0.80, 0.024)

START = (0.5, 0.02, 0.8, 0.02, 30.0, 4.0)


def pelts() -> tuple[list[int], list[float], list[float]]:
    """The years, and the hare and lynx pelts of each in thousands, from the table shipped with the package."""
    text = resources.files("srcgrad").joinpath("data", "lynx_hare.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    years = [int(row["year"]) for row in rows]
    return years, [float(row["hare"]) for row in rows], [float(row["lynx"]) for row in rows]


def squared_log_error(theta: Iterable[float], hare: Sequence[float], lynx: Sequence[float], steps: int = 20) -> float:
    """The sum over all years of the squared errors of log hare and log lynx.

    ``theta`` holds the logarithms of alpha, beta, gamma, delta and of both populations in the first year; u counts
    hare and v lynx, in thousands of pelts.
    """
    alpha, beta, gamma, delta, u, v = [math.exp(value) for value in theta]

    def rates(u: float, v: float) -> tuple[float, float]:
        return (alpha - beta * v) * u, (delta * u - gamma) * v

    dt = 1.0 / steps
    error = math.log(u / hare[0]) ** 2 + math.log(v / lynx[0]) ** 2
    for year in range(1, len(hare)):
        for _ in range(steps):
            u1, v1 = rates(u, v)
            u2, v2 = rates(u + dt / 2 * u1, v + dt / 2 * v1)
            u3, v3 = rates(u + dt / 2 * u2, v + dt / 2 * v2)
            u4, v4 = rates(u + dt * u3, v + dt * v3)
            u = u + dt / 6 * (u1 + 2 * u2 + 2 * u3 + u4)
            v = v + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        error = error + math.log(u / hare[year]) ** 2 + math.log(v / lynx[year]) ** 2
    return error
