"""ba: errors of reprojection in bundle adjustment, and their sparse Jacobian.

An observation has one camera, one point and one weight, so its two errors depend on 11 + 3 + 1 numbers.  All
observations are seeded at once: one sweep per error gives the rows of all their blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import srcgrad
from benchmarks.gradbench.served import Served, Timed


def rotated(axis, points):
    """Points turned about an axis by its length (Rodrigues' formula), row by row."""
    squared = np.sum(axis**2, axis=1, keepdims=True)
    still = squared == 0.0
    angle = np.sqrt(np.where(still, 1.0, squared))
    unit = axis / angle
    along = np.sum(unit * points, axis=1, keepdims=True) * (1.0 - np.cos(angle))
    turned = points * np.cos(angle) + np.cross(unit, points) * np.sin(angle) + unit * along
    return np.where(still, points + np.cross(axis, points), turned)


def reprojection_error(cameras, points, weights, features):
    """A row per observation; a camera is an axis of rotation, a centre, a focal length, a principal point, and two
    coefficients of radial distortion."""
    seen = rotated(cameras[:, :3], points - cameras[:, 3:6])
    flat = seen[:, :2] / seen[:, 2:]
    squared = np.sum(flat**2, axis=1, keepdims=True)
    distortion = 1.0 + cameras[:, 9:10] * squared + cameras[:, 10:11] * squared**2
    projected = flat * distortion * cameras[:, 6:7] + cameras[:, 7:9]
    return weights[:, None] * (projected - features)


def weight_error(weights):
    return 1.0 - weights**2


def objective(cameras, points, weights, seen, features):
    return reprojection_error(cameras[seen[:, 0]], points[seen[:, 1]], weights, features), weight_error(weights)


def jacobian(cameras, points, weights, seen, features):
    """Rows, columns and values as compressed rows: two rows per observation, then one per weight."""
    n, m, p = len(cameras), len(points), len(weights)
    chosen = cameras[seen[:, 0]], points[seen[:, 1]], weights
    errors, pullback = srcgrad.vjp(reprojection_error, *chosen, features, argnums=(0, 1, 2))
    values = np.empty((p, 2, 15))
    for place in range(2):
        seed = np.zeros_like(errors)
        seed[:, place] = 1.0
        values[:, place, :11], values[:, place, 11:14], values[:, place, 14] = pullback(seed)
    _, pullback = srcgrad.vjp(weight_error, weights)
    (of_weights,) = pullback(np.ones(p))
    of_camera = 11 * seen[:, :1] + np.arange(11)
    of_point = 11 * n + 3 * seen[:, 1:] + np.arange(3)
    of_weight = 11 * n + 3 * m + np.arange(p)[:, None]
    columns = np.concatenate((of_camera, of_point, of_weight), axis=1)
    columns = np.concatenate((np.repeat(columns, 2, axis=0).ravel(), of_weight.ravel()))
    rows = np.concatenate((15 * np.arange(2 * p + 1), 30 * p + np.arange(1, p + 1)))
    return rows, columns, np.concatenate((values.ravel(), of_weights))


def arguments(message: dict[str, Any]) -> tuple[Any, ...]:
    """One camera, point, weight and feature, repeated; observation i sees point i by camera i, counted round."""
    n, m, p = (message[name] for name in ("n", "m", "p"))
    cameras = np.tile(np.array(message["cam"], dtype=np.float64), (n, 1))
    points = np.tile(np.array(message["x"], dtype=np.float64), (m, 1))
    features = np.tile(np.array(message["feat"], dtype=np.float64), (p, 1))
    observations = np.arange(p)
    seen = np.stack((observations % n, observations % m), axis=1)
    return cameras, points, np.full(p, float(message["w"])), seen, features


def errors_once(errors: tuple[np.ndarray, np.ndarray]) -> dict[str, Any]:
    """All observations are alike, so the first stands for all."""
    reprojection, of_weights = errors
    return {
        "reproj_error": {"elements": reprojection[0].tolist(), "repeated": len(reprojection)},
        "w_err": {"element": float(of_weights[0]), "repeated": len(of_weights)},
    }


def jacobian_once(compressed: tuple[np.ndarray, np.ndarray, np.ndarray]) -> dict[str, Any]:
    """The block of the first observation, and the last item."""
    names = ("rows", "cols", "vals")
    return {name: [*part[:30].tolist(), part[-1].item()] for name, part in zip(names, compressed, strict=True)}


FUNCTIONS = {
    "objective": Served(objective, arguments, errors_once),
    "jacobian": Served(jacobian, arguments, jacobian_once),
}
TIMED = Timed(objective, jacobian)


def sample(small: bool = False) -> dict[str, Any]:
    n, m, p = (3, 5, 20) if small else (49, 7776, 31843)
    camera = [0.016, -0.013, -0.0044, -0.034, -0.11, 1.12, 399.8, 0.3, -0.2, -3.2e-07, 5.9e-13]
    point = [-0.61, 0.57, -1.85]
    return {"n": n, "m": m, "p": p, "cam": camera, "x": point, "w": 0.7, "feat": [-332.65, 262.09]}
