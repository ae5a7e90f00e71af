"""Logistic regression on an array larger than one wants in memory: ``python examples/logistic_chunks.py``.

The rows lie in a file that is mapped into memory and read in chunks, where the chunks are used: by two worker processes
of a Dask cluster.  SciPy's L-BFGS asks for the value and the gradient of the mean loss; both are the same, to the last
bit, for any number of workers.  Needs ``pip install 'srcgrad[dask,scipy]'``; ``--rows 50000000`` makes 8.4 GB.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from scipy.optimize import minimize

from srcgrad import parallel

FEATURES = 20
CHUNK = 20_000


def loss(w, shard):
    """The sum of the negative log-likelihoods of some rows; the last column holds the labels, 0 or 1."""
    x = shard[:, :-1]
    y = shard[:, -1]
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def make(path, rows):
    """Write rows chunk by chunk, labels drawn from a known model."""
    rng = np.random.default_rng(0)
    true = np.linspace(-1.0, 1.0, FEATURES)
    table = np.lib.format.open_memmap(path, "w+", shape=(rows, FEATURES + 1))
    for begin in range(0, rows, CHUNK):
        x = rng.normal(size=(min(CHUNK, rows - begin), FEATURES))
        table[begin : begin + CHUNK, :-1] = x
        table[begin : begin + CHUNK, -1] = rng.random(len(x)) < 1.0 / (1.0 + np.exp(-x @ true))
    table.flush()
    return true


def fit(path, client):
    """The most likely weights, and how many gradients that took."""
    table = np.load(path, mmap_mode="r")
    total = parallel.value_and_grad(loss, executor=client, chunks=CHUNK)

    def per_row(w):
        value, gradient = total(w, table)
        return value / len(table), gradient / len(table)

    return minimize(per_row, np.zeros(FEATURES), jac=True, method="L-BFGS-B")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        true = make(path, chosen.rows)
        with LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
            result = fit(path, client)
        print(f"{path.stat().st_size / 1e6:.0f} MB, loss {result.fun:.6f} after {result.nfev} gradients")
        print(f"largest error of a weight {np.max(np.abs(result.x - true)):.3f}")
        print(parallel.report())
