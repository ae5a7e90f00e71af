"""kmeans: the cost of centroids, and the direction of Newton's method: gradient over diagonal of the Hessian.

The Hessian is diagonal, so that its product with ones is its diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed, plain


def cost(points, centroids):
    squared = np.sum(points**2, axis=1)[:, None] + np.sum(centroids**2, axis=1) - 2.0 * (points @ centroids.T)
    return np.sum(np.min(squared, axis=1))


slope = srcgrad.grad(cost, 1)


def direction(points, centroids):
    gradient, diagonal = srcgrad.jvp(slope, (points, centroids), (None, np.ones_like(centroids)))
    return gradient / diagonal


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    return np.array(message["points"], dtype=np.float64), np.array(message["centroids"], dtype=np.float64)


FUNCTIONS = {"cost": Served(cost, arguments, plain), "dir": Served(direction, arguments, plain)}
TIMED = Timed(cost, direction)


def sample(small: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(31337)
    n, k, d = (20, 3, 2) if small else (1000, 10, 8)
    points = rng.uniform(size=(n, d)).tolist()
    return {"points": points, "centroids": points[-k:]}
