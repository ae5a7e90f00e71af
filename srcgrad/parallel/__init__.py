"""Gradients of losses that are sums over shards, on threads, processes, loky, MPI and Dask: one line, the same bits.

>>> import numpy as np
>>> from srcgrad.parallel import value_and_grad
>>> def loss(w, shard):
...     x, y = shard
...     return np.sum((x @ w - y) ** 2)
>>> shards = [(np.eye(2) * k, np.ones(2)) for k in range(3)]
>>> value, gradient = value_and_grad(loss)(np.ones(2), shards)
>>> float(value), gradient
(4.0, array([4., 4.]))
"""

from srcgrad.parallel.errors import EnvironmentWarning, SendingError, ShardError, ShardTimeout, WorkerLost
from srcgrad.parallel.reporting import Report, report
from srcgrad.parallel.transforms import grad, hvp, jvp, map, value_and_grad  # noqa: A004

__all__ = [
    "EnvironmentWarning",
    "Report",
    "SendingError",
    "ShardError",
    "ShardTimeout",
    "WorkerLost",
    "grad",
    "hvp",
    "jvp",
    "map",
    "report",
    "value_and_grad",
]
