"""Fit the Lotka-Volterra equations to an ensemble of runs, one shard for each: ``python examples/ensemble.py``.

Each run starts from other populations and is observed with noise; the rates are the same for all.  The gradient of the
error summed over the ensemble is that of ``srcgrad.parallel``.  The same on other workers, with the same bits:

    python examples/ensemble.py threads
    python examples/ensemble.py processes
    mpiexec -n 3 python -m mpi4py.futures examples/ensemble.py mpi

Under MPI one of the processes is the client and the others are workers; needs ``pip install 'srcgrad[mpi]'``.
"""

import math
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

import numpy as np

from srcgrad import parallel
from srcgrad.inspect.demo import bfgs

TRUE = (0.55, 0.028, 0.80, 0.024)
START = (0.5, 0.02, 0.8, 0.02)
YEARS = 12
STEPS = 8  # a year


def simulate(theta, start):
    """Hare and lynx year by year, by the classical Runge-Kutta method; ``theta`` holds logarithms of the rates."""
    alpha, beta, gamma, delta = [math.exp(value) for value in theta]

    def rates(u, v):
        return (alpha - beta * v) * u, (delta * u - gamma) * v

    dt = 1.0 / STEPS
    u, v = start
    populations = []
    for _ in range(YEARS):
        for _ in range(STEPS):
            u1, v1 = rates(u, v)
            u2, v2 = rates(u + dt / 2 * u1, v + dt / 2 * v1)
            u3, v3 = rates(u + dt / 2 * u2, v + dt / 2 * v2)
            u4, v4 = rates(u + dt * u3, v + dt * v3)
            u = u + dt / 6 * (u1 + 2 * u2 + 2 * u3 + u4)
            v = v + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
        populations.append((u, v))
    return populations


def error(theta, run):
    """The squared errors of the logarithms of one run: its start, and the populations that were observed."""
    start, observed = run
    total = 0.0
    for (u, v), (hare, lynx) in zip(simulate(theta, start), observed):
        total += math.log(u / hare) ** 2 + math.log(v / lynx) ** 2
    return total


def ensemble(count=24):
    """Runs from random starts, observed with noise."""
    rng = np.random.default_rng(0)
    runs = []
    for _ in range(count):
        start = (float(rng.uniform(20.0, 60.0)), float(rng.uniform(5.0, 30.0)))
        noise = np.exp(0.1 * rng.normal(size=(YEARS, 2)))
        seen = np.array(simulate(np.log(TRUE), start)) * noise
        runs.append((start, [(float(u), float(v)) for u, v in seen]))
    return runs


def fit(executor, runs):
    """The rates with the smallest error."""
    value_and_gradient = parallel.value_and_grad(error, executor=executor)
    return bfgs(lambda theta: value_and_gradient(theta, runs), np.log(START))


def executor_of(kind):
    """Workers: threads of this process, two processes, or what ``mpiexec`` started."""
    if kind == "mpi":
        from mpi4py.futures import MPIPoolExecutor

        return MPIPoolExecutor()
    return ProcessPoolExecutor(2, mp_context=get_context("spawn")) if kind == "processes" else nullcontext()


if __name__ == "__main__":
    with executor_of(sys.argv[1] if len(sys.argv) > 1 else "processes") as executor:
        minimum = fit(executor, ensemble())
    for name, fitted, true in zip(("alpha", "beta", "gamma", "delta"), np.exp(minimum.x), TRUE, strict=True):
        print(f"{name:6} {fitted:.5f}   true {true}")
    print(f"error {minimum.value!r} after {minimum.evaluations} gradients")
    print(parallel.report())
