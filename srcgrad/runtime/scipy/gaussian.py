"""Points and covariances as ``scipy.stats.multivariate_normal`` reads them, and points of a simplex as dirichlet does.

>>> centred(np.array([1.0, 2.0, 3.0]), None, 4.0).shape, centred(np.array([1.0, 2.0]), np.zeros(2), 4.0).shape
((3, 1), (1, 2))
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from srcgrad.runtime import unbroadcast
from srcgrad.runtime.refusals import RefusedMode


def centred(x: Any, mean: Any, cov: Any) -> Any:
    """The points less their mean, one in a row; the dimension is that of ``mean``, else of ``cov``, else 1."""
    shape = np.shape(cov)
    dimension = np.size(mean) if mean is not None else shape[0] if len(shape) == 2 else 1
    if dimension > 1 and np.shape(x)[-1:] != (dimension,):
        raise RefusedMode(
            "E0708", f"points without the dimension {dimension} of the distribution; write np.broadcast_to"
        )
    return np.reshape(x, (-1, dimension)) - (0.0 if mean is None else np.ravel(mean))


def uncentred_points(g: Any, x: Any) -> Any:
    """A cotangent of ``centred(x, mean, cov)`` as one of ``x``."""
    return unbroadcast(np.reshape(g, np.shape(x)), x)


def uncentred_mean(g: Any, mean: Any) -> Any:
    """A cotangent of ``centred(x, mean, cov)`` as one of ``mean``."""
    return unbroadcast(np.reshape(-np.sum(g, axis=0), np.shape(mean)), mean)


def covariance_matrix(cov: Any, points: Any) -> Any:
    """A variance, variances, or a covariance matrix, of which the lower triangle is read, as a symmetric matrix."""
    if hasattr(cov, "log_pdet"):
        raise RefusedMode("E0708", "the density by a scipy.stats.Covariance has no derivative; pass the matrix")
    matrix = np.asarray(cov)
    k = np.shape(points)[1]
    if k == 1:
        return matrix.reshape(1, 1)
    if matrix.ndim < 2:
        return matrix * np.eye(k, dtype=np.result_type(matrix, np.float32))
    return np.where(_lower(k) > 0, matrix, matrix.T)


@lru_cache(maxsize=16)
def _lower(k: int) -> Any:
    """The lower triangle, half of the diagonal."""
    return np.tri(k) - 0.5 * np.eye(k)


def uncovariance(g: Any, cov: Any) -> Any:
    """A cotangent of ``covariance_matrix(cov, points)`` as one of ``cov``."""
    rank = np.ndim(cov)
    if np.size(g) == 1:
        return unbroadcast(np.reshape(g, np.shape(cov)), cov)
    if rank == 2:
        return unbroadcast((g + np.transpose(g)) * _lower(len(g)), cov)
    return unbroadcast(np.trace(g) if rank == 0 else np.diagonal(g), cov)


def proportions(x: Any, alpha: Any) -> Any:
    """Points of a simplex, one in a row; the last proportion is what the others leave where it is not given."""
    columns = np.asarray(x)
    if len(columns) + 1 == np.size(alpha):
        columns = np.concatenate([columns, 1 - np.sum(columns, axis=0, keepdims=True)])
    return np.moveaxis(columns, 0, -1).reshape(-1, len(columns))


def unproportions(g: Any, x: Any, alpha: Any) -> Any:
    """A cotangent of ``proportions(x, alpha)`` as one of ``x``."""
    shape = np.shape(x)
    columns = np.moveaxis(np.reshape(g, (*shape[1:], np.size(alpha))), -1, 0)
    if shape[0] + 1 == np.size(alpha):
        columns = columns[:-1] - columns[-1:]
    return unbroadcast(columns, x)


def proportions_slope(g: Any, x: Any, alpha: Any) -> Any:
    """A tangent of ``x``, ``g``, as one of ``proportions(x, alpha)``: what the others gain the last one loses."""
    columns = np.asarray(g)
    if len(columns) + 1 == np.size(alpha):
        columns = np.concatenate([columns, -np.sum(columns, axis=0, keepdims=True)])
    return np.moveaxis(columns, 0, -1).reshape(-1, len(columns))
